package analysis

import (
	"bytes"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/srcmap"
)

type loop struct{ start, end int }

// innerLoop returns the first loop, in the order in which loops end, that holds no other loop. Lines count from 0.
func innerLoop(lines [][]byte) (loop, bool) {
	type open struct{ start, depth int }
	var stack []open
	depth := 0
	for i, line := range lines {
		if bytes.Contains(line, []byte("scf.for")) {
			stack = append(stack, open{i, depth})
		}
		depth += bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("}"))
		if len(stack) > 0 && depth <= stack[len(stack)-1].depth {
			// A loop that holds another ends after it, so the first to end holds none.
			return loop{stack[len(stack)-1].start, i}, true
		}
	}
	return loop{}, false
}

func containsAny(line []byte, subs ...string) bool {
	for _, s := range subs {
		if bytes.Contains(line, []byte(s)) {
			return true
		}
	}
	return false
}

// AppendLoopSchedules appends where the loads and dot products of the TTIR's first inner loop ended up in the TTGIR:
// before its loop, in it, or behind it, as lines of the Python source where they are known. The result is false, and
// dst unchanged, if either text has no loop.
func AppendLoopSchedules(dst []byte, ttir, ttgir []byte, b *srcmap.Builder, python js.Value) ([]byte, bool) {
	if !bytes.Contains(ttir, []byte("scf.for")) {
		return dst, false
	}
	tl, gl := bytes.Split(ttir, []byte{'\n'}), bytes.Split(ttgir, []byte{'\n'})
	from, ok := innerLoop(tl)
	if !ok {
		return dst, false
	}
	to, ok := innerLoop(gl)
	if !ok {
		return dst, false
	}
	var code [][]byte
	start, hasStart := python.Get("start_line").Int()
	if hasStart {
		code = bytes.Split(python.Get("code").AppendStr(nil), []byte{'\n'})
	}
	ts, gs := b.Stage("ttir"), b.Stage("ttgir")
	type op struct {
		line int
		text []byte
	}
	var parts [3][]op
	for i := from.start; i <= from.end && ts != nil && gs != nil; i++ {
		if !containsAny(tl[i], "tt.load ", "tt.dot ") {
			continue
		}
		e := ts.At(i + 1)
		if e == nil {
			continue
		}
		for _, n := range b.Lines(ts, e, gs) {
			g := int(n) - 1
			if g >= len(gl) || !containsAny(gl[g], "tt.load ", "tt.dot ", "async_copy_global_to_local ", "warp_group_dot ") {
				continue
			}
			text := bytes.TrimSpace(gl[g])
			if ge := gs.At(g + 1); ge != nil {
				if at := int64(ge.Line()) - start; at >= 0 && at < int64(len(code)) {
					text = bytes.TrimSpace(code[at])
				}
			}
			part := 1
			if g < to.start {
				part = 0
			} else if g > to.end {
				part = 2
			}
			ops := parts[part]
			j := len(ops)
			for j > 0 && ops[j-1].line > g {
				j--
			}
			ops = append(ops, op{})
			copy(ops[j+1:], ops[j:])
			ops[j] = op{g, text}
			parts[part] = ops
		}
	}
	dst = append(dst, `[{`...)
	for i, name := range [...]string{"prologue", "loop_body", "epilogue"} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(js.AppendString(dst, name), ':', '[')
		for j, o := range parts[i] {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = js.AppendString(dst, string(o.text))
		}
		dst = append(dst, ']')
	}
	return append(dst, `}]`...), true
}
