// Package summary counts what is in a trace.
//
//	s := summary.New("app.ndjson")
//	for e := range events {
//		s.Add(e)
//	}
//	fmt.Println(s.Chosen, s.First, s.TopKeys(10))
package summary

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"math/bits"
	"slices"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// maxKeys bounds the number of different keys that are counted, so that a trace whose keys are data cannot fill the memory.
const maxKeys = 100_000

// Summary is what is in one trace, or in several. Add counts the upper half; the rest is filled in by who reads.
type Summary struct {
	Name        string
	Chosen      int64 // events added
	First, Last time.Time
	NoTime      int64 // events without a readable time
	ByLevel     map[slog.Level]int64
	NoLevel     int64 // events without a level
	Keys        map[string]*Key
	OtherKeys   int64 // occurrences of keys beyond the bound

	Format              string
	Events, BadLines    int64
	Text, Stored        int64 // bytes
	Frames              int64
	Damage, DamageBytes int64

	path []byte
	top  int
}

// Key is what is known about one key, groups joined by dots.
type Key struct {
	Name   string   `json:"key"`
	Events int64    `json:"events"` // occurrences; more than the events only if a key is twice in one
	Kinds  []string `json:"values"` // kinds of values, by SetTop and TopKeys
	kinds  kind
}

type kind uint8

const (
	aString kind = 1 << iota
	aNumber
	aBool
	aNull
	anArray
	anObject // an empty one; members of others count themselves
)

var kindNames = []string{"string", "number", "bool", "null", "array", "object"}

// New returns an empty summary.
func New(name string) *Summary {
	return &Summary{Name: name, ByLevel: map[slog.Level]int64{}, Keys: map[string]*Key{}}
}

// Add counts one event.
func (s *Summary) Add(e event.Event) {
	s.Chosen++
	if t, ok := e.Time(); ok {
		s.widen(t, t)
	} else {
		s.NoTime++
	}
	if l, ok := e.Level(); ok {
		s.ByLevel[l]++
	} else {
		s.NoLevel++
	}
	for a := range e.All() {
		s.path = append(s.path[:0], a.Key...)
		s.add(a.Value)
	}
}

func (s *Summary) widen(first, last time.Time) {
	if s.First.IsZero() || first.Before(s.First) {
		s.First = first
	}
	if last.After(s.Last) {
		s.Last = last
	}
}

// add counts the value at s.path.
func (s *Summary) add(v slog.Value) {
	if v.Kind() == slog.KindGroup && len(v.Group()) > 0 {
		n := len(s.path)
		for _, a := range v.Group() {
			s.path = append(append(s.path[:n], '.'), a.Key...)
			s.add(a.Value)
		}
		return
	}
	k := s.Keys[string(s.path)]
	if k == nil {
		if len(s.Keys) >= maxKeys {
			s.OtherKeys++
			return
		}
		k = &Key{Name: string(s.path)}
		s.Keys[k.Name] = k
	}
	k.Events++
	k.kinds |= kindOf(v)
}

func kindOf(v slog.Value) kind {
	switch v.Kind() {
	case slog.KindString, slog.KindTime:
		return aString
	case slog.KindBool:
		return aBool
	case slog.KindGroup:
		return anObject
	case slog.KindAny:
		switch v.Any().(type) {
		case nil:
			return aNull
		case json.Number:
			return aNumber
		}
		return anArray
	}
	return aNumber
}

// Total returns the sum of several summaries.
func Total(all []*Summary) *Summary {
	t := New("total")
	for _, s := range all {
		t.Chosen += s.Chosen
		t.NoTime += s.NoTime
		t.NoLevel += s.NoLevel
		t.OtherKeys += s.OtherKeys
		if !s.First.IsZero() {
			t.widen(s.First, s.Last)
		}
		for l, n := range s.ByLevel {
			t.ByLevel[l] += n
		}
		for name, k := range s.Keys {
			if t.Keys[name] == nil {
				t.Keys[name] = &Key{Name: name}
			}
			t.Keys[name].Events += k.Events
			t.Keys[name].kinds |= k.kinds
		}
		t.Events += s.Events
		t.BadLines += s.BadLines
		t.Text += s.Text
		t.Stored += s.Stored
		t.Frames += s.Frames
		t.Damage += s.Damage
		t.DamageBytes += s.DamageBytes
	}
	return t
}

// TopKeys returns the n most common keys, the most common first; all of them if n is 0.
func (s *Summary) TopKeys(n int) []Key {
	keys := make([]Key, 0, len(s.Keys))
	for _, k := range s.Keys {
		keys = append(keys, *k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Name, b.Name)) })
	if n > 0 && len(keys) > n {
		keys = keys[:n]
	}
	for i := range keys {
		keys[i].Kinds = make([]string, 0, bits.OnesCount8(uint8(keys[i].kinds)))
		for b, name := range kindNames {
			if keys[i].kinds&(1<<b) != 0 {
				keys[i].Kinds = append(keys[i].Kinds, name)
			}
		}
	}
	return keys
}
