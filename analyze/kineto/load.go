package kineto

import (
	"fmt"
	"math"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Options of Open and Load; nil means none.
type Options struct {
	// Progress, if not nil, is called now and then with the number of uncompressed bytes read.
	Progress func(bytes int64)
	// Stop, if not nil, is asked as often; if it returns true loading ends there, and what was read is a trace of its own.
	Stop func() bool
}

// Open loads a trace file, compressed or not. Damage is no error: see Trace.Degraded and Trace.Errors.
func Open(path string, o *Options) (*Trace, error) {
	s, err := chrometrace.Open(path)
	if err != nil {
		return nil, err
	}
	t := Load(s, o)
	t.Path = path
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("kineto: %w", err)
	}
	return t, nil
}

// loader is the state of one load.
type loader struct {
	t       *Trace
	str     *table
	counts  []counter
	threads map[Thread]int32
	last    [2]threadCache
	shapes  map[Shape]int32
	comms   map[Comm]int32
	extras  map[Extra]int32
	scratch []byte
	starts  []int64
	ends    []int64
}

type counter struct {
	phase    byte
	category string
	class    class
	n        int64
}

type threadCache struct {
	pid, tid int64
	id       int32
	ok       bool
}

// Load reads everything that s delivers. The caller closes s.
func Load(s *chrometrace.Scanner, o *Options) *Trace {
	l := &loader{
		t:       &Trace{Shapes: []Shape{{}}, Extras: []Extra{{}}, Comms: []Comm{{}}},
		str:     newTable(),
		threads: map[Thread]int32{},
		shapes:  map[Shape]int32{{}: 0},
		comms:   map[Comm]int32{{}: 0},
		extras:  map[Extra]int32{{}: 0},
	}
	s.SkipFunc = func(phase byte, category []byte) bool {
		c := l.counter(phase, category)
		if c.class != other {
			return false
		}
		c.n++
		return true
	}
	next := int64(0)
	for s.Scan() {
		ev := s.Event()
		c := l.counter(ev.Phase, ev.Category)
		c.n++
		ev.TS = min(max(ev.TS, -maxTime), maxTime)
		if ev.Phase != 'X' || ev.Has&chrometrace.HasTS != 0 { // work at no time is reported, and nowhere to be put
			l.event(c.class, ev)
		}
		if o == nil || s.Offset() < next {
			continue
		}
		next = s.Offset() + 1<<20
		if o.Progress != nil {
			o.Progress(s.Offset())
		}
		if o.Stop != nil && o.Stop() {
			break
		}
	}
	t := l.t
	t.Events, t.Errors, t.NErrors, t.Degraded = s.Events(), s.Errors(), s.ErrorCount(), s.Degraded()
	t.Meta = decodeMeta(s.Metadata())
	for _, c := range l.counts {
		phase := ""
		if c.phase != 0 {
			phase = string(rune(c.phase))
		}
		if c.n > 0 {
			t.Counts = append(t.Counts, Count{phase, c.category, c.n})
		}
	}
	t.strings = l.str.strings
	l.flows()
	return t
}

func (l *loader) counter(phase byte, category []byte) *counter {
	for i := range l.counts {
		if c := &l.counts[i]; c.phase == phase && c.category == string(category) {
			if i > 0 && c.n > l.counts[i-1].n { // the most frequent come first
				l.counts[i], l.counts[i-1] = l.counts[i-1], l.counts[i]
				c = &l.counts[i-1]
			}
			return c
		}
	}
	if len(l.counts) == 1000 { // hostile: lump the rest together
		l.counts = append(l.counts, counter{phase: '?', category: "(others)"})
	}
	if len(l.counts) > 1000 {
		return &l.counts[1000]
	}
	l.counts = append(l.counts, counter{phase: phase, category: string(category), class: classOf(phase, category)})
	return &l.counts[len(l.counts)-1]
}

func (l *loader) event(c class, ev *chrometrace.Event) {
	switch c {
	case opClass:
		l.op(ev)
	case runtimeClass, driverClass:
		l.launch(ev, c == driverClass)
	case kernelClass:
		l.gpu(ev, Kernel)
	case memcpyClass:
		l.gpu(ev, Memcpy)
	case memsetClass:
		l.gpu(ev, Memset)
	case noteClass:
		l.t.Notes = append(l.t.Notes, l.note(ev))
	case gpuNoteClass:
		l.t.GPUNotes = append(l.t.GPUNotes, l.note(ev))
	case ac2gClass:
		if ev.Phase == 's' {
			l.starts = push(l.starts, ev.FlowID.Num)
		} else {
			l.ends = push(l.ends, ev.FlowID.Num)
		}
	case fwdbwdClass:
		if ev.Phase == 's' {
			l.t.Flows.FwdBwd++
		}
	}
}

// thread interns a row. Events of a thread come in runs, on the CPU and on the GPU: two caches, by sign of use.
func (l *loader) thread(ev *chrometrace.Event, cache int) int32 {
	k := &l.last[cache]
	if ev.PID.Text == nil && ev.TID.Text == nil {
		if k.ok && k.pid == ev.PID.Num && k.tid == ev.TID.Num {
			return k.id
		}
	}
	key := Thread{idText(ev.PID), idText(ev.TID)}
	id, ok := l.threads[key]
	if !ok {
		id = int32(len(l.t.Threads))
		l.t.Threads = append(l.t.Threads, key)
		l.threads[key] = id
	}
	if ev.PID.Text == nil && ev.TID.Text == nil {
		*k = threadCache{ev.PID.Num, ev.TID.Num, id, true}
	}
	return id
}

func idText(id chrometrace.ID) string {
	if id.Text != nil {
		return chrometrace.String(id.Text)
	}
	return fmt.Sprint(id.Num)
}

func (l *loader) note(ev *chrometrace.Event) Note {
	return Note{TS: ev.TS, Dur: l.duration(ev), Name: l.str.raw(ev.Name), Thread: l.thread(ev, 0)}
}

// Times beyond these are impossible: durations of 104 days, and clocks 73 years from zero. Sums and differences of
// what is left stay within 64 bits.
const (
	maxDuration = 1 << 53
	maxTime     = 1 << 61
)

// duration drops one that cannot be.
func (l *loader) duration(ev *chrometrace.Event) int64 {
	if ev.Dur > maxDuration {
		return 0
	}
	return ev.Dur
}

func (l *loader) op(ev *chrometrace.Event) {
	op := Op{TS: ev.TS, Dur: l.duration(ev), Name: l.str.raw(ev.Name), Thread: l.thread(ev, 0), Sequence: -1, FwdThread: -1}
	var sh Shape
	var ex Extra
	for a := ev.Arguments(); a.Next(); {
		switch string(a.Key) {
		case "External id", "external id":
			op.ExternalID, _ = chrometrace.Int(a.Value)
		case "Input Dims", "Input dims":
			sh.Dims = l.compact(a.Value)
		case "Input type":
			sh.Types = l.compact(a.Value)
		case "Input Strides":
			sh.Strides = l.compact(a.Value)
		case "Concrete Inputs":
			sh.Concrete = l.compact(a.Value)
		case "Sequence number":
			op.Sequence, _ = chrometrace.Int(a.Value)
		case "Fwd thread id":
			if n, ok := chrometrace.Int(a.Value); ok {
				op.FwdThread = int32(n)
			}
		case "kernel_file":
			ex.KernelFile = l.str.value(a.Value)
		case "kernel_name":
			ex.KernelName = l.str.value(a.Value)
		case "kernel_backend":
			ex.Backend = l.str.value(a.Value)
		}
	}
	if sh != (Shape{}) {
		op.Shape = number(l.shapes, &l.t.Shapes, sh)
	}
	if ex != (Extra{}) {
		op.Extra = number(l.extras, &l.t.Extras, ex)
	}
	l.t.Ops = push(l.t.Ops, op)
}

// number returns the index of v in list, to which it is appended if it is not in ids yet.
func number[T comparable](ids map[T]int32, list *[]T, v T) int32 {
	id, ok := ids[v]
	if !ok {
		id = int32(len(*list))
		*list = append(*list, v)
		ids[v] = id
	}
	return id
}

// push appends, doubling the capacity also where append grows by less: what is read is copied once, not five times.
func push[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 256))
	}
	return append(s, v)
}

// compact interns a raw JSON value without the spaces outside its strings. A text seen before costs one look-up.
func (l *loader) compact(v []byte) Str {
	if id, ok := l.str.compact.find(v); ok {
		return id
	}
	b := jsontext.AppendCompact(l.scratch[:0], v)
	l.scratch = b
	id := l.str.exact(b)
	key := l.str.strings[id]
	if len(b) != len(v) {
		key = l.str.keep(v)
	}
	l.str.compact.add(key, id)
	return id
}

func (l *loader) launch(ev *chrometrace.Event, driver bool) {
	la := Launch{TS: ev.TS, Dur: l.duration(ev), Name: l.str.raw(ev.Name), Thread: l.thread(ev, 0), Driver: driver}
	for a := ev.Arguments(); a.Next(); {
		switch string(a.Key) {
		case "correlation":
			la.Correlation, la.HasCorr = chrometrace.Int(a.Value)
		case "External id", "external id":
			la.ExternalID, _ = chrometrace.Int(a.Value)
		case "kernel":
			la.Kernel = l.str.value(a.Value)
		}
	}
	l.t.Launches = push(l.t.Launches, la)
}

func (l *loader) gpu(ev *chrometrace.Event, k Kind) {
	row := l.thread(ev, 1)
	g := GPU{TS: ev.TS, Dur: l.duration(ev), Name: l.str.raw(ev.Name), PID: row, Kind: k,
		Device: int32(ev.PID.Num), Stream: int32(ev.TID.Num)}
	g.Impossible = g.Dur != ev.Dur
	var c Comm
	for a := ev.Arguments(); a.Next(); {
		switch string(a.Key) {
		case "correlation":
			g.Correlation, g.Linked = chrometrace.Int(a.Value)
		case "External id", "external id":
			g.ExternalID, _ = chrometrace.Int(a.Value)
		case "device":
			g.Device = toInt32(a.Value, g.Device)
		case "stream":
			g.Stream = toInt32(a.Value, g.Stream)
		case "bytes":
			g.Bytes, _ = chrometrace.Int(a.Value)
		case "grid":
			g.Grid = l.compact(a.Value)
		case "block":
			g.Block = l.compact(a.Value)
		case "Collective name":
			c.Collective = l.str.value(a.Value)
		case "dtype":
			c.DType = l.str.value(a.Value)
		case "Process Group Name":
			c.Group = l.str.value(a.Value)
		case "Process Group Description":
			c.GroupDesc = l.str.value(a.Value)
		case "Process Group Ranks":
			c.Ranks = l.str.value(a.Value)
		case "In msg nelems":
			c.In, _ = chrometrace.Int(a.Value)
		case "Out msg nelems":
			c.Out, _ = chrometrace.Int(a.Value)
		case "Group size":
			c.Size, _ = chrometrace.Int(a.Value)
		}
	}
	if c != (Comm{}) {
		g.Comm = number(l.comms, &l.t.Comms, c)
	}
	l.t.GPU = push(l.t.GPU, g)
}

func toInt32(v []byte, otherwise int32) int32 {
	if n, ok := chrometrace.Int(v); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		return int32(n)
	}
	return otherwise
}

// flows counts the arrows whose other end is missing.
func (l *loader) flows() {
	f := &l.t.Flows
	f.AC2GStarts, f.AC2GEnds = len(l.starts), len(l.ends)
	const started, both, orphan = 1, 2, 3
	seen := make(map[int64]uint8, len(l.starts))
	for _, id := range l.starts {
		seen[id] = started
	}
	for _, id := range l.ends {
		switch seen[id] {
		case started:
			seen[id] = both
			f.AC2GBoth++
		case 0:
			seen[id] = orphan
			f.AC2GOrphanEnds++
		}
	}
}
