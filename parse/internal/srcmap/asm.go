package srcmap

import (
	"bytes"
)

// addAsm maps the first function of a PTX or AMDGCN text.
func (b *Builder) addAsm(s *Stage, text []byte, n Notation) {
	const before, inside, after = 0, 1, 2
	state := before
	current := Entry{root: place{file: -1}}
	have := false
	lines(text, func(at int32, line []byte) {
		switch state {
		case before:
			if functionMark(line, "Begin function") {
				state = inside
			}
			return
		case after:
			return
		}
		if functionMark(line, "End function") {
			state = after
		}
		ok := false
		if n == PTX {
			ok = b.ptxLoc(line, &current)
		} else {
			ok = b.amdLoc(line, &current)
		}
		if !ok {
			t := bytes.TrimSpace(line)
			if len(t) == 0 || n == PTX && bytes.HasPrefix(t, []byte("//")) || n == AMDGCN && t[0] == ';' {
				return
			}
		}
		if have = have || ok; have {
			current.At = at
			s.add(current)
		}
	})
	if state != after {
		b.warn(s.Name + ": no function begin and end; nothing is mapped")
		s.Entries = s.Entries[:0]
	}
}

// functionMark reports whether a line holds "-- Begin function" or "-- End function" in a comment, perhaps behind a
// .globl directive.
func functionMark(line []byte, mark string) bool {
	i := bytes.Index(line, []byte(mark))
	if i < 0 {
		return false
	}
	t, ok := bytes.CutSuffix(trimRight(line[:i]), []byte("--"))
	if !ok {
		return false
	}
	comment := func(t []byte) bool { return bytes.HasSuffix(t, []byte("//")) || bytes.HasSuffix(t, []byte(";")) }
	u := trimRight(t)
	if comment(u) {
		return true
	}
	if mark == "End function" || len(u) == len(t) {
		return false
	}
	j := len(u)
	for j > 0 && u[j-1] != ' ' && u[j-1] != '\t' {
		j--
	}
	v := trimRight(u[:j])
	w, ok := bytes.CutSuffix(v, []byte(".globl"))
	return ok && len(v) < j && comment(trimRight(w))
}

// ptxLoc reads `.loc FILE LINE COLUMN // name:LINE:COLUMN @[ caller:LINE:COLUMN ]`.
func (b *Builder) ptxLoc(line []byte, e *Entry) bool {
	i := skipSpace(line, 0)
	if !bytes.HasPrefix(line[i:], []byte(".loc")) {
		return false
	}
	nums, i, ok := threeNumbers(line, i+4)
	if !ok {
		return false
	}
	j := skipSpace(line, i)
	if j == i || !bytes.HasPrefix(line[j:], []byte("//")) {
		return false
	}
	return b.locComment(line[j+2:], nums, e)
}

// amdLoc reads `.loc FILE LINE COLUMN is_stmt 0 ; name:LINE:COLUMN`.
func (b *Builder) amdLoc(line []byte, e *Entry) bool {
	if bytes.IndexByte(line, ';') < 0 {
		return false
	}
	rest := line
	for range maxTries {
		i := bytes.LastIndex(rest, []byte("loc"))
		if i < 0 {
			return false
		}
		if nums, j, ok := threeNumbers(line, i+3); ok {
			if k := bytes.IndexByte(line[j:], ';'); k >= 0 && (k == 0 || line[j] == ' ' || line[j] == '\t') {
				if b.locComment(line[j+k+1:], nums, e) {
					return true
				}
			}
		}
		rest = rest[:i]
	}
	return false
}

// maxTries bounds the places of a line at which a directive is looked for.
const maxTries = 64

func threeNumbers(s []byte, i int) (n [3]int32, end int, ok bool) {
	for k := range n {
		j := skipSpace(s, i)
		if j == i {
			return n, i, false
		}
		if n[k], i, ok = number(s, j); !ok {
			return n, i, false
		}
	}
	return n, i, true
}

// locComment takes the file from the comment of a .loc directive; line and column are the directive's own.
func (b *Builder) locComment(c []byte, nums [3]int32, e *Entry) bool {
	name, rest, ok := position(c)
	if !ok {
		return false
	}
	e.place = place{b.resolve(name), nums[1], nums[2]}
	e.root = place{file: -1}
	for {
		i := bytes.Index(rest, []byte("@["))
		if i < 0 {
			return true
		}
		name, after, ok := position(rest[i+2:])
		if !ok {
			return true
		}
		var p place
		s := rest[i+2:]
		s = s[bytes.Index(s, name)+len(name):]
		var k int
		p.line, k, _ = number(s, 1)
		p.col, _, _ = number(s, k+1)
		p.file = b.resolve(name)
		e.root, rest = p, after
	}
}

// position reads `name:LINE:COLUMN`, the name as short as possible.
func position(s []byte) (name, rest []byte, ok bool) {
	s = s[skipSpace(s, 0):]
	for i := 1; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		_, j, ok := number(s, i+1)
		if !ok || j >= len(s) || s[j] != ':' {
			continue
		}
		if _, k, ok := number(s, j+1); ok {
			return s[:i], s[k:], true
		}
	}
	return nil, nil, false
}

// addSASS maps the listing of nvdisasm: comments name the place of the instructions below them, innermost call first.
func (b *Builder) addSASS(s *Stage, text []byte) {
	current := Entry{root: place{file: -1}}
	have, fresh := false, true // fresh: the next comment starts a block
	frames := 0
	lines(text, func(at int32, line []byte) {
		if bytes.Contains(line, []byte(".nv_debug_ptx_txt")) {
			return
		}
		t := bytes.TrimSpace(line)
		if p, ok := b.sassComment(t); ok {
			s.add(Entry{At: at, place: p, root: place{file: -1}})
			if fresh {
				current.place, current.root = p, place{file: -1}
				have, fresh, frames = true, false, 0
			}
			if frames++; frames > 1 {
				current.root = p
			}
			return
		}
		if have && isInstruction(t) {
			current.At = at
			s.add(current)
			fresh = true
		}
	})
}

// sassComment reads `//## File "F", line N`.
func (b *Builder) sassComment(t []byte) (place, bool) {
	name, ok := bytes.CutPrefix(t, []byte(`//## File "`))
	if !ok {
		return place{}, false
	}
	q := bytes.IndexByte(name, '"')
	if q <= 0 {
		return place{}, false
	}
	rest, ok := bytes.CutPrefix(name[q+1:], []byte(", line "))
	if !ok {
		return place{}, false
	}
	n, _, ok := number(rest, 0)
	return place{b.fileID(name[:q]), n, 0}, ok
}

// isInstruction reports whether a line holds an address comment such as /*00a0*/.
func isInstruction(t []byte) bool { _, ok := address(t); return ok }

func address(t []byte) (uint64, bool) {
	for {
		i := bytes.Index(t, []byte("/*"))
		if i < 0 {
			return 0, false
		}
		t = t[i+2:]
		var pc uint64
		j := 0
		for ; j < len(t); j++ {
			c := t[j]
			switch {
			case c >= '0' && c <= '9':
				c -= '0'
			case c >= 'a' && c <= 'f':
				c -= 'a' - 10
			case c >= 'A' && c <= 'F':
				c -= 'A' - 10
			default:
				c = 255
			}
			if c == 255 {
				break
			}
			pc = pc<<4 | uint64(c)
		}
		if j > 0 && bytes.HasPrefix(t[j:], []byte("*/")) {
			return pc, true
		}
	}
}
