package race

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

var allFlag = flag.Bool("all", false, "change every byte to every other value, instead of one")

// flips are what bytes are changed by, one each in turn.
var flips = []byte{0x01, 0x04, 0x20, 0x80, 0xff}

// smallFile is a file of a kind and where its parts end.
type smallFile struct {
	kind kind
	data []byte
	ids  []id
	ends []int // offsets behind whole frames, or lines of plain text; what is between them is safe from damage elsewhere
	have []int // events in the parts before each end
}

// makeSmall writes a few short events in several frames.
func makeSmall(t *testing.T, k kind) smallFile {
	t.Helper()
	f := smallFile{kind: k, ends: []int{0}, have: []int{0}}
	dir := t.TempDir()
	path := filepath.Join(dir, "trace"+k.suffix())
	h := handler.New(sink.File(path, k.options(nil)), &handler.Options{FlushInterval: -1})
	own := forWorker(h, 0)
	size := func() int {
		info, err := os.Stat(path + ".partial")
		must(t, err)
		return int(info.Size())
	}
	for n := 0; len(f.ids) < 8; n++ {
		i := id{0, n}
		if len(i.pad()) > 60 {
			i.n = n // long ones only make the test slow
			continue
		}
		must(t, own.Handle(background, i.record()))
		f.ids = append(f.ids, i)
		if k.checksummed && len(f.ids)%3 != 0 {
			continue
		}
		must(t, h.Flush())
		f.ends, f.have = append(f.ends, size()), append(f.have, len(f.ids))
	}
	must(t, h.Flush())
	if end := size(); end != f.ends[len(f.ends)-1] {
		f.ends, f.have = append(f.ends, end), append(f.have, len(f.ids))
	}
	if k.journal {
		must(t, h.Flush())
		path += ".partial"
		defer func() { must(t, h.Close()) }()
	} else {
		must(t, h.Close())
	}
	data, err := os.ReadFile(path)
	must(t, err)
	if len(data) > f.ends[len(f.ends)-1] { // a seek table
		f.ends, f.have = append(f.ends, len(data)), append(f.have, len(f.ids))
	}
	f.data = data
	return f
}

// whole returns the number of parts that end at or before n, and the events in them.
func (f smallFile) whole(n int) (part, events int) {
	for part+1 < len(f.ends) && f.ends[part+1] <= n {
		part++
	}
	return part, f.have[part]
}

// ways are the ways to read: in parallel from a file, and in order from a pipe.
var ways = map[string]func(b []byte) (io.Reader, *reader.Options){
	"parallel": func(b []byte) (io.Reader, *reader.Options) {
		return bytes.NewReader(b), &reader.Options{Parallel: 4}
	},
	"alone": func(b []byte) (io.Reader, *reader.Options) {
		return bytes.NewReader(b), &reader.Options{Parallel: 1}
	},
	"pipe": func(b []byte) (io.Reader, *reader.Options) {
		return onlyReader{bytes.NewReader(b)}, nil
	},
}

type onlyReader struct{ io.Reader }

func readBytes(b []byte, way string) (trace, error) {
	var tr trace
	src, o := ways[way](b)
	r, err := reader.New(src, o)
	if err != nil {
		return tr, err
	}
	defer r.Close()
	return tr, collect(r, &tr)
}

// TestEveryPrefix: a file cut anywhere gives all events of its whole frames or lines, perhaps whole lines of the torn one,
// and a TornError where the cut is inside one.
func TestEveryPrefix(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		f := makeSmall(t, k)
		for way := range ways {
			for n := 0; n <= len(f.data); n += k.stride() {
				tr, err := readBytes(f.data[:n], way)
				if err != nil {
					t.Fatalf("%s, first %d bytes: %v", way, n, err)
				}
				part, events := f.whole(n)
				if len(tr.ids) < events || !slices.Equal(tr.ids, f.ids[:len(tr.ids)]) {
					t.Fatalf("%s, first %d bytes: %d events, want %d in order", way, n, len(tr.ids), events)
				}
				// A last line without its line end is whole if it is an event.
				open := !k.checksummed && len(tr.ids) == events+1
				wantTorn := n != f.ends[part] && !open
				if k.stream && n > 0 && n < len(f.data) {
					// Without its end mark a stream is torn, also at the end of a frame; the seek table comes after the mark.
					wantTorn = n <= f.ends[len(f.ends)-2] || len(tr.reports) > 0
				}
				if k.journal { // it has no end mark
					wantTorn = n != f.ends[part]
				}
				if err := wantReports[*reader.TornError](tr.reports, wantTorn); err != nil {
					t.Fatalf("%s, first %d bytes, whole ones end at %d: %v", way, n, f.ends[part], err)
				}
				if open && n != f.ends[part+1]-1 {
					t.Fatalf("%s, first %d bytes: a torn line is delivered", way, n)
				}
			}
		}
	})
}

// wantReports: there is exactly one report, of type E, or none.
func wantReports[E error](reports []error, want bool) error {
	if !want && len(reports) == 0 {
		return nil
	}
	var e E
	if want && len(reports) == 1 && errors.As(reports[0], &e) {
		return nil
	}
	return fmt.Errorf("reports %q, want one %T: %v", reports, e, want)
}

// TestRecoverEveryPrefix: recovery of a partial cut anywhere gives a trace without fault, with all events of whole frames
// or lines, and as many of the torn one as the reader gives.
func TestRecoverEveryPrefix(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		f := makeSmall(t, k)
		for n := 0; n <= len(f.data); n += k.stride() {
			before, err := readBytes(f.data[:n], "alone")
			must(t, err)
			fsys := crashfs.New()
			must(t, writeFile(fsys, "trace"+k.suffix()+".partial", f.data[:n]))
			if _, err := finalize.Recover("/", &finalize.Options{FS: fsys}); err != nil {
				t.Fatalf("first %d bytes: %v", n, err)
			}
			tr, err := readDir(fsys, "/")
			if err := errors.Join(err, tr.checkClean(), checkNames(fsys, "/", k)); err != nil {
				t.Fatalf("first %d bytes: %v", n, err)
			}
			if _, events := f.whole(n); len(tr.ids) < events || !slices.Equal(tr.ids, before.ids) {
				t.Fatalf("first %d bytes: %d events recovered, want at least %d and the %d that can be read", n, len(tr.ids), events, len(before.ids))
			}
		}
	})
}

func writeFile(fsys vfs.FS, name string, b []byte) error {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// TestContinueEveryPrefix: a sink that continues a partial cut anywhere keeps what could be read, and its own events are
// never glued to the torn ones.
func TestContinueEveryPrefix(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		f := makeSmall(t, k)
		for n := 0; n <= len(f.data); n += k.stride() {
			before, err := readBytes(f.data[:n], "alone")
			must(t, err)
			fsys := crashfs.New()
			must(t, writeFile(fsys, "trace"+k.suffix()+".partial", f.data[:n]))
			h := handler.New(sink.File("trace"+k.suffix(), k.options(fsys)), &handler.Options{FlushInterval: -1})
			more := id{5, 0}
			must(t, forWorker(h, more.worker).Handle(background, more.record()))
			must(t, h.Close())
			tr, err := readDir(fsys, "/")
			if err := errors.Join(err, tr.checkClean(), checkNames(fsys, "/", k)); err != nil {
				t.Fatalf("first %d bytes: %v", n, err)
			}
			if want := append(slices.Clone(before.ids), more); !slices.Equal(tr.ids, want) {
				t.Fatalf("first %d bytes: %v, want %v", n, tr.ids, want)
			}
		}
	})
}

// TestEveryByte: with any byte changed, no reader panics, events of other frames or lines are all delivered, in order,
// and what is missing is reported. Where there are checksums, no changed event is delivered.
func TestEveryByte(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		f := makeSmall(t, k)
		for way := range ways {
			for at := 0; at < len(f.data); at += k.stride() {
				flip := flips[(at+len(way))%len(flips)]
				if *allFlag {
					flip = 0
				}
				for range 256 {
					b := bytes.Clone(f.data)
					b[at] ^= flip
					if err := f.checkFlipped(b, at, way); err != nil {
						t.Fatalf("%s, byte %d of %d ^ %#02x (%q to %q): %v", way, at, len(b), flip, f.data[at], b[at], err)
					}
					if flip++; !*allFlag {
						break
					}
				}
			}
		}
	})
}

// checkFlipped checks what is read of the file with the byte at an offset changed.
func (f smallFile) checkFlipped(b []byte, at int, way string) error {
	part, first := f.whole(at)
	last := f.have[min(part+1, len(f.have)-1)] // events first to last are in the changed part
	if f.kind.checksummed {
		tr, err := readBytes(b, way)
		if err != nil {
			return err
		}
		missing, err := subsequence(tr.ids, f.ids)
		if err != nil {
			return err
		}
		for _, i := range missing {
			if n := slices.Index(f.ids, i); n < first || n >= last && !f.kind.stream {
				return fmt.Errorf("event %v is missing, which the damage does not touch", i)
			}
		}
		if len(missing) > 0 && len(tr.reports) == 0 {
			return fmt.Errorf("%d events are missing, nothing is reported", len(missing))
		}
		return nil
	}
	return f.checkFlippedText(b, first, last, way)
}

// checkFlippedText: without checksums a changed line may read as another event, or be two lines, or be one with the next.
func (f smallFile) checkFlippedText(b []byte, first, last int, way string) error {
	src, o := ways[way](b)
	r, err := reader.New(src, o)
	if err != nil {
		return err
	}
	defer r.Close()
	var lines [][]byte
	reports := 0
	for e, err := range r.Events() {
		switch {
		case err == nil:
			lines = append(lines, e.AppendJSON(nil))
		case reader.IsReport(err):
			reports++
		default:
			return err
		}
	}
	isLine := func(n int) func([]byte) bool {
		return func(line []byte) bool { return bytes.Equal(line, f.ids[n].line()) }
	}
	for n := range f.ids {
		touched := n >= first && n <= last // the next line may hang on the changed one
		if !touched && !slices.ContainsFunc(lines, isLine(n)) {
			return fmt.Errorf("event %d is missing, which the damage does not touch", n)
		}
	}
	if len(lines) < len(f.ids) && reports == 0 {
		return fmt.Errorf("%d of %d lines, nothing is reported", len(lines), len(f.ids))
	}
	return nil
}

// subsequence returns what of all is missing in part, or an error if part is anything else than a part of all in order.
func subsequence(part, all []id) (missing []id, err error) {
	n := 0
	for _, i := range all {
		if n < len(part) && part[n] == i {
			n++
		} else {
			missing = append(missing, i)
		}
	}
	if n < len(part) {
		return nil, fmt.Errorf("event %v is doubled or out of order", part[n])
	}
	return missing, nil
}

// TestRecoverEveryByte: recovery of a partial with any byte changed succeeds, or refuses and leaves it as it is; it keeps
// damage for the reader to report, and every event that could be read before. Where there are checksums, it invents none.
func TestRecoverEveryByte(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		f := makeSmall(t, k)
		for at := 0; at < len(f.data); at += k.stride() {
			flip := flips[at%len(flips)]
			if *allFlag {
				flip = 0
			}
			for range 256 {
				b := bytes.Clone(f.data)
				b[at] ^= flip
				if err := f.recoverFlipped(b); err != nil {
					t.Fatalf("byte %d of %d ^ %#02x (%q to %q): %v", at, len(b), flip, f.data[at], b[at], err)
				}
				if flip++; !*allFlag {
					break
				}
			}
		}
	})
}

func (f smallFile) recoverFlipped(b []byte) error {
	before, err := readLines(b)
	if err != nil {
		return err
	}
	fsys := crashfs.New()
	name := "trace" + f.kind.suffix()
	if err := writeFile(fsys, name+".partial", b); err != nil {
		return err
	}
	_, err = finalize.Recover("/", &finalize.Options{FS: fsys})
	if err != nil {
		name += ".partial"
	}
	data, rerr := readAll(fsys, name)
	if errors.Is(rerr, fs.ErrNotExist) && err == nil && f.kind.journal { // damaged before its first event
		data, rerr = readAll(fsys, name+".damaged")
	}
	if errors.Is(rerr, fs.ErrNotExist) && err == nil && len(before) == 0 {
		return nil // nothing to keep
	}
	if rerr != nil {
		return rerr
	}
	if err != nil {
		if !bytes.Equal(data, b) {
			return fmt.Errorf("recovery refuses, but changes the file: %w", err)
		}
		return nil
	}
	after, err := readLines(data)
	if err != nil {
		return err
	}
	if !isSubsequence(before, after) {
		return fmt.Errorf("%d events before recovery, not all of them after it, but %d", len(before), len(after))
	}
	var all [][]byte
	for _, i := range f.ids {
		all = append(all, i.line())
	}
	if f.kind.checksummed && !isSubsequence(after, all) {
		return fmt.Errorf("recovery invents an event: %q", after)
	}
	return nil
}

func readAll(fsys vfs.FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// isSubsequence reports whether all of part stands in all, in order.
func isSubsequence(part, all [][]byte) bool {
	for _, line := range all {
		if len(part) > 0 && bytes.Equal(part[0], line) {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// readLines returns the lines of the events that can be read.
func readLines(b []byte) ([][]byte, error) {
	r, err := reader.New(bytes.NewReader(b), nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var lines [][]byte
	for e, err := range r.Events() {
		if err == nil {
			lines = append(lines, e.AppendJSON(nil))
		} else if !reader.IsReport(err) {
			return nil, err
		}
	}
	return lines, nil
}
