package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/sink"
)

// stream is a stream to write, and what should be read of it.
type stream struct {
	name  string
	write func(file string) (next func() (expected, error), err error)
}

// corpora are the streams that try one thing each.
func corpora() []stream {
	return []stream{
		{"values", fixed(values)},
		{"unicode", fixed(unicodes)},
		{"100,000 keys", fixed(manyKeys)},
		{"large strings", fixed(largeStrings)},
		{"sink, demo", logs(corpus.Demo, sink.Options{})},
		{"sink, service", logs(corpus.Service, sink.Options{ViewerKeys: true})},
		{"sink, spans", logs(corpus.Spans, sink.Options{Level: 3, BlockSize: 5000})},
		{"sink, event by event", logs(corpus.Demo, sink.Options{PerRecord: true})},
	}
}

// pair is an event in a builder, and its JSON.
type pair func(b *ir.Builder) []byte

// fixed writes the events that gen yields.
func fixed(gen func(yield func(pair))) func(string) (func() (expected, error), error) {
	return func(file string) (func() (expected, error), error) {
		var want [][]byte
		err := writeKV(file, func(w *ir.KVWriter) error {
			var errs []error
			var b ir.Builder
			gen(func(p pair) {
				b.Reset()
				want = append(want, p(&b))
				errs = append(errs, w.Write(&b))
			})
			return errors.Join(errs...)
		})
		return func() (expected, error) {
			if len(want) == 0 {
				return expected{}, io.EOF
			}
			e := expected{text: want[0]}
			want = want[1:]
			return e, nil
		}, err
	}
}

func writeKV(file string, write func(*ir.KVWriter) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w, err := ir.NewKVWriter(f, &ir.KVOptions{User: []byte(`{"made by":"interop/check","ünï":"世界"}`), Output: ir.Output{Zstd: true}})
	if err == nil {
		err = errors.Join(write(w), w.Close())
	}
	return errors.Join(err, f.Close())
}

func user(json string, build func(b *ir.Builder)) pair {
	return func(b *ir.Builder) []byte {
		b.User()
		build(b)
		return []byte(`{"auto-generated":{},"user-generated":` + json + `}`)
	}
}

func values(yield func(pair)) {
	for _, base := range []int64{0, 1 << 7, 1 << 15, 1 << 31, 1 << 53, math.MaxInt64} {
		for _, v := range []int64{base - 1, base, base + 1, -base - 1, -base, -base + 1} {
			yield(user(fmt.Sprintf(`{"i":%d}`, v), func(b *ir.Builder) { b.Int("i", v) }))
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, 0.1, -2.5, 1e21, 1e-7, 5e-324, math.MaxFloat64, math.Pi, 123456789012345680} {
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		yield(user(`{"f":`+text+`}`, func(b *ir.Builder) { b.Float("f", v) }))
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		yield(user(`{"f":null}`, func(b *ir.Builder) { b.Float("f", v) }))
	}
	yield(user(`{"t":true,"f":false,"n":null,"e":{},"o":{"p":{"q":1}}}`, func(b *ir.Builder) {
		b.Bool("t", true)
		b.Bool("f", false)
		b.Null("n")
		b.Open("e")
		b.Close()
		b.Open("o")
		b.Open("p")
		b.Int("q", 1)
		b.Close()
		b.Close()
	}))
	for _, a := range []string{`[]`, `[1,2.5,"x y",null,true,{"a":[{}]},[[]]]`, `["世界 12","\"\\\n"]`, `[9223372036854775807,1e300]`} {
		yield(user(`{"a":`+a+`}`, func(b *ir.Builder) { b.Array("a", []byte(a)) }))
	}
	yield(func(b *ir.Builder) []byte { return []byte(`{"auto-generated":{},"user-generated":{}}`) })
	yield(func(b *ir.Builder) []byte {
		b.Int("a", 1)
		b.Open("o")
		b.Close()
		return []byte(`{"auto-generated":{"a":1,"o":{}},"user-generated":{}}`)
	})
}

func unicodes(yield func(pair)) {
	texts := []string{"世界 12", "é=à be 1.5", "\U0001F600 smile \u2028", "tab\t \x01\x11\x12\x13\x1f\x7f", "nul \x00 inside", `\ C:\x\1 \\`, "\"quotes\" 'q'",
		"bad \xff\xfe \xe4\xb8", "", " ", "\u00a0no space", "a", "be", "k=v k=v2 k= =", "-0 007 +5 5. .5 1e5 0x1F 3355443.2 -99999999.9"}
	for _, s := range texts {
		valid := strings.ToValidUTF8(s, "�")
		if strings.Contains(s, "\xff\xfe") {
			valid = "bad �� ��"
		}
		quoted := string(ir.AppendQuoted(nil, []byte(valid)))
		yield(user(`{`+quoted+`:`+quoted+`}`, func(b *ir.Builder) { b.String(s, s) }))
	}
}

// manyKeys is a stream of 100,000 keys, in objects of 300 (readers look through the members of an object one by one).
func manyKeys(yield func(pair)) {
	n := 0
	for o := 0; n < 100_000; o++ {
		var json strings.Builder
		first, last := n, min(n+300, 100_000)
		n = last
		fmt.Fprintf(&json, `{"o%d":{`, o)
		for i := first; i < last; i++ {
			fmt.Fprintf(&json, `"k%d":%d,`, i, i)
		}
		yield(user(strings.TrimSuffix(json.String(), ",")+`}}`, func(b *ir.Builder) {
			b.Open(fmt.Sprint("o", o))
			for i := first; i < last; i++ {
				b.Int(fmt.Sprint("k", i), int64(i))
			}
			b.Close()
		}))
	}
}

func largeStrings(yield func(pair)) {
	for _, n := range []int{255, 256, 65_535, 65_536, 1 << 20, 8 << 20} {
		for _, s := range []string{strings.Repeat("x", n), strings.Repeat("word 12 ", n/8), strings.Repeat("7", n), strings.Repeat("a b", n/3) + strings.Repeat("9z", n/2)} {
			yield(user(`{"s":"`+s+`"}`, func(b *ir.Builder) { b.String("s", s) }))
		}
	}
	key := strings.Repeat("k", 70_000)
	yield(user(`{"`+key+`":1}`, func(b *ir.Builder) { b.Int(key, 1) }))
}

// logs writes records through the sink, in blocks of many sizes, and expects what our own reader sees, which other tests
// compare with JSON.
func logs(kind corpus.Kind, o sink.Options) func(string) (func() (expected, error), error) {
	return func(file string) (func() (expected, error), error) {
		o.Format, o.Exists = format.CLPIR, sink.Truncate
		s := sink.File(file, o)
		enc := s.Encoder(event.Options{AddSource: true})
		records := corpus.New(kind, 1, 0)
		var buf event.Buffer
		for i := range 20_000 {
			buf.Reset()
			enc.AppendRecord(&buf, records.Next(), nil)
			err := s.Append(buf.B)
			if i%777 == 0 {
				err = errors.Join(err, s.Flush())
			}
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r, err := ir.NewReader(bytes.NewReader(data), nil)
		return func() (expected, error) {
			e, err := r.Next()
			if err != nil {
				return expected{}, err
			}
			return ours(r, e)
		}, err
	}
}

// stored puts data into a zstd frame of blocks that are not compressed (RFC 8878 §3.1.1): the reference takes no other
// container.
func stored(data []byte) []byte {
	const most = 128 << 10
	out := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38}
	for first := true; first || len(data) > 0; first = false {
		n := min(most, len(data))
		head := uint32(n << 3)
		if n == len(data) {
			head |= 1
		}
		out = append(out, byte(head), byte(head>>8), byte(head>>16))
		out = append(out, data[:n]...)
		data = data[n:]
	}
	return out
}

// randomStreams are key-value streams of random events, and text streams of random messages.
func randomStreams(events int, seed uint64) []stream {
	var all []stream
	for at := 0; at < events; at += perStream {
		n := min(perStream, events-at)
		s := seed + uint64(at)
		all = append(all, stream{fmt.Sprintf("random events, seed %d", s), randomKV(n, s)})
	}
	return append(all, stream{"random messages", randomText(max(1, events/10), seed)})
}

func randomKV(n int, seed uint64) func(string) (func() (expected, error), error) {
	return func(file string) (func() (expected, error), error) {
		g := generator{r: rand.New(rand.NewPCG(seed, 1))}
		err := writeKV(file, func(w *ir.KVWriter) error {
			var b ir.Builder
			for i := range n {
				g.event(&b)
				if err := w.Write(&b); err != nil {
					return err
				}
				if i%1000 == 0 {
					if err := w.Flush(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		again, left := generator{r: rand.New(rand.NewPCG(seed, 1))}, n
		var b ir.Builder
		return func() (expected, error) {
			if left == 0 {
				return expected{}, io.EOF
			}
			left--
			return again.event(&b), nil
		}, err
	}
}

func randomText(n int, seed uint64) func(string) (func() (expected, error), error) {
	return func(file string) (func() (expected, error), error) {
		f, err := os.Create(file)
		if err != nil {
			return nil, err
		}
		w, err := ir.NewTextWriter(f, &ir.TextOptions{Reference: 1_700_000_000_000, Output: ir.Output{Zstd: true}})
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		g := generator{r: rand.New(rand.NewPCG(seed, 2))}
		var want []expected
		for range n {
			message := g.text()
			ms := int64(1_700_000_000_000) + g.r.Int64N(1<<40)>>g.r.IntN(40)
			if err = w.Write(ms, []byte(message)); err != nil {
				break
			}
			shown := strings.ReplaceAll(message, "\x00", "�")
			want = append(want, expected{millis: ms, level: levelOf(shown), text: ir.AppendQuoted(nil, []byte(shown))})
		}
		err = errors.Join(err, w.Close(), f.Close())
		return func() (expected, error) {
			if len(want) == 0 {
				return expected{}, io.EOF
			}
			e := want[0]
			want = want[1:]
			return e, nil
		}, err
	}
}

// levelOf says where the viewer finds a level in a message whose first word is no variable.
func levelOf(message string) int {
	for i, name := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		if strings.HasPrefix(message, " "+name) {
			return i + 1
		}
	}
	return 0
}

// generator makes random events.
type generator struct {
	r     *rand.Rand
	depth int
}

var words = []string{"user", "alice", "took", "ms", "be", "deadbeef", "007", "-0", "5.", ".5", "12.50", "-3", "2147483648", "k=v", "=", "é", "世界", "\U0001F600",
	"\\", "C:\\x", "\"", "\t", "\n", "\x00", "\x11", "\x12", "\x13", "/", "<&>", "1e5", "10.0.0.1:80", "a_b-c.d", "3355443.1", "33554431.1", "99999999"}

func (g *generator) text() string {
	var b strings.Builder
	if g.r.IntN(2) == 0 {
		b.WriteString([]string{" INFO ", " ERROR ", " WARNING ", " x "}[g.r.IntN(4)])
	} else {
		b.WriteString("# ")
	}
	for range g.r.IntN(8) {
		b.WriteString(words[g.r.IntN(len(words))])
		if g.r.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// event lays out an event, and returns what the reference should see.
func (g *generator) event(b *ir.Builder) (x expected) {
	b.Reset()
	text := append([]byte(nil), `{"auto-generated":{`...)
	if g.r.IntN(2) == 0 {
		x.millis, x.zone = g.r.Int64N(1<<42), g.r.Int64N(1400)-700
		x.level = g.r.IntN(6) + 1
		name := ir.Level(x.level).String()
		b.Open("timestamp")
		b.Int("unix_millisecs", x.millis)
		b.Int("utc_offset_secs", x.zone*60)
		b.Close()
		b.Open("level")
		b.String("name", name)
		b.Close()
		text = fmt.Appendf(text, `"timestamp":{"unix_millisecs":%d,"utc_offset_secs":%d},"level":{"name":%q}`, x.millis, x.zone*60, name)
	}
	b.User()
	text = append(text, `},"user-generated":`...)
	x.text = append(g.object(b, text), '}')
	return x
}

func (g *generator) object(b *ir.Builder, json []byte) []byte {
	json = append(json, '{')
	seen := map[string]bool{}
	for range g.r.IntN(6) {
		key := fmt.Sprint("k", g.r.IntN(20))
		if g.r.IntN(15) == 0 {
			key = words[g.r.IntN(len(words))]
		}
		if seen[key] {
			continue
		}
		if len(seen) > 0 {
			json = append(json, ',')
		}
		seen[key] = true
		json = append(ir.AppendQuoted(json, []byte(key)), ':')
		json = g.value(b, key, json)
	}
	return append(json, '}')
}

func (g *generator) value(b *ir.Builder, key string, json []byte) []byte {
	switch kind := g.r.IntN(10); {
	case kind < 2:
		v := (g.r.Int64() - math.MaxInt64/2) >> g.r.IntN(64)
		b.Int(key, v)
		return strconv.AppendInt(json, v, 10)
	case kind < 4:
		v := math.Float64frombits(g.r.Uint64())
		switch g.r.IntN(3) {
		case 0:
			v = float64(g.r.IntN(100_000)) / 64
		case 1:
			v = float64(g.r.IntN(1000))
		}
		b.Float(key, v)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(json, "null"...)
		}
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return append(json, text...)
	case kind == 4:
		v := g.r.IntN(2) == 0
		b.Bool(key, v)
		return strconv.AppendBool(json, v)
	case kind < 7 || g.depth > 4:
		v := g.text()
		if g.r.IntN(3) == 0 {
			v = words[g.r.IntN(len(words))]
		}
		if g.r.IntN(50) == 0 {
			v = base64.StdEncoding.EncodeToString(make([]byte, g.r.IntN(400)))
		}
		b.String(key, v)
		return ir.AppendQuoted(json, []byte(v))
	case kind == 7:
		b.Null(key)
		return append(json, "null"...)
	case kind == 8:
		array := fmt.Appendf(nil, `[%d,%q,null,[],{"a b":[1.5]}]`, g.r.IntN(1000), []string{"x", "a b 1"}[g.r.IntN(2)])
		b.Array(key, array)
		return append(json, array...)
	}
	b.Open(key)
	g.depth++
	json = g.object(b, json)
	g.depth--
	b.Close()
	return json
}
