package analysis

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Static is what the TTIR alone says about one program instance (a "CTA"). It is an estimate: loops are counted once.
type Static struct {
	Gemm        bool
	Bytes       int64 // moved, if BytesKnown
	BytesKnown  bool
	Load, Store int64 // parts of Bytes
	Flops       int64 // if FlopsKnown
	FlopsKnown  bool
	Notes       []string
}

const maxNotes = 20

// Dot is the shape of a kernel's first tt.dot: an M×K by K×N product.
type Dot struct {
	M, N, K       int64
	Input, Output string // element types
}

// FirstDot finds the shape of the first tt.dot whose types can be read:
//
//	tt.dot … : tensor<MxKxINPUT…> * tensor<KxNxINPUT…> -> tensor<MxNxOUTPUT…>
func FirstDot(ir []byte) (Dot, bool) {
	for {
		i := bytes.Index(ir, []byte("tt.dot"))
		if i < 0 {
			return Dot{}, false
		}
		ir = ir[i+len("tt.dot"):]
		a, rest, ok := tensorBehind(ir, ":")
		if !ok {
			continue
		}
		_, rest, ok = tensorBehind(rest, "*")
		if !ok {
			continue
		}
		if c, _, ok := tensorBehind(rest, "->"); ok {
			return Dot{c.rows, c.columns, a.columns, string(a.element), string(c.element)}, true
		}
	}
}

type tensor struct {
	rows, columns int64
	element       []byte
}

// tensorBehind reads the two-dimensional tensor type that stands right behind the first mark, whose first byte must not
// occur before it.
func tensorBehind(s []byte, mark string) (t tensor, rest []byte, ok bool) {
	i := bytes.IndexByte(s, mark[0])
	if i < 0 || !bytes.HasPrefix(s[i:], []byte(mark)) {
		return t, nil, false
	}
	s, ok = bytes.CutPrefix(bytes.TrimLeft(s[i+len(mark):], " \t\r\n"), []byte("tensor<"))
	if !ok {
		return t, nil, false
	}
	for _, n := range [...]*int64{&t.rows, &t.columns} {
		j := 0
		for ; j < len(s) && s[j] >= '0' && s[j] <= '9' && *n < 1<<31; j++ {
			*n = *n*10 + int64(s[j]-'0')
		}
		if j == 0 || j >= len(s) || s[j] != 'x' {
			return t, nil, false
		}
		s = s[j+1:]
	}
	j := 0
	for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j]|0x20 >= 'a' && s[j]|0x20 <= 'z') {
		j++
	}
	t.element = s[:j]
	return t, s[j:], j > 0
}

// elementBytes is searched in order for a name that the element type contains.
var elementBytes = []struct {
	name string
	size int64
}{
	{"f8e4m3fnuz", 1}, {"f8e5m2fnuz", 1}, {"f8e4m3fn", 1}, {"f8e5m2", 1}, {"bfloat16", 2}, {"bf16", 2}, {"fp16", 2}, {"fp32", 4},
	{"fp64", 8}, {"f16", 2}, {"f32", 4}, {"f64", 8}, {"int8", 1}, {"int16", 2}, {"int32", 4}, {"int64", 8}, {"i16", 2}, {"i32", 4},
	{"i64", 8}, {"i8", 1},
}

// ReadStatic reads the TTIR of a kernel.
func ReadStatic(ttir []byte) Static {
	s := Static{Gemm: bytes.Contains(ttir, []byte("tt.dot")), BytesKnown: true}
	note := func(text string) {
		if len(s.Notes) < maxNotes {
			s.Notes = append(s.Notes, text)
		} else if len(s.Notes) == maxNotes {
			s.Notes = append(s.Notes, "... (truncated)")
		}
	}
	rest := ttir
	for {
		i := bytes.Index(rest, []byte("tt."))
		if i < 0 {
			break
		}
		from := bytes.LastIndexByte(rest[:i], '\n') + 1
		line := rest[from:]
		if nl := bytes.IndexByte(rest[i:], '\n'); nl >= 0 {
			line, rest = rest[from:i+nl], rest[i+nl+1:]
		} else {
			rest = nil
		}
		store := bytes.Contains(line, []byte("tt.store"))
		if !store && !bytes.Contains(line, []byte("tt.load")) {
			continue
		}
		n, ok := accessBytes(line)
		switch {
		case !ok:
			s.BytesKnown = false
			note("could not read the type of: " + strings.ToValidUTF8(string(bytes.TrimSpace(line[:min(len(line), 200)])), "?"))
		case store:
			s.Store += n
		default:
			s.Load += n
		}
	}
	s.Bytes = s.Load + s.Store
	if s.Gemm {
		if d, ok := FirstDot(ttir); ok {
			s.Flops, s.FlopsKnown = 2*d.M*d.N*d.K, d.M < 1<<20 && d.N < 1<<20 && d.K < 1<<20
		} else {
			note("could not read the shape of tt.dot")
		}
		if n := linesWith(ttir, "tt.dot"); n > 1 {
			note(fmt.Sprintf("%d tt.dot found; flops_per_cta counts first dot only", n))
		}
		note("gemm flops/intensity omit the runtime reduction-loop trip count (lower bound)")
	}
	return s
}

// accessBytes reads "… : tensor<16x16x!tt.ptr<f16>> loc(…)".
func accessBytes(line []byte) (int64, bool) {
	i := bytes.LastIndex(line, []byte(" : "))
	if i < 0 {
		return 0, false
	}
	t := line[i+3:]
	if j := bytes.Index(t, []byte(" loc")); j >= 0 {
		t = t[:j]
	}
	t, ok := bytes.CutPrefix(bytes.TrimSpace(t), []byte("tensor<"))
	if !ok {
		return 0, false
	}
	dims, elem, ok := bytes.Cut(t, []byte("x!tt.ptr<"))
	if !ok {
		return 0, false
	}
	elem, ok = bytes.CutSuffix(elem, []byte(">>"))
	if !ok || len(elem) == 0 {
		return 0, false
	}
	n := int64(1)
	for d := range bytes.SplitSeq(dims, []byte{'x'}) {
		v, err := strconv.ParseUint(string(d), 10, 31)
		if err != nil || v > 0 && n > 1<<50/int64(v) {
			return 0, false
		}
		n *= int64(v)
	}
	low := bytes.ToLower(elem)
	for _, c := range low {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return 0, false
		}
	}
	for _, e := range elementBytes {
		if bytes.Contains(low, []byte(e.name)) {
			return n * e.size, true
		}
	}
	return 0, false
}
