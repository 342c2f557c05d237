package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// rowMember is a member of a random record: how it is added to a Row, and its text.
type rowMember struct {
	key  string
	add  func(r *Row)
	text string
}

func quoted(s string) string { return string(event.AppendString(nil, s)) }

// randomMember makes a member of any kind.
func randomMember(r *rand.Rand, depth int) rowMember {
	keys := []string{"a", "b", "time", "msg", "", "ключ", "a b", "q\"", "k\x00", "bad\xff", "c", "d", "e", "f"}
	m := rowMember{key: keys[r.IntN(len(keys))]}
	key := m.key
	switch n := r.IntN(13); {
	case n == 0:
		v := []int64{0, 1, -1, 9, 10, 99, 100, math.MaxInt64, math.MinInt64, r.Int64(), -r.Int64N(1e6), r.Int64N(1e12)}[r.IntN(12)]
		m.add, m.text = func(r *Row) { r.Int(key, v) }, fmt.Sprint(v)
	case n <= 2:
		v := []float64{0, math.Copysign(0, -1), 1, 0.5, -0.25, 1e20, 1e21, 1e-6, 1e-7, 123456789.123456, 999999999.999999, 1e300, math.MaxFloat64, math.NaN(), math.Inf(-1),
			5e-324, 1 << 53, 1<<53 + 2, -12.5, r.NormFloat64(), math.Round(r.NormFloat64()*1e6) / 1e6, math.Round(r.NormFloat64()*1e5) / 1e2, math.Float64frombits(r.Uint64())}[r.IntN(23)]
		m.add, m.text = func(r *Row) { r.Float(key, v) }, string(event.AppendFloat(nil, v))
	case n == 3:
		v := r.IntN(2) == 0
		m.add, m.text = func(r *Row) { r.Bool(key, v) }, fmt.Sprint(v)
	case n == 4:
		m.add, m.text = func(r *Row) { r.Null(key) }, "null"
	case n <= 7:
		v := []string{"", "x", "two words", "took 17 ms for abc123", "12345678", "0123456 ", "\x00\x1f\x7f", "ünï cödé", "bad \xff\xc3", "\u2028 <&>", `back\slash "quoted"`,
			strings.Repeat("long ", r.IntN(50)), fmt.Sprintf("%x", r.Uint64()), "2026-01-02T03:04:05Z", "17", "\x11 \x12", "0.50 1e9 -0"}[r.IntN(17)]
		m.add, m.text = func(r *Row) { r.String(key, []byte(v)) }, quoted(v)
	case n == 8:
		v := []string{"[]", "[1,2,3]", `["a b",{"x":[1]}]`, "18446744073709551615", "1e999", "1.0", "-0", "123456789012345678901234567890", `[1, 2]`, "1E5"}[r.IntN(10)]
		m.add, m.text = func(r *Row) { r.Raw(key, []byte(v)) }, v
	case n <= 10:
		v := time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
		switch r.IntN(9) {
		case 0:
			v = time.Unix(r.Int64N(1e11)-5e10, 0).UTC()
		case 1:
			v = v.Truncate(time.Millisecond)
		case 2:
			v = v.Truncate(time.Second)
		case 3:
			v = v.Truncate(time.Microsecond).In(time.FixedZone("", 3600))
		case 4:
			v = v.In(time.FixedZone("", -1800))
		case 5:
			v = v.In(time.FixedZone("", 3601))
		case 6:
			v = v.Truncate(100 * time.Microsecond)
		case 7:
			v = time.Unix(0, -r.Int64())
		}
		if r.IntN(3) > 0 {
			m.key, key = "time", "time"
		}
		m.add, m.text = func(r *Row) { r.Time(key, v) }, `"`+v.Format(time.RFC3339Nano)+`"`
	default:
		if depth > 2 {
			return randomMember(r, depth)
		}
		adds, text := randomObject(r, depth+1)
		m.add, m.text = func(r *Row) { r.Open(key); adds(r); r.Close() }, text
	}
	return m
}

func randomObject(r *rand.Rand, depth int) (func(r *Row), string) {
	var list []rowMember
	for range r.IntN(6) {
		list = append(list, randomMember(r, depth))
	}
	text := "{"
	for i, m := range list {
		if i > 0 {
			text += ","
		}
		text += quoted(m.key) + ":" + m.text
	}
	return func(r *Row) {
		for _, m := range list {
			m.add(r)
		}
	}, text + "}"
}

// TestRow writes random records as rows and as lines: the archives are the same.
func TestRow(t *testing.T) {
	for seed := range uint64(25) {
		for _, o := range []WriterOptions{{TimeKey: []string{"time"}}, {TimeKey: []string{"a", "time"}, Structured: seed%4 == 0}} {
			checkRow(t, seed, 300, o)
		}
	}
}

func checkRow(t *testing.T, seed uint64, records int, o WriterOptions) {
	random := rand.New(rand.NewPCG(seed, 1))
	var rows, lines bytes.Buffer
	w, err := NewWriter(&rows, &o)
	check(t, err)
	want, err := NewWriter(&lines, &o)
	check(t, err)
	var in []string
	unfit := 0
	for range records {
		add, line := randomObject(random, 0)
		in = append(in, line)
		check(t, want.Write([]byte(line)))
		row := w.Row()
		add(row)
		if random.IntN(20) == 0 {
			row = w.Row() // the first one is forgotten
			add(row)
		}
		err := row.Write()
		if errors.Is(err, ErrUnfit) {
			unfit++
			err = w.Write([]byte(line))
		}
		check(t, err)
	}
	if unfit == records && records > 100 {
		t.Fatal("no row was taken")
	}
	if w.input != want.input {
		t.Errorf("seed %d: %d bytes of text, want %d", seed, w.input, want.input)
	}
	check(t, w.Close())
	check(t, want.Close())
	if !bytes.Equal(rows.Bytes(), lines.Bytes()) {
		t.Errorf("seed %d: the archives differ", seed)
	}
	checkSame(t, in, readWithSide(t, rows.Bytes()))
	if !o.Structured {
		check(t, w.Verify(context.Background(), bytes.NewReader(rows.Bytes()), int64(rows.Len())))
		check(t, want.Verify(context.Background(), bytes.NewReader(rows.Bytes()), int64(rows.Len())))
	}
}

// TestRowUnfit has rows that are no records: they leave nothing behind.
func TestRowUnfit(t *testing.T) {
	for name, add := range map[string]func(r *Row){
		"closed":   func(r *Row) { r.Int("new", 1); r.Close() },
		"open":     func(r *Row) { r.Open("new"); r.Int("x", 1) },
		"twice":    func(r *Row) { r.Int("new", 1); r.Int("new", 2) },
		"no JSON":  func(r *Row) { r.Raw("new", []byte("[1")); r.Int("x", 1) },
		"too deep": func(r *Row) { deep(r) },
		"more":     func(r *Row) { r.Raw("new", []byte("1 2")) },
	} {
		t.Run(name, func(t *testing.T) {
			var out, plain bytes.Buffer
			w, err := NewWriter(&out, nil)
			check(t, err)
			row := w.Row()
			row.Int("a", 1)
			check(t, row.Write())
			if err := row.Write(); !errors.Is(err, ErrUnfit) {
				t.Errorf("written twice: %v", err)
			}
			row = w.Row()
			add(row)
			if err := row.Write(); !errors.Is(err, ErrUnfit) {
				t.Errorf("error %v", err)
			}
			check(t, w.Close())
			if err := w.Row().Write(); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
			v, err := NewWriter(&plain, nil)
			check(t, err)
			check(t, v.Write([]byte(`{"a":1}`)))
			check(t, v.Close())
			if !bytes.Equal(out.Bytes(), plain.Bytes()) {
				t.Error("something is left")
			}
		})
	}
}

func deep(r *Row) {
	for range maxDepth {
		r.Open("x")
	}
	for range maxDepth {
		r.Close()
	}
}

// TestVerify compares archives that differ in one thing each.
func TestVerify(t *testing.T) {
	base := []string{
		`{"time":"2026-01-02T03:04:05.1Z","n":1,"f":1.50,"b":true,"s":"word","m":"took 17 ms","a":[1,2],"o":{"x":null,"y":{}},"big":1e999}`,
		`{"time":"2026-01-02T03:04:06.2Z","n":2,"f":2.50,"b":false,"s":"other","m":"took 18 ms","a":[3],"o":{"x":null,"y":{}},"big":2e999}`,
		`{"d":1,"d":2,"e":"x"}`,
		`{"n":3,"s":"word"}`,
		`{"s":"word","n":4}`,
		`{"n":5,"s":"word"}`,
	}
	changes := [][2]string{
		{`"n":1,`, `"n":7,`}, {`took 18`, `tock 18`}, {`"word"`, `"ward"`}, {"", ""}, {`05.1Z`, `05.2Z`},
		{`1.50`, `1.5`}, {`true`, `false`}, {`17 ms`, `19 ms`}, {`[1,2]`, `[1, 2]`}, {`"x":null`, `"x":{}`}, {`05.1Z`, `05.100Z`}, {`1e999`, `1E999`},
		{`"d":2`, `"d":3`}, {`"s":"word","n":4`, `"n":4,"s":"word"`}, {`"y":{}}`, `"z":{}}`}, {`,"e":"x"`, ``},
	}
	for _, c := range changes {
		checkVerify(t, base, c)
	}
	var many []string // in frames
	for i := range 70_000 {
		many = append(many, fmt.Sprintf(`{"n":%d,"s":"%x","m":"took %d ms"}`, i*i, i*7919, i))
	}
	checkVerify(t, append(many, base...), changes[1])
}

// checkVerify has the writer of lines verify its own archive, and that of lines one of which is changed.
func checkVerify(t *testing.T, lines []string, change [2]string) {
	t.Helper()
	other := slices.Clone(lines)
	if change[0] == "" { // the order of the log
		other[1], other[3] = other[3], other[1]
	} else {
		i := slices.IndexFunc(other, func(line string) bool { return strings.Contains(line, change[0]) })
		other[i] = strings.Replace(other[i], change[0], change[1], 1)
	}
	w, data := writeOn(t, lines, 2)
	check(t, w.Verify(context.Background(), bytes.NewReader(data), int64(len(data))))
	_, data = writeOn(t, other, 1)
	if err := w.Verify(context.Background(), bytes.NewReader(data), int64(len(data))); !errors.Is(err, ErrDiffers) {
		t.Errorf("%q: error %v", change, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Verify(ctx, bytes.NewReader(data), int64(len(data))); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrDiffers) {
		t.Errorf("cancelled: %v", err)
	}
}

// writeOn writes lines on some processors.
func writeOn(t *testing.T, lines []string, processors int) (*Writer, []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, &WriterOptions{TimeKey: []string{"time"}, Concurrency: processors})
	check(t, err)
	for _, line := range lines {
		check(t, w.Write([]byte(line)))
	}
	check(t, w.Close())
	return w, out.Bytes()
}

// FuzzRow is TestRow for any seed.
func FuzzRow(f *testing.F) {
	f.Add(uint64(1), false)
	f.Fuzz(func(t *testing.T, seed uint64, structured bool) {
		checkRow(t, seed, 10, WriterOptions{TimeKey: []string{"time"}, Structured: structured})
	})
}
