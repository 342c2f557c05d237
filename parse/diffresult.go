package parse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// survivors numbers the records of a diffTree that count: rank[i] of the records before i do. Nil means all.
type survivors []uint32

func newSurvivors(n uint32, counts func(i uint32) bool) survivors {
	s := make(survivors, n+1)
	for i := range n {
		s[i+1] = s[i]
		if counts(i) {
			s[i+1]++
		}
	}
	return s
}

// span returns the numbers of the records from i up to, not including, end that count: from, up to and not including, to.
func (s survivors) span(i, end uint32) (from, to uint32) {
	if s == nil {
		return i, end
	}
	return s[i], s[end]
}

// ranges is a list of inclusive ranges of numbers, growing.
type ranges [][2]uint32

func (r ranges) add(from, to uint32) ranges {
	if n := len(r); n > 0 && r[n-1][1]+1 == from {
		r[n-1][1] = to
		return r
	}
	return append(r, [2]uint32{from, to})
}

func (r ranges) count() (n int) {
	for _, x := range r {
		n += int(x[1]-x[0]) + 1
	}
	return n
}

// appendJSON appends [{"start":0,"end":3}].
func (r ranges) appendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, x := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"start":`...)
		dst = strconv.AppendUint(dst, uint64(x[0]), 10)
		dst = append(dst, `,"end":`...)
		dst = strconv.AppendUint(dst, uint64(x[1]), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// outNode is a JSON object being built, or with a value a leaf of it.
type outNode struct {
	key      string
	value    []byte
	children []*outNode
	byKey    map[string]*outNode // children, once they are many
}

func (o *outNode) child(key string) *outNode {
	if o.byKey != nil {
		return o.byKey[key]
	}
	for _, c := range o.children {
		if c.key == key {
			return c
		}
	}
	return nil
}

func (o *outNode) make(key string) *outNode {
	c := o.child(key)
	if c == nil {
		c = &outNode{key: key}
		o.children = append(o.children, c)
		if o.byKey != nil {
			o.byKey[key] = c
		} else if len(o.children) > many {
			o.byKey = make(map[string]*outNode, 2*many)
			for _, c := range o.children {
				o.byKey[c.key] = c
			}
		}
	}
	return c
}

// put sets the value at a path whose parts are separated by dots.
func (o *outNode) put(path string, value []byte) {
	for part := range strings.SplitSeq(path, ".") {
		o = o.make(part)
	}
	o.value = value
}

// remove takes a child out. Its place is searched for, so it is not for loops over many.
func (o *outNode) remove(key string) {
	delete(o.byKey, key)
	o.children = slices.DeleteFunc(o.children, func(c *outNode) bool { return c.key == key })
}

func (o *outNode) appendJSON(dst []byte) []byte {
	if o.value != nil && len(o.children) == 0 {
		return append(dst, o.value...)
	}
	dst = append(dst, '{')
	for i, c := range o.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(js.AppendString(dst, c.key), ':')
		dst = c.appendJSON(dst)
	}
	return append(dst, '}')
}

// launchDiff is what a sequence of launches has in common and where they differ.
type launchDiff struct{ sames, diffs outNode }

// result compares the records that survive. With deep, differing fields further inside an argument are reported under
// their dotted path; otherwise they are left out, as the reference does.
func (t *diffTree) result(alive survivors, deep bool) *launchDiff {
	r := &launchDiff{}
	for _, c := range t.root.children {
		t.collect(r, c, c.key, alive)
	}
	r.groupArguments(deep)
	return r
}

func (t *diffTree) collect(r *launchDiff, n *diffNode, path string, alive survivors) {
	if n.ignored {
		return
	}
	if n.kind == js.Object && !n.opened {
		if from, to := alive.span(n.since, t.n); from == to {
			return
		}
		if d := n.doc(); d != nil {
			flatten(&r.sames, d.Root(), path)
		}
		return
	}
	t.leaf(r, n, path, alive)
	for _, c := range n.children {
		t.collect(r, c, path+"."+c.key, alive)
	}
}

// flatten puts the leaves of an object at their paths.
func flatten(o *outNode, v js.Value, path string) {
	for m := range v.Each() {
		key := m.Key()
		if containsAnyOf(key, ignoredKeys) {
			continue
		}
		if m.Kind() == js.Object {
			flatten(o, m, path+"."+key)
		} else {
			o.put(path+"."+key, m.Raw())
		}
	}
}

func (t *diffTree) leaf(r *launchDiff, n *diffNode, path string, alive survivors) {
	if len(n.runs) == 0 {
		if n.kind == js.Missing || n.kind == js.Object {
			return
		}
		if from, to := alive.span(n.since, t.n); from < to {
			r.sames.put(path, n.raw)
		}
		return
	}
	type value struct {
		id uint64
		at ranges
	}
	var values []value
	index := map[uint64]int{}
	for i, run := range n.runs {
		end := t.n
		if i+1 < len(n.runs) {
			end = n.runs[i+1].start
		}
		from, to := alive.span(run.start, end)
		if run.id == 0 || from == to {
			continue
		}
		j, ok := index[run.id]
		if !ok {
			j = len(values)
			index[run.id] = j
			values = append(values, value{id: run.id})
		}
		values[j].at = values[j].at.add(from, to-1)
	}
	switch {
	case len(values) == 0:
	case len(values) == 1:
		text := n.raw
		if ref, ok := n.texts[values[0].id]; ok {
			text = t.ids.texts.get(ref)
		}
		r.sames.put(path, text)
	case n.volatile:
		text := `{"diff_type":"summary","summary_text":"Varies across ` + strconv.Itoa(len(values)) + ` unique values"}`
		r.diffs.put(path, []byte(text))
	default:
		d := []byte(`{"diff_type":"distribution","values":[`)
		for i, v := range values {
			if i > 0 {
				d = append(d, ',')
			}
			d = append(append(d, `{"value":`...), t.ids.texts.get(n.texts[v.id])...)
			d = append(d, `,"count":`...)
			d = strconv.AppendInt(d, int64(v.at.count()), 10)
			d = v.at.appendJSON(append(d, `,"launches":`...))
			d = append(d, '}')
		}
		r.diffs.put(path, append(d, `]}`...))
	}
}

// groupArguments regroups extracted_args by argument: one that differs anywhere is reported whole among the diffs.
func (r *launchDiff) groupArguments(deep bool) {
	const name = "extracted_args"
	diffs := r.diffs.child(name)
	if diffs == nil || len(diffs.children) == 0 {
		return
	}
	sames := r.sames.child(name)
	var moved map[string]bool // arguments that leave the sames
	r.diffs.remove(name)
	grouped := r.diffs.make(name)
	for _, d := range diffs.children {
		if len(d.children) == 0 {
			grouped.make(d.key).value = d.value
			continue
		}
		arg := grouped.make(d.key)
		arg.make("diff_type").value = []byte(`"argument_diff"`)
		s, ds := arg.make("sames"), arg.make("diffs")
		if sames != nil {
			if same := sames.child(d.key); same != nil {
				direct(s, same, "", deep)
				if moved == nil {
					moved = map[string]bool{}
				}
				moved[d.key] = true
			}
		}
		direct(ds, d, "", deep)
	}
	if moved != nil {
		sames.children = slices.DeleteFunc(sames.children, func(c *outNode) bool { return moved[c.key] })
		sames.byKey = nil
	}
	if sames != nil && len(sames.children) == 0 {
		r.sames.remove(name)
	}
}

// direct copies the leaves of an argument that are its own fields; with deep also those further inside.
func direct(to, from *outNode, path string, deep bool) {
	for _, c := range from.children {
		if len(c.children) == 0 {
			to.make(path + c.key).value = c.value
		} else if deep {
			direct(to, c, path+c.key+".", deep)
		}
	}
}
