package js

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestParseAccepts(t *testing.T) {
	for _, s := range []string{
		`{}`, ` [ 1 , -2.5e3 , "a\u00e9\ud83d\ude00\n" , null , true , false ] `, `"x"`, `0`, `-0`, `1e308`, `1e-999`,
		`{"a":{"b":[{"c":"` + strings.Repeat("x", 5000) + `"}]},"a":2}`, "\"\u2028é\"", `18446744073709551616`,
	} {
		var d Doc
		if err := d.Parse([]byte(s)); err != nil {
			t.Errorf("%.60s: %v", s, err)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
	}{
		{``, 0}, {`{`, 1}, {`{"a"}`, 4}, {`{"a":}`, 5}, {`[1,]`, 3}, {`[1 2]`, 3}, {`"abc`, 4}, {"\"a\x01\"", 2}, {`NaN`, 0}, {`-`, 1},
		{`1e999`, 0}, {`01`, 1}, {`1.`, 2}, {`"\ud800"`, 1}, {`"\ud800\u0041"`, 1}, {`"\x"`, 1}, {"\"\xff\"", 1}, {`{} x`, 3}, {`tru`, 0},
		{strings.Repeat("[", MaxDepth+1), MaxDepth}, {`{a:1}`, 1}, {"\xef\xbb\xbf{}", 0},
	} {
		var d Doc
		err := d.Parse([]byte(c.text))
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%.40q: accepted", c.text)
		} else if se.Offset != c.offset {
			t.Errorf("%.40q: offset %d, want %d (%v)", c.text, se.Offset, c.offset, err)
		}
	}
}

func TestValueReads(t *testing.T) {
	var d Doc
	text := `{"a":1,"b\u0062":"x\ty","c":[{"d":null},2],"a":3}`
	if err := d.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	r := d.Root()
	if n, _ := r.Get("a").Int(); n != 3 {
		t.Errorf("last of a repeated key: %d", n)
	}
	if s := r.Get("bb").Str(); s != "x\ty" {
		t.Errorf("escaped key and string: %q", s)
	}
	if r.Get("c").Len() != 2 || r.Get("c").Get("d").Exists() || r.Get("no").Kind() != Missing {
		t.Error("array or missing member")
	}
	for e := range r.Get("c").Each() {
		if e.Kind() == Object && e.Get("d").Kind() != Null {
			t.Error("null member is missing")
		}
	}
}

// The expected texts were made by Python 3.11's json.dumps(json.loads(x), sort_keys=True, separators=(",", ":")).
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{ "b" : 1.0 , "a" : [ 1e16, 1.5e-7, 0.1, -0.0, 123456789012345680.0, 1E2 ] }`: `{"a":[1e+16,1.5e-07,0.1,-0.0,1.2345678901234568e+17,100.0],"b":1.0}`,
		"\"é\u2028😀\x7f\\/\\u0041\\u001f\\\"\"":                                        `"\u00e9\u2028\ud83d\ude00\u007f/A\u001f\""`,
		`[9223372036854775807,18446744073709551615,0.0001,0.00001,9999999999999998.0]`: `[9223372036854775807,18446744073709551615,0.0001,1e-05,9999999999999998.0]`,
		`{"a":1,"b":2,"a":3}`: `{"a":3,"b":2}`,
		`{}`:                  `{}`, `[]`: `[]`,
	} {
		var d Doc
		if err := d.Parse([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if got := string(d.Root().AppendCanonical(nil, nil)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	var d Doc
	_ = d.Parse([]byte(`{"pid":1,"x":{"pid":2,"y":[{"pid":3,"z":4}]}}`))
	got := string(d.Root().AppendCanonical(nil, func(k []byte) bool { return string(k) == "pid" }))
	if got != `{"x":{"y":[{"z":4}]}}` {
		t.Error(got)
	}
}

func TestShort(t *testing.T) {
	var d Doc
	long := strings.Repeat("é", 11)
	_ = d.Parse([]byte(`{"a": "` + long + `", "b" : ["` + long[:20] + `", 1.50]}`))
	if got := string(d.Root().AppendShort(nil, 10)); got != `{"a":"<11 chars omitted>","b":["`+long[:20]+`",1.50]}` {
		t.Error(got)
	}
}

type onlyStack struct{ docs map[string]*Doc }

func (o onlyStack) Match(key, rest []byte) *Doc {
	for text, d := range o.docs {
		if strings.HasPrefix(string(rest), text) {
			return d
		}
	}
	return nil
}

func (o onlyStack) Learn(key, text []byte) *Doc {
	if string(key) != "stack" {
		return nil
	}
	d := &Doc{}
	_ = d.Parse([]byte(string(text)))
	o.docs[string(text)] = d
	return d
}

func TestKnown(t *testing.T) {
	k := onlyStack{map[string]*Doc{}}
	d := Doc{Known: k}
	text := `{"x":{"stack":[7]},"stack":[{"line":1}],"z":2}`
	for range 2 {
		if err := d.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s := d.Root().Get("stack")
		if s.Sub() == nil || string(s.Raw()) != `[{"line":1}]` {
			t.Fatalf("%s", s.Raw())
		}
		for f := range s.Each() {
			if n, _ := f.Get("line").Int(); n != 1 {
				t.Error("inside of a known value")
			}
		}
		if n, _ := d.Root().Get("z").Int(); n != 2 || d.Root().Len() != 3 {
			t.Error("members behind a known value")
		}
	}
	if len(k.docs) != 1 {
		t.Error(len(k.docs))
	}
}

// FuzzParse holds Parse against encoding/json: what both accept must decode to the same value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x\n\u00e9"],"b":null}`, `"\ud83d\ude00"`, `[[[[]]]]`, `{"a":1e999}`, "\"\x7f\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Doc
		if d.Parse(text) != nil {
			return
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("accepted %q: %v", text, err)
		}
		canon := d.Root().AppendCanonical(nil, nil)
		if err := json.Unmarshal(canon, &got); err != nil {
			t.Fatalf("canonical %q: %v", canon, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q", text, canon)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(`{"stack":[` + strings.Repeat(`{"line":88,"name":"_run_code","filename":"/usr/lib/python3/site-packages/x.py","loc":"return self.run(*args)"},`, 40) + `{}],"n":1}`)
	var d Doc
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCanonicalOrder: the quick way for small objects and the general one agree.
func TestCanonicalOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := []byte{'{'}
		for i := range rng.IntN(80) {
			if i > 0 {
				b = append(b, ',')
			}
			key := make([]byte, rng.IntN(12))
			for j := range key {
				key[j] = "aab~é"[rng.IntN(4)]
			}
			b = append(AppendString(b, string(key)), ':')
			b = strconv.AppendInt(b, int64(i), 10)
		}
		b = append(b, '}')
		var d Doc
		if err := d.Parse(b); err != nil {
			t.Fatal(err)
		}
		skip := func(key []byte) bool { return len(key) == 3 }
		want := []byte{'{'}
		for i, m := range d.Root().Sorted(nil, skip) {
			if i > 0 {
				want = append(want, ',')
			}
			want = append(append(m.Value.AppendCanonicalKey(want), ':'), m.Value.Raw()...)
		}
		want = append(want, '}')
		if got := d.Root().AppendCanonical(nil, skip); !bytes.Equal(got, want) {
			t.Fatalf("%s:\n got %s\nwant %s", b, got, want)
		}
	}
}
