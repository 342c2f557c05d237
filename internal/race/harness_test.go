package race

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

var seedFlag = flag.Uint64("seed", 1, "seed of the random choices")

// kind is a sink under test. A further sink is a further line here.
type kind struct {
	name        string
	format      format.Format
	block       int  // Options.BlockSize: small, so that there are many frames
	checksummed bool // a changed byte cannot change an event unseen
	stream      bool // events depend on those before: reading ends at damage
	journal     bool // a partial is a journal, of which Close makes something else, once
}

var kinds = []kind{
	{name: "plain", format: format.Plain, block: 4 << 10},
	{name: "gzip", format: format.Gzip, block: 8 << 10, checksummed: true},
	{name: "zstd", format: format.Zstd, block: 8 << 10, checksummed: true},
	{name: "clp-ir", format: format.CLPIR, block: 8 << 10, checksummed: true, stream: true},
	{name: "clp", format: format.CLP, block: 8 << 10, checksummed: true, stream: true, journal: true},
}

func (k kind) suffix() string { return k.format.Suffix() }

func (k kind) options(fsys vfs.FS) sink.Options {
	return sink.Options{Format: k.format, BlockSize: k.block, FS: fsys}
}

// bound is the documented loss in bytes of text of a process that dies: three blocks and one event.
func (k kind) bound() int { return 3*k.block + maxLine }

func eachKind(t *testing.T, test func(t *testing.T, k kind)) { eachOf(t, kinds, test) }

func eachOf(t *testing.T, kinds []kind, test func(t *testing.T, k kind)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// streamKinds are the kinds that can be written to an io.Writer.
func streamKinds() (list []kind) {
	for _, k := range kinds {
		if !k.journal {
			list = append(list, k)
		}
	}
	return list
}

// child, if set, is what this binary does instead of its tests.
const childVariable = "TRACEHANDLER_RACE_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childVariable); task != "" {
		os.Exit(runChild(task))
	}
	goleak.VerifyTestMain(m)
}

// newRand returns the random choices of one trial of a test.
func newRand(t testing.TB, trial int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, t.Name(), trial)
	return rand.New(rand.NewPCG(*seedFlag, h.Sum64()))
}

// trials is how often a random test is run: n times, fewer with -short.
func trials(n int) int {
	if testing.Short() {
		return (n + 3) / 4
	}
	return n
}

// stride is the distance between the bytes of a file that are tested: each one, or some with -short. Making an archive
// takes some milliseconds.
func (k kind) stride() int {
	n := 1
	if testing.Short() {
		n = 5
	}
	if k.journal {
		n *= 7
	}
	return n
}

// id says which event it is: the nth, from 0, of a worker.
type id struct{ worker, n int }

// maxLine is the length of the longest line that line returns.
const maxLine = 20000

// pad is the part of an event that makes it long; it follows from the id, and does not compress well. One event in 300 is
// longer than a block.
func (i id) pad() string {
	h := uint64(i.worker*7919+i.n+1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	size := int(h % 300)
	if size == 7 {
		size = int((h >> 20) % (maxLine - 200))
	}
	b := make([]byte, 0, size+16)
	for len(b) < size {
		h = h*6364136223846793005 + 1442695040888963407
		b = strconv.AppendUint(b, h>>8, 36)
	}
	return string(b)
}

// line is the event as it stands in a trace.
func (i id) line() []byte {
	return fmt.Appendf(nil, `{"level":"INFO","msg":"event","worker":%d,"n":%d,"pad":%q}`, i.worker, i.n, i.pad())
}

// record is the event as it is logged by a handler with the attribute worker. It has no time, so that its line is
// always the same.
func (i id) record() slog.Record {
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "event", 0)
	r.AddAttrs(slog.Int("n", i.n), slog.String("pad", i.pad()))
	return r
}

func forWorker(h slog.Handler, worker int) slog.Handler {
	return h.WithAttrs([]slog.Attr{slog.Int("worker", worker)})
}

// parseEvent returns the id of an event, or says why the event is not one that was logged.
func parseEvent(e event.Event) (id, error) {
	worker, ok1 := e.Get("worker")
	n, ok2 := e.Get("n")
	if !ok1 || !ok2 || worker.Kind() != slog.KindInt64 || n.Kind() != slog.KindInt64 {
		return id{}, fmt.Errorf("an invented event: %.200q", e.AppendJSON(nil))
	}
	i := id{int(worker.Int64()), int(n.Int64())}
	if got := e.AppendJSON(nil); !bytes.Equal(got, i.line()) {
		return id{}, fmt.Errorf("event %v is changed:\n got %.300q\nwant %.300q", i, got, i.line())
	}
	return i, nil
}

// trace is what was read from one or more files.
type trace struct {
	ids     []id
	dropped int64   // events that the trace itself says are missing
	reports []error // *reader.LineError, DamageError, TornError

	archived map[string]int // events of journals, by their ID, that archives have
}

// collect reads a whole trace. Failures to read and events that were never logged are errors.
func collect(r *reader.Reader, into *trace) error {
	for e, err := range r.Events() {
		if err != nil {
			if !reader.IsReport(err) {
				return err
			}
			into.reports = append(into.reports, err)
			continue
		}
		if msg, _ := e.Message(); msg == handler.DroppedMessage {
			n, ok := e.Get("dropped")
			if !ok {
				return fmt.Errorf("a report of drops without number: %s", e.Line())
			}
			into.dropped += n.Int64()
			continue
		}
		i, err := parseEvent(e)
		if err != nil {
			return err
		}
		into.ids = append(into.ids, i)
	}
	return nil
}

// readFile reads the file at path into a trace.
func readFile(fsys vfs.FS, path string, into *trace) error {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := reader.New(f, &reader.Options{Name: path})
	if err != nil {
		return err
	}
	defer r.Close()
	before := len(into.ids)
	if err := collect(r, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	into.join(r, f, before)
	return nil
}

// join forgets the events of a journal that an archive before it has: who is killed between the renaming of an archive and
// the removal of its journal leaves both, and the next recovery makes no event twice. The events of f, which r has read,
// are those from number before on.
func (tr *trace) join(r *reader.Reader, f vfs.File, before int) {
	if a := r.Archive(); a != nil {
		if from, ok := origin.Of(a); ok {
			if tr.archived == nil {
				tr.archived = map[string]int{}
			}
			tr.archived[from.ID] += len(tr.ids) - before
		}
		return
	}
	if len(tr.archived) == 0 {
		return
	}
	stream, err := ir.NewReader(io.NewSectionReader(f, 0, math.MaxInt64), nil)
	if err != nil {
		return // no journal, or nothing of one
	}
	defer stream.Close()
	if j, ok := slogkv.JournalOf(stream.Metadata()); ok {
		tr.ids = slices.Delete(tr.ids, before, before+min(tr.archived[j.ID], len(tr.ids)-before))
	}
}

// readDir reads all files of a directory, in the order of their names: rotated ones come before the live one.
func readDir(fsys vfs.FS, dir string) (trace, error) {
	var tr trace
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return tr, err
	}
	for _, e := range entries {
		if err := readFile(fsys, filepath.Join(dir, e.Name()), &tr); err != nil {
			return tr, err
		}
	}
	return tr, nil
}

// perWorker returns the numbers of each worker's events, in the order in which they stand.
func (tr trace) perWorker() map[int][]int {
	m := map[int][]int{}
	for _, i := range tr.ids {
		m[i.worker] = append(m[i.worker], i.n)
	}
	return m
}

// checkExactly: each worker's events are those of want, once, in order.
func (tr trace) checkExactly(want map[int][]int) error {
	got := tr.perWorker()
	for w := range got {
		if _, ok := want[w]; !ok {
			return fmt.Errorf("events of worker %d, who logged none", w)
		}
	}
	for w, ns := range want {
		for i, n := range ns {
			if i >= len(got[w]) {
				return fmt.Errorf("worker %d: %d events, want %d: the last ones are lost, from %d on", w, len(got[w]), len(ns), n)
			}
			if got[w][i] != n {
				return fmt.Errorf("worker %d: event %d stands where %d should", w, got[w][i], n)
			}
		}
		if len(got[w]) > len(ns) {
			return fmt.Errorf("worker %d: %d events too many, from %d on", w, len(got[w])-len(ns), got[w][len(ns)])
		}
	}
	return nil
}

// checkPrefix: each worker's events are 0, 1, 2 and so on, at least low and at most high of them.
func (tr trace) checkPrefix(low, high map[int]int) error {
	got := tr.perWorker()
	for w, ns := range got {
		for i, n := range ns {
			if n != i {
				return fmt.Errorf("worker %d: event %d stands where %d should", w, n, i)
			}
		}
		if len(ns) > high[w] {
			return fmt.Errorf("worker %d: %d events, but only %d were logged", w, len(ns), high[w])
		}
	}
	for w, n := range low {
		if len(got[w]) < n {
			return fmt.Errorf("worker %d: %d events, but %d were acknowledged", w, len(got[w]), n)
		}
	}
	return nil
}

// checkNames: the directory holds finished traces of the kind only.
func checkNames(fsys vfs.FS, dir string, k kind) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), k.suffix()) || strings.HasSuffix(e.Name(), naming.PartialSuffix) {
			return fmt.Errorf("%s is not a finished trace", e.Name())
		}
	}
	return nil
}

// checkClean: nothing was reported while reading.
func (tr trace) checkClean() error {
	if len(tr.reports) > 0 {
		return fmt.Errorf("%d reports, the first: %w", len(tr.reports), tr.reports[0])
	}
	return nil
}

// within fails the test, with all goroutines' stacks, if do does not return in time.
func within(t testing.TB, d time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(d):
		panic(fmt.Sprintf("%s: %s did not return within %v", t.Name(), what, d))
	}
}

// patient is far more than anything takes on a busy machine, and less than the test's own limit.
const patient = time.Minute

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(fsys vfs.FS, path string) bool {
	_, err := fsys.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

var background = context.Background()
