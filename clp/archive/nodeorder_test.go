package archive

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// orderedKeys is an object whose members come in one order in all records, if they come.
type orderedKeys struct {
	keys  []string
	inner map[string]*orderedKeys
}

func newOrderedKeys(r *rand.Rand, depth int) *orderedKeys {
	o := &orderedKeys{inner: map[string]*orderedKeys{}}
	for _, k := range r.Perm(12)[:2+r.IntN(8)] {
		key := fmt.Sprintf("k%d", k)
		o.keys = append(o.keys, key)
		if depth < 3 && r.IntN(3) == 0 {
			o.inner[key] = newOrderedKeys(r, depth+1)
		}
	}
	return o
}

// object makes an object with some of the keys, whose values have any types.
func (o *orderedKeys) object(r *rand.Rand) string {
	var members []string
	for _, key := range o.keys {
		if r.IntN(3) == 0 {
			continue
		}
		value := []string{"1", `"a"`, `"a b"`, "null", "true", "1.5", "{}", "[1, 2]", `"2026-01-02T03:04:05Z"`}[r.IntN(9)]
		if inner := o.inner[key]; inner != nil && r.IntN(2) == 0 {
			value = inner.object(r)
		}
		members = append(members, `"`+key+`":`+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestMemberOrder writes records whose members stand in one order: they come back so without a side channel, and from the
// reference, too.
func TestMemberOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		keys := newOrderedKeys(random, 0)
		var in []string
		for range 200 {
			in = append(in, keys.object(random))
		}
		r := openBytes(t, write(t, toLines(in), &WriterOptions{TimeKey: []string{"k1"}}), &Options{Plain: true})
		lines, err := readLines(r)
		check(t, err)
		for i, got := range splitLines(lines) {
			if string(got) != in[i] {
				t.Fatalf("record %d: got %s, want %s", i, got, in[i])
			}
		}
		if readSide(t, r) != nil {
			t.Error("there is a side channel")
		}
		check(t, r.Close())
	}
}

// TestMemberOrderMost has records that differ: the order is that of most of them.
func TestMemberOrderMost(t *testing.T) {
	in := []string{`{"a":1,"b":2,"c":3}`, `{"c":1,"b":"x","a":2}`, `{"c":1,"d":4}`, `{"b":{"x":1,"y":2},"d":1}`}
	for range 10 {
		in = append(in, `{"b":7,"a":{"y":1,"x":1}}`)
	}
	data := write(t, toLines(in), nil)
	lines, err := readLines(openBytes(t, data, &Options{Plain: true}))
	check(t, err)
	for i, got := range splitLines(lines) {
		want := in[i]
		switch i {
		case 0, 1:
			continue // either is right
		case 3:
			want = `{"b":{"x":1,"y":2},"d":1}`
		}
		if string(got) != want {
			t.Errorf("record %d: got %s, want %s", i, got, want)
		}
	}
	checkSame(t, in, readWithSide(t, data))
}

// TestMemberOrderOpposite has so many keys in two orders that the square of their number would be noticed.
func TestMemberOrderOpposite(t *testing.T) {
	const n = 50_000
	var a, b []string
	for i := range n {
		a = append(a, fmt.Sprintf(`"k%d":%d`, i, i))
		b = append(b, fmt.Sprintf(`"k%d":%d`, n-1-i, i))
	}
	in := []string{"{" + strings.Join(a, ",") + "}", "{" + strings.Join(b, ",") + "}"}
	checkSame(t, in, readWithSide(t, write(t, toLines(in), nil)))
}
