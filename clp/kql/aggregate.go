package kql

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// AggregateOptions say what an Aggregation counts and measures. Keys are written as in a query, without *.
type AggregateOptions struct {
	By       []string       // a group for each combination of the values of these keys
	Every    time.Duration  // and for each stretch of time of this length, counted from the beginning of 1970; 0 for none
	Location *time.Location // where days and hours begin when they do on clocks there; nil: UTC
	TimeKey  string         // that has the time, for Every; empty: what event.Event.Time finds
	Distinct []string       // keys whose different values are counted
	Stats    []string       // keys whose numbers are measured

	// Percentiles are those that Stats gives, from 0 to 100; 50, 90, 95 and 99 if it is nil.
	Percentiles []float64

	// Memory is what groups and values may take, in bytes, about: 128 MiB if it is 0. From half of it on, different values
	// are counted and percentiles taken by sketches; beyond it, Add fails.
	Memory int64
}

// Up to these numbers in one group, different values are counted and percentiles taken exactly.
const (
	ExactDistinct = 1 << 16
	ExactSamples  = 1 << 16
)

const defaultAggregateMemory = 128 << 20

// LimitError is the error of an aggregation that would take more memory than it may.
type LimitError struct {
	Groups int   // there were
	Limit  int64 // bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("kql: %d groups and their values take more than %d bytes: group by keys that have fewer values, or by longer stretches of time", e.Groups, e.Limit)
}

// Aggregation counts and measures events, one after the other, in bounded memory. It is not safe for concurrent use.
type Aggregation struct {
	by, distinct, stats []column
	time                *column
	every               int64
	location            *time.Location // nil: UTC
	percentiles         []float64
	memory, held        int64
	sketching           bool
	groups              map[string]*group
	key                 []byte
	value               []byte
}

// group is the events of one combination of values.
type group struct {
	timed    bool
	start    int64 // ns
	count    int64
	distinct []distinctCounter
	stats    []measure
}

// NewAggregation returns an aggregation without events. A key that cannot be parsed is a *SyntaxError.
func NewAggregation(o *AggregateOptions) (*Aggregation, error) {
	if o == nil {
		o = &AggregateOptions{}
	}
	a := &Aggregation{every: int64(o.Every), location: o.Location, percentiles: o.Percentiles, memory: o.Memory, groups: map[string]*group{}}
	if o.Every < 0 || o.Memory < 0 {
		return nil, fmt.Errorf("kql: a stretch of %v, %d bytes of memory: less than nothing", o.Every, o.Memory)
	}
	if a.location == time.UTC {
		a.location = nil
	}
	if a.memory == 0 {
		a.memory = defaultAggregateMemory
	}
	if a.percentiles == nil {
		a.percentiles = []float64{50, 90, 95, 99}
	}
	for _, p := range a.percentiles {
		if !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("kql: percentile %v: want 0 to 100", p)
		}
	}
	for _, list := range []struct {
		to   *[]column
		keys []string
	}{{&a.by, o.By}, {&a.distinct, o.Distinct}, {&a.stats, o.Stats}} {
		for _, key := range list.keys {
			c, err := parseKey(key)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, c)
		}
	}
	return a, a.SetTimeKey(o.TimeKey)
}

// parseKey reads a key without *.
func parseKey(text string) (column, error) {
	c, err := parseColumn(lexeme{kind: tokenWord, text: text})
	if err == nil && c.star {
		err = &SyntaxError{strings.IndexByte(text, '*'), "a * in a key that is to be aggregated", "a star in a name is written \\*"}
	}
	return c, err
}

// SetTimeKey changes the key that has the time of the events that follow: those of another file. Empty means what
// event.Event.Time finds.
func (a *Aggregation) SetTimeKey(key string) error {
	if key == "" {
		a.time = nil
		return nil
	}
	c, err := parseKey(key)
	if err != nil {
		return err
	}
	a.time = &c
	return nil
}

// Add counts an event. The error is a *LimitError; the events after it are missing in the result.
func (a *Aggregation) Add(in *Input) error {
	timed, start := false, int64(0)
	a.key = a.key[:0]
	if a.every > 0 {
		if ns, ok := a.timeOf(in); ok {
			timed, start = true, a.start(ns)
			a.key = binary.LittleEndian.AppendUint64(append(a.key, 't'), uint64(start))
		}
	}
	for i := range a.by {
		a.value = a.by[i].appendValue(a.value[:0], in)
		a.key = append(binary.AppendUvarint(a.key, uint64(len(a.value))), a.value...)
	}
	g := a.groups[string(a.key)]
	if g == nil {
		size := int64(2*len(a.key)+160) + 96*int64(len(a.distinct)) + 192*int64(len(a.stats))
		if err := a.take(size); err != nil {
			return err
		}
		g = &group{timed: timed, start: start, distinct: make([]distinctCounter, len(a.distinct)), stats: make([]measure, len(a.stats))}
		a.groups[string(a.key)] = g
	}
	g.count++
	for i := range a.distinct {
		if a.value = a.distinct[i].appendValue(a.value[:0], in); len(a.value) == 0 {
			continue
		}
		if err := a.take(g.distinct[i].add(a.value, a.sketching)); err != nil {
			return err
		}
	}
	for i := range a.stats {
		n, ok := a.stats[i].number(in)
		if !ok || a.time != nil && slices.Equal(a.time.words, a.stats[i].words) && a.time.namespace == a.stats[i].namespace {
			continue
		}
		if err := a.take(g.stats[i].add(n, a.sketching)); err != nil {
			return err
		}
	}
	return nil
}

// take accounts for memory. From half of what there may be on, sketches take the place of large sets of values.
func (a *Aggregation) take(n int64) error {
	a.held += n
	if a.held <= a.memory/2 {
		return nil
	}
	if !a.sketching {
		a.sketching = true
		for _, g := range a.groups {
			for i := range g.distinct {
				a.held += g.distinct[i].sketchIfLarge(sketchSize)
			}
			for i := range g.stats {
				a.held += g.stats[i].sketchIfLarge(fewSamples)
			}
		}
	}
	if a.held > a.memory {
		a.held -= n
		return &LimitError{Groups: len(a.groups), Limit: a.memory}
	}
	return nil
}

// start returns when the stretch of time began that ns is in. Whole days begin when the date changes, whatever hours the clocks
// leave out or repeat on the day; shorter stretches are all of the same length.
func (a *Aggregation) start(ns int64) int64 {
	if a.location == nil {
		return floor(ns, a.every)
	}
	const day = int64(24 * time.Hour)
	t := time.Unix(0, ns).In(a.location)
	_, seconds := t.Zone()
	offset := int64(seconds) * int64(time.Second)
	if a.every%day != 0 {
		return floor(ns+offset, a.every) - offset
	}
	first := time.Unix(0, floor(ns+offset, a.every)).UTC()
	return time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, a.location).UnixNano()
}

func floor(ns, every int64) int64 {
	r := ns % every
	if r < 0 {
		r += every
	}
	return ns - r
}

// timeOf returns when an event happened, in nanoseconds since 1970.
func (a *Aggregation) timeOf(in *Input) (int64, bool) {
	if a.time == nil {
		t, ok := in.Event.Time()
		if !ok || t.Year() < 1678 || t.Year() > 2261 {
			return 0, false
		}
		return t.UnixNano(), true
	}
	v, ok := a.time.get(in)
	if !ok {
		return 0, false
	}
	s := classify(v)
	s.asTime()
	return s.integer, s.typ == isTime
}

// Group is what an aggregation knows of the events that have the same values of the keys it is by.
type Group struct {
	Timed    bool      // if by time: whether Start is there; events without a time are in a group of their own
	Start    time.Time // of the stretch of time, in UTC
	Values   []Value   // of AggregateOptions.By
	Count    int64
	Distinct []Distinct // of AggregateOptions.Distinct
	Stats    []Stats    // of AggregateOptions.Stats
}

// Groups returns the groups in the order of their times; of the same time, those of more events come first. Without keys
// and time there is one group, if there were events.
func (a *Aggregation) Groups() []Group {
	list := make([]Group, 0, len(a.groups))
	for key, g := range a.groups {
		out := Group{Timed: g.timed, Count: g.count}
		if g.timed {
			key = key[9:]
			out.Start = time.Unix(0, g.start).UTC()
		}
		for range a.by {
			n, m := binary.Uvarint([]byte(key[:min(len(key), binary.MaxVarintLen64)]))
			out.Values = append(out.Values, Value(key[m:m+int(n)]))
			key = key[m+int(n):]
		}
		for i := range g.distinct {
			out.Distinct = append(out.Distinct, g.distinct[i].result())
		}
		for i := range g.stats {
			out.Stats = append(out.Stats, g.stats[i].result(a.percentiles))
		}
		list = append(list, out)
	}
	slices.SortFunc(list, func(x, y Group) int {
		switch {
		case x.Timed != y.Timed:
			if x.Timed {
				return -1
			}
			return 1
		case !x.Start.Equal(y.Start):
			return x.Start.Compare(y.Start)
		case x.Count != y.Count:
			return int(min(max(y.Count-x.Count, -1), 1))
		}
		return slices.CompareFunc(x.Values, y.Values, Value.compare)
	})
	return list
}

// get returns the value at a path.
func (c *column) get(in *Input) (slog.Value, bool) {
	e := in.Event
	switch c.namespace {
	case '@':
		e = in.Auto
	case '$':
		e = in.Metadata
	case 0:
	default:
		e = event.Event{}
	}
	var path [8]string
	words := path[:0]
	for i := range c.words {
		words = append(words, c.words[i].name)
	}
	return e.Get(words...)
}
