package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// stdin is the argument that stands for standard input, stdinName what errors call it.
const (
	stdin     = "-"
	stdinName = "stdin"
)

// input is one trace that a command reads.
type input struct {
	name string
	size int64 // as stored, -1 unknown
	*reader.Reader
}

// findInputs returns the files that args name, those of directories included. Without args it is standard input, unless that is a
// terminal, where nothing would come. A missing file is no error here: opening it is.
func findInputs(cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{stdin}
	}
	var paths []string
	seen := false
	for _, arg := range args {
		if arg == stdin {
			if seen {
				return nil, &usageError{cmd, errors.New("standard input (-) can be read only once")}
			}
			if isTerminal(cmd.InOrStdin()) {
				return nil, &usageError{cmd, errors.New("nothing to read: name a file, or send something to standard input")}
			}
			seen = true
			paths = append(paths, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() || reader.IsArchiveDir(arg) {
			paths = append(paths, arg)
			continue
		}
		found, partials, err := tracesIn(arg)
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0 && partials == 0:
			return nil, fmt.Errorf("%s: no traces in this directory (files named *%s)", arg, strings.Join(traceSuffixes, ", *"))
		case partials == 1:
			fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: %s: 1 partial is left out; 'tracectl recover' finishes it if its writer is gone\n", shown(arg))
		case partials > 1:
			fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: %s: %d partials are left out; 'tracectl recover' finishes those whose writers are gone\n", shown(arg), partials)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// traceSuffixes are what the files of a directory are chosen by. What they hold is told from their content.
var traceSuffixes = []string{".ndjson", ".jsonl", ".json", ".log", ".clp"}

// tracesIn returns the traces in a directory, sorted by name, and the number of partials there.
func tracesIn(dir string) (paths []string, partials int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	included := map[string]bool{} // archives that are read with others: parts of sets
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "."):
			continue
		case e.IsDir() && reader.IsArchiveDir(path):
			paths = append(paths, path)
			continue
		case !regular(dir, e):
			continue
		case !strings.Contains(name, ".") && startsAsArchive(path): // the reference names archives by their IDs alone
			paths = append(paths, path)
			continue
		}
		if strings.HasSuffix(name, format.CLP.Suffix()) {
			before, err := reader.Parts(path)
			if err != nil {
				return nil, 0, err
			}
			for _, part := range before {
				included[part] = true
			}
		}
		if strings.HasSuffix(name, naming.PartialSuffix) {
			partials++
			continue
		}
		for _, compressed := range []string{".gz", ".zst"} {
			name = strings.TrimSuffix(name, compressed)
		}
		for _, suffix := range traceSuffixes {
			if strings.HasSuffix(name, suffix) {
				paths = append(paths, filepath.Join(dir, e.Name()))
				break
			}
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return included[path] }), partials, nil
}

// startsAsArchive reports whether a file begins as a CLP archive does.
func startsAsArchive(path string) bool { return magicOf(path) == format.ArchiveMagic }

// magicOf returns what a file begins with. What cannot be opened is text.
func magicOf(path string) format.Magic {
	f, err := os.Open(path)
	if err != nil {
		return format.Text
	}
	defer f.Close()
	head := make([]byte, format.HeadSize)
	n, _ := io.ReadFull(f, head) // fewer bytes do
	return format.Detect(head[:n])
}

// regular reports whether an entry is a file, or a link to one.
func regular(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.Mode().IsRegular()
}

// open opens one input.
func open(cmd *cobra.Command, path string) (*input, error) {
	return openWith(cmd, path, readerOptions(cmd))
}

// openWith opens one input with options of its own.
func openWith(cmd *cobra.Command, path string, o reader.Options) (*input, error) {
	if path == stdin {
		o.Name = stdinName
		r, err := reader.New(cmd.InOrStdin(), &o)
		if err != nil {
			return nil, err
		}
		return &input{stdinName, -1, r}, nil
	}
	r, err := reader.Open(path, &o)
	if err != nil {
		return nil, err
	}
	size := int64(-1)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return &input{path, size, r}, nil
}

// openAll opens the inputs that can be opened and complains about the others.
func openAll(cmd *cobra.Command, paths []string, t *troubles) []*input {
	var ins []*input
	for _, p := range paths {
		in, err := open(cmd, p)
		if err != nil {
			t.add(err)
			continue
		}
		ins = append(ins, in)
	}
	return ins
}

func closeAll(ins []*input) {
	for _, in := range ins {
		_ = in.Close() // nothing was written
	}
}

// size returns the bytes of all inputs as stored, -1 if one is not known.
func size(ins []*input) (total int64) {
	for _, in := range ins {
		if in.size < 0 {
			return -1
		}
		total += in.size
	}
	return total
}

// consumed returns the stored bytes of all inputs read so far.
func consumed(ins []*input) (total int64) {
	for _, in := range ins {
		total += in.Stats().Stored
	}
	return total
}

// oneAfterAnother iterates over the events of all inputs in their order.
func oneAfterAnother(ins []*input) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, in := range ins {
			for e, err := range in.Events() {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// byTime iterates over the events of all inputs in the order of their times.
func byTime(ins []*input) iter.Seq2[event.Event, error] {
	readers := make([]*reader.Reader, len(ins))
	for i, in := range ins {
		readers[i] = in.Reader
	}
	return reader.Merge(readers...)
}
