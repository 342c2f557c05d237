package srcmap

import (
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
)

// appendLineList appends `,"ptx_lines":[1,2]` with the lines of other that belong to e, nothing if there are none.
func (b *Builder) appendLineList(t *repeat.Text, s *Stage, e *Entry, other *Stage) {
	g, k := &other.full, e.full
	if s.Notation == SASS || other.Notation == SASS {
		g, k = &other.short, e.short
	}
	l := g.of(k)
	if len(l) == 0 || t.Again(&g.text[k]) {
		return
	}
	at := len(t.B)
	if !t.Again(&other.listOf) {
		t.B = append(append(append(t.B, `,"`...), other.Name...), `_lines":[`...)
		t.Note(&other.listOf, at)
	}
	for i, n := range l {
		if i > 0 {
			t.B = append(t.B, ',')
		}
		t.B = strconv.AppendInt(t.B, int64(n), 10)
	}
	t.B = append(t.B, ']')
	t.Note(&g.text[k], at)
}

// Python says how the table from source lines to the lines of each stage is made.
type Python struct {
	Known bool   // there is a source; without one the table is empty
	File  string // the source's file. If it is set, lines of other files count for the call in File they were inlined for
}

// AppendJSON appends the mappings as one object: a member for each stage, and "python". What repeats in it is marked, so
// the text must be fresh, and AppendJSON be called once between Join and Reset.
func (b *Builder) AppendJSON(t *repeat.Text, py Python) {
	b.column, b.callee, b.caller, b.alias = repeat.Piece{}, repeat.Piece{}, repeat.Piece{}, repeat.Piece{}
	b.id, b.inFile, b.inLine = repeat.Piece{}, repeat.Piece{}, repeat.Piece{}
	for _, s := range b.Stages {
		s.ownLine, s.listOf = repeat.Piece{}, repeat.Piece{}
	}
	t.B = append(t.B, '{')
	for _, s := range b.Stages {
		t.B = append(append(append(t.B, '"'), s.Name...), `":{`...)
		for i := range s.Entries {
			if i > 0 {
				t.B = append(t.B, ',')
			}
			b.appendEntry(t, s, &s.Entries[i])
		}
		t.B = append(t.B, `},`...)
	}
	t.B = append(t.B, `"python":{`...)
	if py.Known {
		t.B = b.appendPython(t.B, py.File)
	}
	t.B = append(t.B, `}}`...)
}

func (b *Builder) appendEntry(t *repeat.Text, s *Stage, e *Entry) {
	t.B = append(t.B, '"')
	t.B = strconv.AppendInt(t.B, int64(e.At), 10)
	if !t.Again(&s.heads[e.full]) {
		at := len(t.B)
		f := &b.files[e.file]
		t.Write(&f.piece, f.entry)
		t.B = strconv.AppendInt(t.B, int64(e.line), 10)
		t.Write(&b.column, []byte(`,"column":`))
		t.B = strconv.AppendInt(t.B, int64(e.col), 10)
		if !t.Again(&s.ownLine) {
			own := len(t.B)
			t.B = append(append(append(t.B, `,"`...), s.Name...), `_line":`...)
			t.Note(&s.ownLine, own)
		}
		t.Note(&s.heads[e.full], at)
	}
	t.B = strconv.AppendInt(t.B, int64(e.At), 10)
	if e.definition {
		t.B = append(t.B, `,"kind":"loc_def"`...)
	}
	if e.call && !e.definition {
		t.Write(&b.callee, []byte(`,"is_callsite":true,"callsite_callee":"`))
		t.B = appendID(t.B, e.a)
		t.Write(&b.caller, []byte(`","callsite_caller":"`))
		t.B = append(appendID(t.B, e.b), '"')
	}
	if e.aliased {
		if e.name != "" {
			t.Write(&b.alias, []byte(`,"alias_name":`))
			t.B = js.AppendString(t.B, e.name)
		}
		t.Write(&b.id, []byte(`,"loc_id":"`))
		t.B = append(appendID(t.B, e.a), '"')
	}
	if e.inlined {
		t.Write(&b.inFile, []byte(`,"inlined_at_file":`))
		t.B = append(t.B, b.files[e.root.file].quote...)
		t.Write(&b.inLine, []byte(`,"inlined_at_line":`))
		t.B = strconv.AppendInt(t.B, int64(e.root.line), 10)
	}
	if !t.Again(&s.tails[e.full]) {
		at := len(t.B)
		for _, o := range b.Stages {
			if o != s {
				b.appendLineList(t, s, e, o)
			}
		}
		t.B = append(t.B, '}')
		t.Note(&s.tails[e.full], at)
	}
}

// pythonTable is working memory: the lines of each stage by source line.
type pythonTable struct {
	row   map[int32]int32
	lines []int32 // source lines, in the order in which they were found
	of    []int32 // the row of each entry of each stage, -1 for none
	start []int32 // where the lines of a row and stage begin in at
	at    []int32
}

func (b *Builder) appendPython(dst []byte, userFile string) []byte {
	t, stages := &b.py, len(b.Stages)
	if t.row == nil {
		t.row = map[int32]int32{}
	}
	clear(t.row)
	t.lines, t.of = t.lines[:0], t.of[:0]
	for _, s := range b.Stages {
		last, lastRow := int32(-1), int32(0)
		for i := range s.Entries {
			e := &s.Entries[i]
			p := e.place
			if userFile != "" && !b.sameFile(p.file, userFile) {
				if e.root.file < 0 || !b.sameFile(e.root.file, userFile) {
					t.of = append(t.of, -1)
					continue
				}
				p = e.root
			}
			if p.line != last {
				r, ok := t.row[p.line]
				if !ok {
					r = int32(len(t.lines))
					t.row[p.line] = r
					t.lines = append(t.lines, p.line)
				}
				last, lastRow = p.line, r
			}
			t.of = append(t.of, lastRow)
		}
	}
	t.start = resize(t.start, len(t.lines)*stages+2)
	t.at = resize(t.at, len(t.of))
	each := func(f func(cell, at int32)) {
		n := 0
		for si, s := range b.Stages {
			for i := range s.Entries {
				if r := t.of[n]; r >= 0 {
					f(r*int32(stages)+int32(si), s.Entries[i].At)
				}
				n++
			}
		}
	}
	each(func(cell, _ int32) { t.start[cell+2]++ })
	for i := 2; i < len(t.start); i++ {
		t.start[i] += t.start[i-1]
	}
	each(func(cell, at int32) {
		t.at[t.start[cell+1]] = at
		t.start[cell+1]++
	})
	for r, line := range t.lines {
		if r > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(line), 10)
		dst = append(dst, `":{`...)
		first := true
		for si, s := range b.Stages {
			cell := r*stages + si
			l := t.at[t.start[cell]:t.start[cell+1]]
			if len(l) == 0 {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(append(append(dst, '"'), s.Name...), `_lines":[`...)
			for j, n := range l {
				if j > 0 {
					dst = append(dst, ',')
				}
				dst = append(dst, '"')
				dst = strconv.AppendInt(dst, int64(n), 10)
				dst = append(dst, '"')
			}
			dst = append(dst, ']')
		}
		dst = append(dst, '}')
	}
	return dst
}

func (b *Builder) sameFile(id int32, name string) bool {
	f := b.files[id].name
	return f == name || strings.IndexByte(f, '/') < 0 && strings.HasSuffix(name, "/"+f)
}
