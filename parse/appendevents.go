package parse

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// AppendEvents adds lines of JSON to the end of a trace of lines: plain, gzip or zstd. The trace is written anew beside
// itself and takes its own place when it is complete, so it is whole whatever happens. A gzip trace becomes one member,
// as web browsers need it. A damaged trace is left alone, as is one that somebody is writing, and one in a CLP format.
func AppendEvents(path string, lines []byte) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	fail := func(err error) error { return fmt.Errorf("parse: append to %s: %w", path, err) }
	if strings.HasSuffix(path, naming.PartialSuffix) {
		return fail(errors.New("it is a partial: recover it first"))
	}
	problems, err := eachLine(path)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fail(fmt.Errorf("it is damaged (%s)", problems[0].Msg))
	}
	in, err := vfs.OS.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	if err := in.TryLock(); err != nil {
		return fail(err)
	}
	st, err := in.Stat()
	if err != nil {
		return fail(err)
	}
	head := make([]byte, 4)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fail(err)
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".appending")
	if err := vfs.OS.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(err)
	}
	out, err := vfs.OS.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, st.Mode().Perm())
	if err != nil {
		return fail(err)
	}
	buf := bufio.NewWriterSize(out, 256<<10)
	err = copyAndAppend(buf, in, format.Detect(head[:n]), lines)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	err = errors.Join(err, out.Close(), in.Close()) // an open file cannot be replaced everywhere
	if err == nil {
		err = vfs.OS.Rename(temp, path)
	}
	if err == nil {
		err = vfs.OS.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = vfs.OS.Remove(temp)
		return fail(err)
	}
	return nil
}

func copyAndAppend(w io.Writer, in io.Reader, magic format.Magic, lines []byte) error {
	switch magic {
	case format.Text:
		return copyLines(w, in, lines)
	case format.ZstdMagic:
		if _, err := io.Copy(w, in); err != nil {
			return err
		}
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		_, err = w.Write(enc.EncodeAll(lines, nil)) // frames may follow each other
		return err
	case format.GzipMagic:
		r, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		z := gzip.NewWriter(w)
		if err := copyLines(z, r, lines); err != nil {
			return err
		}
		return z.Close()
	}
	return errors.New("only plain, gzip and zstd traces can be appended to")
}

// copyLines copies in and appends lines, on a line of their own.
func copyLines(w io.Writer, in io.Reader, lines []byte) error {
	last := lastByte{w: w, b: '\n'}
	if _, err := io.Copy(&last, in); err != nil {
		return err
	}
	if last.b != '\n' {
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	_, err := w.Write(lines)
	return err
}

// lastByte remembers the last byte written.
type lastByte struct {
	w io.Writer
	b byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
	}
	return l.w.Write(p)
}

// eachLine reads a trace to its end and returns what is damaged. Lines that are no records are none of its business.
func eachLine(path string) ([]Problem, error) {
	var rep RankReport
	err := readLines(path, &rep, nil, func(int64, []byte) error { return nil })
	return rep.details(path), err
}
