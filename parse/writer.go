package parse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// writer writes one output, in one file or, with a size limit, in several. Blocks that the spill has compressed are
// copied as they are; loose lines are gathered into blocks.
//
// A gzip output is one member (RFC 1952), because web browsers read no more: the blocks are parts of one DEFLATE stream,
// and the CRC is put together from theirs. A zstd output is a frame for each block. CLP outputs are written event
// by event.
type writer struct {
	o     *settings
	spill *spill
	dir   string // the rank's folder
	name  string

	part  int // files opened so far
	file  vfs.File
	sink  *eventFile // instead of file, for CLP
	buf   *bufio.Writer
	size  int64 // bytes in the file
	raw   int64 // bytes of lines in the file
	crc   uint32
	loose []byte // lines that are in no block yet
	files []FileReport

	failed error // of drain
}

func newWriter(o *settings, s *spill, dir, name string) *writer {
	return &writer{o: o, spill: s, dir: dir, name: name}
}

// tailRoom is what the end of a file takes.
const tailRoom = 16

// kernel writes a kernel: its compilation, its launches, what is known about both. With a size limit, a kernel that
// fits goes into one file, and of one that does not, everything but the launches does.
func (w *writer) kernel(ctx context.Context, k *kernel, roof, diff []byte) error {
	limit, big := w.o.MaxOutputSize, false
	if limit > 0 {
		need := stored(&k.head) + stored(&k.launches) + stored(&k.tail) + int64(len(roof)+len(diff))
		big = need+tailRoom > limit
		if w.file != nil && w.size+int64(len(w.loose))+need+tailRoom > limit {
			if err := w.finish(); err != nil {
				return err
			}
		}
	}
	steps := []func() error{
		func() error { return w.stream(ctx, &k.head, "compilation") },
		func() error { return w.stream(ctx, &k.launches, "launch") },
		func() error { return w.stream(ctx, &k.tail, "ir_analysis") },
		func() error { return w.event(roof, "roofline") },
		func() error { return w.event(diff, "launch_diff") },
	}
	if big {
		steps = []func() error{steps[0], steps[2], steps[3], steps[4], steps[1]}
	}
	for _, s := range steps {
		if err := s(); err != nil {
			return err
		}
	}
	return nil
}

// stored estimates the bytes that a stream takes in a file, from above.
func stored(t *stream) int64 {
	n := int64(len(t.pend.B))
	for _, b := range t.blocks {
		n += int64(b.size)
	}
	return n
}

func (w *writer) event(line []byte, kind string) error {
	if len(line) == 0 {
		return nil
	}
	if err := w.open(); err != nil {
		return err
	}
	w.count(kind, 1)
	return w.lines(line)
}

// count notes that n events went to the current file.
func (w *writer) count(kind string, n int64) {
	f := &w.files[len(w.files)-1]
	if n > 0 {
		f.Events[kind] += n
	}
}

// stream writes the lines of a stream.
func (w *writer) stream(ctx context.Context, t *stream, kind string) error {
	for _, b := range t.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.block(b); err != nil {
			return err
		}
		w.count(kind, int64(b.lines))
	}
	if len(t.pend.B) == 0 {
		return nil
	}
	if err := w.open(); err != nil {
		return err
	}
	if err := w.lines(t.pend.B); err != nil {
		return err
	}
	w.count(kind, int64(t.pendLines))
	return nil
}

// lines writes whole lines.
func (w *writer) lines(b []byte) error {
	if err := w.open(); err != nil {
		return err
	}
	w.loose = append(w.loose, b...)
	if len(w.loose) >= w.spill.block {
		return w.flush()
	}
	return nil
}

// drain takes the beginning of a line that grows long. Sinks need whole lines, and parts of a limited size whole events.
func (w *writer) drain(line []byte) []byte {
	if len(line) < w.spill.block || w.o.MaxOutputSize > 0 || w.o.format == format.CLP || w.o.format == format.CLPIR {
		return line
	}
	if w.failed == nil {
		w.failed = w.lines(line)
	}
	return line[:0]
}

func (w *writer) block(b block) error {
	if err := w.open(); err != nil {
		return err
	}
	if !b.packed {
		buf := bytes.NewBuffer(w.loose)
		if err := w.spill.copyTo(buf, b); err != nil {
			return fmt.Errorf("spill: %w", err)
		}
		w.loose = buf.Bytes()
		if len(w.loose) >= w.spill.block {
			return w.flush()
		}
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.sink != nil {
		lines, err := w.sink.unpack(w.spill, b)
		if err != nil {
			return err
		}
		return w.encode(lines)
	}
	if err := w.room(b.size); err != nil {
		return err
	}
	if err := w.spill.copyTo(w.buf, b); err != nil {
		return err
	}
	w.wrote(b.size, b.raw, b.crc)
	return nil
}

// flush compresses the loose lines and writes them.
func (w *writer) flush() error {
	if len(w.loose) == 0 {
		return nil
	}
	if w.sink != nil {
		err := w.encode(w.loose)
		w.loose = w.loose[:0]
		return err
	}
	w.spill.packed = w.spill.pack.appendBlock(w.spill.packed[:0], w.loose)
	if err := w.room(len(w.spill.packed)); err != nil {
		return err
	}
	if _, err := w.buf.Write(w.spill.packed); err != nil {
		return err
	}
	var crc uint32
	if w.o.format == format.Gzip {
		crc = crc32.ChecksumIEEE(w.loose)
	}
	w.wrote(len(w.spill.packed), len(w.loose), crc)
	w.loose = w.loose[:0]
	return nil
}

// encode writes whole lines to a file of events, and continues in another one when it is full.
func (w *writer) encode(lines []byte) error {
	for {
		n, err := w.sink.lines(lines)
		lines = lines[n:]
		if !errors.Is(err, archive.ErrFull) || w.sink.events == 0 {
			return err
		}
		if err := w.finishEvents(); err != nil {
			return err
		}
		if err := w.open(); err != nil {
			return err
		}
	}
}

func (w *writer) wrote(size, raw int, crc uint32) {
	w.size += int64(size)
	if w.o.format == format.Gzip {
		w.crc = crc32Combine(w.crc, crc, int64(raw))
	}
	w.raw += int64(raw)
}

// room begins the next file if n more bytes would not fit.
func (w *writer) room(n int) error {
	if w.o.MaxOutputSize <= 0 || w.raw == 0 || w.size+int64(n)+tailRoom <= w.o.MaxOutputSize {
		return nil
	}
	loose := w.loose
	w.loose = nil
	if err := w.finish(); err != nil {
		return err
	}
	w.loose = loose
	return w.open()
}

// gzipHeader: DEFLATE, no flags, no time, no extra flags, unknown system (RFC 1952 §2.3.1).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func (w *writer) open() error {
	if w.file != nil || w.sink != nil {
		return nil
	}
	w.part++
	name := w.name
	if w.part > 1 {
		name = fmt.Sprintf("%s.part%d", name, w.part)
	}
	name += w.o.format.Suffix()
	if w.o.format == format.CLP || w.o.format == format.CLPIR {
		var err error
		if w.sink, err = newEventFile(w.spill.fs, filepath.Join(w.dir, name), w.o.format, w.o.Level, w.o.archive); err != nil {
			w.sink = nil
			return err
		}
		w.files = append(w.files, FileReport{Path: name, Events: map[string]int64{}})
		return nil
	}
	f, err := w.spill.fs.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.file, w.size, w.raw, w.crc = f, 0, 0, 0
	w.buf = bufio.NewWriterSize(f, 64<<10)
	w.files = append(w.files, FileReport{Path: name, Events: map[string]int64{}})
	if w.o.format == format.Gzip {
		if _, err := w.buf.Write(gzipHeader); err != nil {
			return err
		}
		w.size = int64(len(gzipHeader))
	}
	return nil
}

// finish completes the file.
func (w *writer) finish() error {
	if w.sink != nil {
		err := w.flush()
		return errors.Join(err, w.finishEvents())
	}
	if w.file == nil {
		return nil
	}
	err := w.flush()
	if err == nil && w.o.format == format.Gzip {
		// An empty last block ends the DEFLATE stream; then CRC and length (RFC 1952 §2.3).
		end := []byte{3, 0, byte(w.crc), byte(w.crc >> 8), byte(w.crc >> 16), byte(w.crc >> 24),
			byte(w.raw), byte(w.raw >> 8), byte(w.raw >> 16), byte(w.raw >> 24)}
		_, err = w.buf.Write(end)
		w.size += int64(len(end))
	}
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.file.Sync()
	}
	if e := w.file.Close(); err == nil {
		err = e
	}
	w.files[len(w.files)-1].Size = w.size
	w.file = nil
	return err
}

// abandon closes the file as it is, for a parse that has failed, whose files are removed.
func (w *writer) abandon() {
	if w.sink != nil {
		w.sink.abandon()
	}
	if w.file != nil {
		_ = w.file.Close() // nobody wants what is in it
	}
	w.sink, w.file = nil, nil
}

// finishEvents completes a file of events.
func (w *writer) finishEvents() error {
	size, err := w.sink.close()
	w.files[len(w.files)-1].Size = size
	w.sink = nil
	return err
}
