package srcmap

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
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

	call        bool   // MLIR: a call site
	a, b        int32  // MLIR: the ids of a call site's callee and caller, or a is that of an alias
	name        string // MLIR: of an alias
	aliased     bool
	definition  bool  // the line defines a location and is not code
	inlined     bool  // LLVM: root is written out
	full, short int32 // groups of equal places, with and without column
}

// Line returns the source line.
func (e *Entry) Line() int { return int(e.line) }

// Stage is the mapping of one stage.
type Stage struct {
	Name     string
	Notation Notation
	Entries  []Entry // in the order in which they were found
	index    []int32 // 1 + index into Entries, by line

	full, short lineGroups

	// What repeats in the JSON of the entries, for the compressor: by group of equal places what stands before and
	// behind the stage's own line; names of members.
	heads, tails    []repeat.Piece
	ownLine, listOf repeat.Piece
}

// lineGroups are the lines of a stage by group of equal places, and how they are written.
type lineGroups struct {
	start []int32 // where the lines of a group begin in lines
	lines []int32
	text  []repeat.Piece // of the groups, as they are written
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
	Warnings []string // things a stage said that make no sense, such as a call site of nothing; each once

	free   []*Stage
	files  []file
	byName map[string]int32
	byBase map[string]int32
	mlir   mlirReader
	groups map[place]int32
	py     pythonTable

	column, callee, caller, alias, id, inFile, inLine repeat.Piece
}

type file struct {
	name  string
	entry []byte // how an entry begins
	quote []byte
	piece repeat.Piece
}

// Reset empties b and keeps its memory.
func (b *Builder) Reset() {
	b.free = append(b.free, b.Stages...)
	b.Stages, b.Warnings, b.files = b.Stages[:0], nil, b.files[:0]
	clear(b.byName)
	clear(b.byBase)
}

func (b *Builder) stage(name string, n Notation) *Stage {
	var s *Stage
	if len(b.free) > 0 {
		s, b.free = b.free[len(b.free)-1], b.free[:len(b.free)-1]
		s.Entries, s.index = s.Entries[:0], s.index[:0]
	} else {
		s = &Stage{}
	}
	s.Name, s.Notation = name, n
	return s
}

// Add maps the text of a stage. A stage in which nothing is mapped is left out. Text may be changed after Add returns.
func (b *Builder) Add(n Notation, name string, text []byte) {
	s := b.stage(name, n)
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

func (b *Builder) warn(msg string) {
	if !slices.Contains(b.Warnings, msg) {
		b.Warnings = append(b.Warnings, msg)
	}
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
	quote := js.AppendString(nil, s)
	b.files = append(b.files, file{name: s, quote: quote, entry: append(append([]byte(`":{"file":`), quote...), `,"line":`...)})
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
		var last *Entry
		for i := range s.Entries {
			e := &s.Entries[i]
			if last != nil && last.place == e.place {
				e.full, e.short = last.full, last.short
			} else {
				e.full = group(e.place)
				if sass {
					e.short = group(place{e.file, e.line, -1})
				}
			}
			last = e
		}
	}
	for _, s := range b.Stages {
		s.heads, s.tails = resize(s.heads, len(b.groups)), resize(s.tails, len(b.groups))
		s.full.fill(s, len(b.groups), func(e *Entry) int32 { return e.full })
		if sass {
			s.short.fill(s, len(b.groups), func(e *Entry) int32 { return e.short })
		}
	}
}

// fill sorts the lines of s by group; within a group they ascend.
func (g *lineGroups) fill(s *Stage, groups int, of func(e *Entry) int32) {
	g.start = resize(g.start, groups+2)
	g.text = resize(g.text, groups)
	g.lines = resize(g.lines, len(s.Entries))
	for i := range s.Entries {
		g.start[of(&s.Entries[i])+2]++
	}
	for i := 2; i < len(g.start); i++ {
		g.start[i] += g.start[i-1]
	}
	for _, at := range s.index {
		if at > 0 {
			e := &s.Entries[at-1]
			k := of(e) + 1
			g.lines[g.start[k]] = e.At
			g.start[k]++
		}
	}
}

func (g *lineGroups) of(group int32) []int32 { return g.lines[g.start[group]:g.start[group+1]] }

// resize returns a zeroed slice of n elements, in the memory of s if it is enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}

// Lines returns the lines of stage other that came from the same place as e, a line of stage s.
func (b *Builder) Lines(s *Stage, e *Entry, other *Stage) []int32 {
	if s.Notation == SASS || other.Notation == SASS {
		return other.short.of(e.short)
	}
	return other.full.of(e.full)
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
