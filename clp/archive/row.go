package archive

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// ErrUnfit is returned by [Row.Write] for a record of which only its line can say what it is: it has a key twice in an object,
// is nested too deep, or was not put together as a JSON object is. The record was not taken; Writer.Write takes the line, or
// says what is wrong with it.
var ErrUnfit = errors.New("archive: a record that must be written as a line")

// Row puts a record together from values, for a program that has those and would have to make JSON text of them. Members come in the
// order of the calls, between Open and Close those of an object. The archive is the same as if Write had been given the
// text that package event writes of the values. Bytes that are given to a Row must not change before its Write.
//
//	row := w.Row()
//	row.Time("time", now)
//	row.String("msg", msg)
//	row.Open("request")
//	row.Int("status", 200)
//	row.Close()
//	err := row.Write()
type Row struct {
	w       *Writer
	s       *state
	begun   bool
	unfit   bool
	auto    bool  // the keys of the other namespace have begun
	some    bool  // there were members before them
	known   int   // nodes before the record
	size    int64 // of its text
	objects []rowObject
	quoted  []byte
}

// rowObject is an object that is open.
type rowObject struct {
	node  int32
	path  []string // what is left of the time's path
	key   *slot    // of the object in the one around it
	some  bool     // it has members
	state *state   // in front of the object
}

// Row begins a record. There is one at a time: what was begun before and not written is forgotten.
func (w *Writer) Row() *Row {
	r := &w.row
	r.forget()
	if w.err != nil {
		r.unfit = true
		return r
	}
	w.ingest.reset(nil)
	r.s, r.begun, r.unfit, r.known, r.size = w.ingest.root, true, false, len(w.nodes), 1
	r.auto, r.some = false, false
	r.objects = append(r.objects[:0], rowObject{node: nodeObject, path: w.timePath(false), state: w.ingest.root})
	return r
}

// Auto says that the members which follow are those that the logging library made: see Writer.WriteAuto. The record itself has no
// others then.
func (r *Row) Auto() {
	if r.unfit || r.auto || len(r.objects) != 1 {
		r.unfit = true
		return
	}
	w := r.w
	r.auto, r.some = true, r.objects[0].some
	r.s = w.ingest.toAuto(r.s)
	r.objects[0] = rowObject{node: w.node(-1, Object, autoKey), path: w.timePath(true), state: r.s}
	r.size += int64(len("}{"))
}

// forget drops a record that was begun, with the nodes that only it had.
func (r *Row) forget() {
	if r.begun {
		r.begun = false
		r.w.forgetNodes(r.known)
	}
}

// key returns the slot of the next member's key and the node of the object that it is in, or nil if the row is unfit.
func (r *Row) key(name string) (*slot, int32) {
	if r.unfit {
		return nil, 0
	}
	o := &r.objects[len(r.objects)-1]
	if o.some {
		r.size++ // the comma
	}
	o.some = true
	for _, k := range r.s.slots {
		if k.name == name {
			r.size += int64(len(k.text))
			return k, o.node
		}
	}
	r.quoted = event.AppendString(r.quoted[:0], name)
	k := r.w.ingest.slot(r.s, r.quoted, o.path)
	r.size += int64(len(k.text))
	return k, o.node
}

// put adds a value.
func (r *Row) put(k *slot, node int32, typ NodeType, l leaf, size int) {
	g := &r.w.ingest
	g.leaves = append(g.leaves, l)
	r.s = g.to(r.s, k, node, uint8(typ))
	r.size += int64(size)
}

// Open begins an object, whose members follow up to Close.
func (r *Row) Open(key string) {
	k, node := r.key(key)
	if k == nil {
		return
	}
	if len(r.objects) == maxDepth {
		r.unfit = true
		return
	}
	before := r.s
	r.s = r.w.ingest.to(before, k, node, slotBegin)
	r.objects = append(r.objects, rowObject{node: int32(r.s.token >> 1), path: k.path, key: k, state: before})
	r.size++
}

// Close ends the object that was opened last.
func (r *Row) Close() {
	n := len(r.objects) - 1
	if r.unfit || n == 0 {
		r.unfit = true
		return
	}
	o := r.objects[n]
	r.objects = r.objects[:n]
	r.size++
	if o.some {
		r.s = r.w.ingest.leave(r.s)
		return
	}
	r.s = r.w.ingest.to(o.state, o.key, r.objects[n-1].node, uint8(Object))
}

// Int adds an integer.
func (r *Row) Int(key string, v int64) {
	k, node := r.key(key)
	switch {
	case k == nil:
	case k.time:
		r.text(k, node, strconv.AppendInt(nil, v, 10))
	default:
		r.put(k, node, Integer, leaf{bits: uint64(v)}, decimalLength(v))
	}
}

// Float adds a number as event.AppendFloat writes it: without a fraction if it is whole, and as a string if it is none.
func (r *Row) Float(key string, v float64) {
	if i := int64(v); float64(i) == v && i > -1<<53 && i < 1<<53 && (i != 0 || !math.Signbit(v)) {
		r.Int(key, i)
		return
	}
	k, node := r.key(key)
	if k == nil {
		return
	}
	// A number with six decimals at most and 15 digits in all: its digits are counted, and the text that they make is not needed.
	abs := math.Abs(v)
	if n := uint64(abs*1e6 + 0.5); !k.time && abs >= 1e-6 && abs < 1e9 && float64(n)/1e6 == abs {
		size := decimalLength(int64(n/1e6)) + 7
		for n%10 == 0 {
			n /= 10
			size--
		}
		if v < 0 {
			size++
		}
		r.put(k, node, FormattedFloat, leaf{bits: math.Float64bits(v), second: uint64(decimalLength(int64(n))-1) << 5}, size)
		return
	}
	g := &r.w.ingest
	from := len(g.text)
	g.text = event.AppendFloat(g.text, v)
	r.text(k, node, g.text[from:len(g.text):len(g.text)])
}

// Bool adds true or false.
func (r *Row) Bool(key string, v bool) {
	if k, node := r.key(key); k != nil {
		l, size := leaf{}, len("false")
		if v {
			l.bits, size = 1, len("true")
		}
		r.put(k, node, Boolean, l, size)
	}
}

// Null adds a member without a value.
func (r *Row) Null(key string) {
	if k, node := r.key(key); k != nil {
		r.s = r.w.ingest.to(r.s, k, node, uint8(Null))
		r.size += int64(len("null"))
	}
}

// String adds a string. Bytes that are not UTF-8 become U+FFFD.
func (r *Row) String(key string, text []byte) {
	k, node := r.key(key)
	if k == nil {
		return
	}
	g := &r.w.ingest
	space, plain := scanText(text)
	size := len(text) + 2
	if k.time || !plain {
		r.quoted = event.AppendString(r.quoted[:0], unsafeString(text))
		size = len(r.quoted)
		if k.time {
			if l, ok := r.w.times.string(r.quoted); ok {
				r.put(k, node, Timestamp, l, size)
				return
			}
		}
		if !utf8.Valid(text) {
			text = g.unescaped(r.quoted[1 : size-1])
		}
	}
	if space {
		g.texts++
		r.put(k, node, ClpString, leaf{text: text}, size)
		return
	}
	r.put(k, node, VarString, leaf{text: text}, size)
}

// Raw adds a value as JSON text: an array, or a number that is neither an int64 nor a float64.
func (r *Row) Raw(key string, text []byte) {
	if k, node := r.key(key); k != nil {
		r.text(k, node, text)
	}
}

// text adds a value as JSON text.
func (r *Row) text(k *slot, node int32, text []byte) {
	g := &r.w.ingest
	g.b = text
	from := jsontext.SkipSpace(text, 0)
	s, end := g.value(r.s, k, from, node, len(r.objects))
	if end < 0 || jsontext.SkipSpace(text, end) != len(text) {
		r.unfit = true
		return
	}
	r.s = s
	r.size += int64(end - from)
}

// Time adds a time as a string in the form of RFC 3339, with as many digits of the second as it has.
func (r *Row) Time(key string, t time.Time) {
	k, node := r.key(key)
	if k == nil {
		return
	}
	_, zone := t.Zone()
	ns := int64(t.Nanosecond())
	f := rfcForm{zone: int32(zone)}
	// Of these times the text names the zone whole, and the year has four digits.
	quick := k.time && zone%60 == 0 && t.Unix() >= 0 && t.Unix() < 1<<33
	if quick {
		f.decimals = decimals(ns)
		if id, ok := r.w.times.rfc(f); ok {
			size := len(`"2006-01-02T15:04:05Z"`)
			if zone != 0 {
				size += len("+00:00") - 1
			}
			if f.decimals > 0 {
				size += 1 + int(f.decimals)
			}
			r.put(k, node, Timestamp, leaf{bits: uint64(t.Unix()*1e9 + ns), second: id}, size)
			return
		}
	}
	r.quoted = append(t.AppendFormat(append(r.quoted[:0], '"'), time.RFC3339Nano), '"')
	g := &r.w.ingest
	from := len(g.text)
	g.text = append(g.text, r.quoted...)
	before := len(g.leaves)
	r.text(k, node, g.text[from:len(g.text):len(g.text)])
	if quick && r.s.token&tokenBegin == 0 && r.w.nodes[r.s.token>>1].Type == Timestamp {
		r.w.times.learn(f, g.leaves[before].second)
	}
}

// Len returns the length of the record's JSON text, when all members are added, also behind Write. With those of Auto, it is that
// of both objects.
func (r *Row) Len() int64 { return r.size + 1 }

// Write adds the record to the archive. If it is not taken, because of ErrFull, ErrUnfit, or an error of the writer, it is
// forgotten.
func (r *Row) Write() error {
	w := r.w
	defer r.forget()
	switch {
	case w.err != nil:
		return w.err
	case !r.begun || r.unfit || len(r.objects) != 1:
		return ErrUnfit
	}
	g := &w.ingest
	end := r.s
	if r.auto && !r.objects[0].some {
		end = end.from // nothing came
	}
	if !r.objects[0].some && !r.some {
		end = g.empty(end)
	}
	size := r.Len()
	if err := w.admit(size); err != nil {
		return err
	}
	if g.odd || end.shape == nil && g.twice(end) {
		return ErrUnfit
	}
	return w.take(end, nil, nil, size)
}

// twice reports whether a record that ends in s has a key twice.
func (g *ingest) twice(s *state) bool {
	g.tokens(s)
	seen := make(map[uint32]bool, len(g.key)/4)
	for i := 0; i < len(g.key); i += 4 {
		token := binary.LittleEndian.Uint32(g.key[i:])
		if seen[token] {
			return true
		}
		seen[token] = true
	}
	return false
}

// scanText reports whether text has a space in it, and whether it stands in a JSON string as it is.
func scanText(text []byte) (space, plain bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var spaces, odd uint64
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		odd |= (x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones) | (x - ' '*ones) | x
		spaces |= (x ^ ' '*ones - ones) &^ x
	}
	// A borrow sets bits above the first true one only, and where there is none, there is no borrow.
	space, plain = spaces&highs != 0, odd&highs == 0
	for _, c := range text[i:] {
		space = space || c == ' '
		plain = plain && c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\'
	}
	return space, plain
}

// decimalLength returns the length of v in decimal.
func decimalLength(v int64) int {
	n, u := 0, uint64(v)
	if v < 0 {
		n, u = 1, -u
	}
	// 1233/4096 is a little more than the decimal logarithm of 2.
	digits := bits.Len64(u|1) * 1233 >> 12
	if u >= powersOfTen[digits] {
		digits++
	}
	return n + max(digits, 1)
}

var powersOfTen = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// rfcForm is how a time looks in RFC 3339: the zone, in seconds, and how many decimals the second has.
type rfcForm struct {
	zone     int32
	decimals int8
}

// decimals returns how many decimals a second with ns nanoseconds has.
func decimals(ns int64) int8 {
	if ns == 0 {
		return 0
	}
	n := int8(9)
	for ns%10 == 0 {
		ns /= 10
		n--
	}
	return n
}

// rfc returns the pattern of times of a form, if it is known.
func (t *times) rfc(f rfcForm) (id uint64, ok bool) {
	for i := range t.forms {
		if t.forms[i].form == f && t.forms[i].known {
			return t.forms[i].id, true
		}
	}
	return 0, false
}

// learn notes the pattern of times of a form.
func (t *times) learn(f rfcForm, id uint64) {
	t.forms[t.formNext] = knownForm{f, id, true}
	t.formNext = (t.formNext + 1) % len(t.forms)
}

type knownForm struct {
	form  rfcForm
	id    uint64
	known bool
}
