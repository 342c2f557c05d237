package srcmap

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// Notation is how a stage says where a line came from.
type Notation uint8

// The notations.
const (
	MLIR Notation = iota
	LLVM
	PTX
	AMDGCN
	SASS
)

// place is a position in a source file. Lines and columns count from 1; compilers use 0 for what they made up.
type place struct {
	file      int32 // index into Builder.files
	line, col int32
}

// Entry maps one line of a stage.
type Entry struct {
	At    int32 // the line of the stage, from 1
	place       // where it came from
	root  place // where the outermost call stands that this line was inlined for; file is -1 if there is none

	callsite       bool
	callee, caller string // MLIR location ids of a call site
	alias, id      string // MLIR: name and id of an alias
	definition     bool   // the line defines a location and is not code
	inlined        bool   // LLVM: root is written out
	full, short    int32  // groups of equal places, with and without column
}

// Line returns the source line.
func (e *Entry) Line() int { return int(e.line) }

// Stage is the mapping of one stage.
type Stage struct {
	Name     string
	Notation Notation
	Entries  []Entry // in the order in which they were found
	index    []int32 // 1 + index into Entries, by line
	lists    map[int32][]int32
	text     map[int32][]byte // lists as JSON members
	short    map[int32][]int32
	shortTxt map[int32][]byte
}

// At returns the entry for a line of the stage, nil if it has none.
func (s *Stage) At(line int) *Entry {
	if line < 0 || line >= len(s.index) || s.index[line] == 0 {
		return nil
	}
	return &s.Entries[s.index[line]-1]
}

func (s *Stage) add(e Entry) {
	for int(e.At) >= len(s.index) {
		s.index = append(s.index, 0)
	}
	s.Entries = append(s.Entries, e)
	s.index[e.At] = int32(len(s.Entries))
}

// Builder collects the stages of one compilation. The zero Builder is ready; Reset makes it ready again.
type Builder struct {
	Stages   []*Stage
	Warnings []string // things a stage said that make no sense, such as a call site of nothing

	free    []*Stage
	files   []file
	byName  map[string]int32
	byBase  map[string]int32
	mlir    mlirReader
	groups  map[place]int32
	quoting []byte
}

type file struct{ name, quoted string }

// Reset empties b and keeps its memory.
func (b *Builder) Reset() {
	b.free = append(b.free, b.Stages...)
	b.Stages, b.Warnings, b.files = b.Stages[:0], nil, b.files[:0]
	clear(b.byName)
	clear(b.byBase)
}

func (b *Builder) stage(name string, n Notation, text []byte) *Stage {
	var s *Stage
	if len(b.free) > 0 {
		s, b.free = b.free[len(b.free)-1], b.free[:len(b.free)-1]
		s.Entries, s.index = s.Entries[:0], s.index[:0]
		clear(s.lists)
		clear(s.text)
		clear(s.short)
		clear(s.shortTxt)
	} else {
		s = &Stage{lists: map[int32][]int32{}, text: map[int32][]byte{}, short: map[int32][]int32{}, shortTxt: map[int32][]byte{}}
	}
	s.Name, s.Notation = name, n
	return s
}

// Add maps the text of a stage. A stage in which nothing is mapped is left out. Text may be changed after Add returns.
func (b *Builder) Add(n Notation, name string, text []byte) {
	s := b.stage(name, n, text)
	switch n {
	case MLIR:
		b.addMLIR(s, text)
	case LLVM:
		b.addLLVM(s, text)
	case PTX, AMDGCN:
		b.addAsm(s, text, n)
	case SASS:
		b.addSASS(s, text)
	}
	if len(s.Entries) == 0 {
		b.free = append(b.free, s)
		return
	}
	b.Stages = append(b.Stages, s)
}

// Stage returns the stage of that name, nil if nothing of it is mapped.
func (b *Builder) Stage(name string) *Stage {
	for _, s := range b.Stages {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func (b *Builder) fileID(name []byte) int32 {
	if id, ok := b.byName[string(name)]; ok {
		return id
	}
	if b.byName == nil {
		b.byName, b.byBase = map[string]int32{}, map[string]int32{}
	}
	id := int32(len(b.files))
	s := string(name)
	b.files = append(b.files, file{s, string(js.AppendString(nil, s))})
	b.byName[s] = id
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		if _, ok := b.byBase[s[i+1:]]; !ok {
			b.byBase[s[i+1:]] = id
		}
	}
	return id
}

// resolve is fileID for names that may lack their folder: a bare name stands for the first file of that base name.
func (b *Builder) resolve(name []byte) int32 {
	if bytes.IndexByte(name, '/') < 0 {
		if id, ok := b.byBase[string(name)]; ok {
			return id
		}
	}
	return b.fileID(name)
}

// Join groups the lines of all stages by place. Call it once, after the last Add.
func (b *Builder) Join() {
	if b.groups == nil {
		b.groups = map[place]int32{}
	}
	clear(b.groups)
	group := func(p place) int32 {
		id, ok := b.groups[p]
		if !ok {
			id = int32(len(b.groups))
			b.groups[p] = id
		}
		return id
	}
	sass := false
	for _, s := range b.Stages {
		sass = sass || s.Notation == SASS
	}
	for _, s := range b.Stages {
		for i := range s.Entries {
			e := &s.Entries[i]
			e.full = group(e.place)
			s.lists[e.full] = append(s.lists[e.full], e.At)
			if sass {
				e.short = group(place{e.file, e.line, -1})
				s.short[e.short] = append(s.short[e.short], e.At)
			}
		}
		for _, l := range s.lists {
			slices.Sort(l)
		}
		for _, l := range s.short {
			slices.Sort(l)
		}
	}
}

// Lines returns the lines of stage other that came from the same place as e, a line of stage s.
func (b *Builder) Lines(s *Stage, e *Entry, other *Stage) []int32 {
	if s.Notation == SASS || other.Notation == SASS {
		return other.short[e.short]
	}
	return other.lists[e.full]
}

// lineList returns `,"ptx_lines":[1,2]` for the lines of other that belong to e, nil if there are none.
func (b *Builder) lineList(s *Stage, e *Entry, other *Stage) []byte {
	lists, texts, g := other.lists, other.text, e.full
	if s.Notation == SASS || other.Notation == SASS {
		lists, texts, g = other.short, other.shortTxt, e.short
	}
	if t, ok := texts[g]; ok {
		return t
	}
	l := lists[g]
	if len(l) == 0 {
		return nil
	}
	t := append(append([]byte(`,"`), other.Name...), `_lines":[`...)
	for i, n := range l {
		if i > 0 {
			t = append(t, ',')
		}
		t = strconv.AppendInt(t, int64(n), 10)
	}
	t = append(t, ']')
	texts[g] = t
	return t
}

// Python says how the table from source lines to the lines of each stage is made.
type Python struct {
	Known bool   // there is a source; without one the table is empty
	File  string // the source's file. If it is set, lines of other files count for the call in File they were inlined for
}

// AppendJSON appends the mappings as one object: a member for each stage, and "python".
func (b *Builder) AppendJSON(dst []byte, py Python) []byte {
	dst = append(dst, '{')
	for _, s := range b.Stages {
		dst = append(append(append(dst, '"'), s.Name...), `":{`...)
		for i := range s.Entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = b.appendEntry(dst, s, &s.Entries[i])
		}
		dst = append(dst, `},`...)
	}
	dst = append(dst, `"python":{`...)
	if py.Known {
		dst = b.appendPython(dst, py.File)
	}
	return append(dst, `}}`...)
}

func (b *Builder) appendEntry(dst []byte, s *Stage, e *Entry) []byte {
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, int64(e.At), 10)
	dst = append(dst, `":{"file":`...)
	dst = append(dst, b.files[e.file].quoted...)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(e.line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(e.col), 10)
	dst = append(append(append(dst, `,"`...), s.Name...), `_line":`...)
	dst = strconv.AppendInt(dst, int64(e.At), 10)
	if e.definition {
		dst = append(dst, `,"kind":"loc_def"`...)
	}
	if e.callsite && !e.definition {
		dst = append(append(append(dst, `,"is_callsite":true,"callsite_callee":"`...), e.callee...), `","callsite_caller":"`...)
		dst = append(append(dst, e.caller...), '"')
	}
	if e.alias != "" {
		dst = append(dst, `,"alias_name":`...)
		dst = js.AppendString(dst, e.alias)
	}
	if e.id != "" {
		dst = append(append(append(dst, `,"loc_id":"`...), e.id...), '"')
	}
	if e.inlined {
		dst = append(dst, `,"inlined_at_file":`...)
		dst = append(dst, b.files[e.root.file].quoted...)
		dst = append(dst, `,"inlined_at_line":`...)
		dst = strconv.AppendInt(dst, int64(e.root.line), 10)
	}
	for _, o := range b.Stages {
		if o != s {
			dst = append(dst, b.lineList(s, e, o)...)
		}
	}
	return append(dst, '}')
}

func (b *Builder) appendPython(dst []byte, userFile string) []byte {
	type row struct {
		line  int32
		lists [][]int32
	}
	var rows []row
	at := map[int32]int{}
	for si, s := range b.Stages {
		for i := range s.Entries {
			e := &s.Entries[i]
			p := e.place
			if userFile != "" && !b.sameFile(p.file, userFile) {
				if e.root.file < 0 || !b.sameFile(e.root.file, userFile) {
					continue
				}
				p = e.root
			}
			r, ok := at[p.line]
			if !ok {
				r = len(rows)
				at[p.line] = r
				rows = append(rows, row{p.line, make([][]int32, len(b.Stages))})
			}
			rows[r].lists[si] = append(rows[r].lists[si], e.At)
		}
	}
	for i, r := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(r.line), 10)
		dst = append(dst, `":{`...)
		first := true
		for si, l := range r.lists {
			if len(l) == 0 {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(append(append(dst, '"'), b.Stages[si].Name...), `_lines":[`...)
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

// lines calls f with each line of text and its number from 1. Lines end at "\n" only.
func lines(text []byte, f func(n int32, line []byte)) {
	for n := int32(1); ; n++ {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			f(n, text)
			return
		}
		f(n, text[:i])
		text = text[i+1:]
	}
}

// number reads decimal digits at i. Numbers that do not fit are read as the largest.
func number(s []byte, i int) (n int32, end int, ok bool) {
	from := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if n < 1<<27 {
			n = n*10 + int32(s[i]-'0')
		}
	}
	return n, i, i > from
}

func skipSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\v' || s[i] == '\f') {
		i++
	}
	return i
}

func trimRight(s []byte) []byte { return bytes.TrimRight(s, " \t\r\v\f") }
