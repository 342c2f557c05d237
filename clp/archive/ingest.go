package archive

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// leaf is a value of a record on its way into a column. What it means depends on the type of the node.
type leaf struct {
	node   int32
	bits   uint64
	second uint64
	from   int // of its text in ingest.text
	to     int
}

// ingest takes a record apart. It knows that the text is valid JSON.
type ingest struct {
	w      *Writer
	b      []byte
	pos    int
	leaves []leaf
	key    []byte // tokens of the record: see side
	text   []byte // of strings, unescaped, and of arrays and numbers
	name   []byte
	msg    encoding.Message
	number []byte
}

func (g *ingest) begin(w *Writer) {
	g.w, g.leaves, g.key, g.text = w, g.leaves[:0], g.key[:0], g.text[:0]
}

func (g *ingest) record(line []byte) {
	g.b, g.pos = line, 0
	g.space()
	g.object(nodeObject, g.w.options.TimeKey)
	g.b = nil
}

func (g *ingest) space() {
	for g.pos < len(g.b) {
		switch g.b[g.pos] {
		case ' ', '\t', '\r', '\n':
			g.pos++
		default:
			return
		}
	}
}

// object reads an object whose node is id. time is what is left of the time's path, nil if it leads elsewhere.
func (g *ingest) object(id int32, time []string) {
	g.pos++ // {
	g.space()
	if g.b[g.pos] == '}' {
		g.pos++
		g.leaf(leaf{node: id})
		return
	}
	if id != nodeObject {
		g.key = binary.LittleEndian.AppendUint32(g.key, uint32(id)<<1|tokenBegin)
	}
	for {
		g.name = g.unescape(g.name[:0])
		g.space()
		g.pos++ // :
		g.space()
		g.member(id, time)
		g.space()
		g.pos++ // , or }
		if g.b[g.pos-1] == '}' {
			return
		}
		g.space()
	}
}

func (g *ingest) leaf(l leaf) {
	g.leaves = append(g.leaves, l)
	g.key = binary.LittleEndian.AppendUint32(g.key, uint32(l.node)<<1)
}

// find returns the node of the key that was read last.
func (g *ingest) find(parent int32, typ NodeType) int32 {
	if id, ok := g.w.ids[nodeKey{parent, typ, unsafeString(g.name)}]; ok {
		return id
	}
	return g.w.node(parent, typ, string(g.name))
}

// member reads the value of the key that was read last, in the object parent.
func (g *ingest) member(parent int32, time []string) {
	switch {
	case len(time) > 0 && time[0] != string(g.name):
		time = nil
	case len(time) > 0:
		time = time[1:]
	default:
		time = nil
	}
	isTime := time != nil && len(time) == 0
	switch c := g.b[g.pos]; c {
	case '{':
		id := g.find(parent, Object)
		if len(time) == 0 {
			time = nil
		}
		g.object(id, time)
	case '[':
		from := g.pos
		g.skipArray()
		g.put(g.find(parent, UnstructuredArray), g.b[from:g.pos])
	case '"':
		raw := g.pos
		from := len(g.text)
		g.text = g.unescape(g.text)
		text := g.text[from:]
		if isTime {
			if l, ok := g.w.timeString(g.b[raw:g.pos]); ok {
				l.node = g.find(parent, Timestamp)
				g.leaf(l)
				return
			}
		}
		typ := VarString
		if slices.Contains(text, ' ') {
			typ = ClpString
		}
		g.leaf(leaf{node: g.find(parent, typ), from: from, to: len(g.text)})
	case 't', 'f':
		l := leaf{node: g.find(parent, Boolean)}
		g.pos += 5
		if c == 't' {
			g.pos--
			l.bits = 1
		}
		g.leaf(l)
	case 'n':
		g.pos += 4
		g.leaf(leaf{node: g.find(parent, Null)})
	default:
		from := g.pos
		for g.pos < len(g.b) && isNumberByte(g.b[g.pos]) {
			g.pos++
		}
		g.numeral(parent, g.b[from:g.pos], isTime)
	}
}

func isNumberByte(c byte) bool {
	return c-'0' <= 9 || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func (g *ingest) put(id int32, text []byte) {
	from := len(g.text)
	g.text = append(g.text, text...)
	g.leaf(leaf{node: id, from: from, to: len(g.text)})
}

// numeral reads a number: as a time, an integer, a float whose spelling its format restores, or as its text.
func (g *ingest) numeral(parent int32, text []byte, isTime bool) {
	if isTime {
		if l, ok := g.w.timeNumber(text); ok {
			l.node = g.find(parent, Timestamp)
			g.leaf(l)
			return
		}
	}
	if i, err := strconv.ParseInt(unsafeString(text), 10, 64); err == nil && (i != 0 || text[0] != '-') {
		g.leaf(leaf{node: g.find(parent, Integer), bits: uint64(i)})
		return
	}
	if v, err := strconv.ParseFloat(unsafeString(text), 64); err == nil {
		if format, ok := floatFormat(text); ok {
			g.number, err = appendFormatted(g.number[:0], v, format)
			if err == nil && string(g.number) == string(text) {
				g.leaf(leaf{node: g.find(parent, FormattedFloat), bits: math.Float64bits(v), second: uint64(format)})
				return
			}
		}
	}
	g.put(g.find(parent, DictionaryFloat), text)
}

// skipArray goes behind the array that begins here.
func (g *ingest) skipArray() {
	depth := 0
	for {
		switch g.b[g.pos] {
		case '"':
			g.skipString()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		g.pos++
		if depth == 0 {
			return
		}
	}
}

func (g *ingest) skipString() {
	for g.pos++; g.b[g.pos] != '"'; g.pos++ {
		if g.b[g.pos] == '\\' {
			g.pos++
		}
	}
	g.pos++
}

// unescape appends what the string that begins here says. Halves of surrogate pairs become U+FFFD; other bytes are kept,
// whether or not they are UTF-8.
func (g *ingest) unescape(dst []byte) []byte {
	from := g.pos + 1
	g.skipString()
	raw := g.b[from : g.pos-1]
	if !slices.Contains(raw, '\\') {
		return append(dst, raw...)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hexRune(raw[i+1:])
			i += 4
			if 0xD800 <= r && r < 0xE000 {
				low := rune(-1)
				if r < 0xDC00 && len(raw) >= i+7 && raw[i+1] == '\\' && raw[i+2] == 'u' {
					low = hexRune(raw[i+3:])
				}
				if 0xDC00 <= low && low < 0xE000 {
					r = 0x10000 + (r-0xD800)<<10 + low - 0xDC00
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func hexRune(b []byte) rune {
	v, err := strconv.ParseUint(unsafeString(b[:4]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(v)
}
