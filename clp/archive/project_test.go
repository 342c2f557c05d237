package archive

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestProject(t *testing.T) {
	lines := [][]byte{
		[]byte(`{"a":{"x":1,"y":"two words","z":{}},"b":[1,{"c":2}],"d.e":null,"f":1.50}`),
		[]byte(`{"f":2.5,"d.e":true,"b":[],"a":{"z":{},"y":"w","x":-1}}`),
		[]byte(`{"f":1.0,"a":{"y":"one","q":{"r":"s"}},"f":2.0,"a":{"x":7},"g":"\u0041"}`), // an exception
		[]byte(`{}`),
		[]byte(`{"a":5,"f":"x"}`),
	}
	data := write(t, lines, nil)
	for _, c := range []struct {
		keys  []string
		want  string
		plain string // if another one
	}{
		{[]string{"a.x"}, `{"a":{"x":1}} {"a":{"x":-1}} {"a":{"x":7}} {} {}`, ""},
		{[]string{"a"}, `{"a":{"x":1,"y":"two words","z":{}}} {"a":{"z":{},"y":"w","x":-1}} {"a":{"y":"one","q":{"r":"s"}},"a":{"x":7}} {} {"a":5}`,
			`{"a":{"x":1,"y":"two words","z":{}}} {"a":{"x":-1,"z":{},"y":"w"}} {"a":{"q":{"r":"s"},"x":7,"y":"one"}} {} {"a":5}`},
		{[]string{"f", "a.z"}, `{"a":{"z":{}},"f":1.50} {"f":2.5,"a":{"z":{}}} {"f":1.0,"f":2.0} {} {"f":"x"}`,
			`{"a":{"z":{}},"f":1.50} {"a":{"z":{}},"f":2.5} {"f":1.0} {} {"f":"x"}`},
		{[]string{`d\.e`, "a.q.r", "b.c"}, `{"d.e":null} {"d.e":true} {"a":{"q":{"r":"s"}}} {} {}`, ""},
		{[]string{"b"}, `{"b":[1,{"c":2}]} {"b":[]} {} {} {}`, ""},
		{[]string{"none", "a.none"}, `{} {} {} {} {}`, ""},
		{[]string{"g", "a.x", "a"}, `{"a":{"x":1,"y":"two words","z":{}}} {"a":{"z":{},"y":"w","x":-1}} {"a":{"y":"one","q":{"r":"s"}},"a":{"x":7},"g":"A"} {} {"a":5}`, "-"},
		{nil, `{} {} {} {} {}`, ""},
	} {
		for _, plain := range []bool{false, true} {
			r := openBytes(t, data, &Options{Plain: plain})
			check(t, r.Project(c.keys...))
			got, err := readLines(r)
			check(t, err)
			want := c.want
			if plain && c.plain == "-" {
				continue
			}
			if plain && c.plain != "" {
				want = c.plain
			}
			// A record that was kept as it was written has its strings as they were written.
			text := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(string(got)), "\n", " "), `\u0041`, "A")
			if text != want {
				t.Errorf("%q, plain %v:\n got %s\nwant %s", c.keys, plain, text, want)
			}
			check(t, r.Close())
		}
	}
}

// TestProjectBytes: a key that is not UTF-8 is found in records that were kept as they were written as in others.
func TestProjectBytes(t *testing.T) {
	lines := [][]byte{[]byte("{\"k\xff\":1,\"b\":2}"), []byte("{\"b\":2,\"k\xff\":1,\"k\xff\":3}")}
	r := openBytes(t, write(t, lines, nil), nil)
	check(t, r.Project("k\xff"))
	got, err := readLines(r)
	check(t, err)
	if want := "{\"k\xff\":1}\n{\"k\xff\":1,\"k\xff\":3}"; strings.TrimSpace(string(got)) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProjectErrors(t *testing.T) {
	data := write(t, [][]byte{[]byte(`{"a":1}`)}, nil)
	for _, key := range []string{"", ".", "a.", ".a", "a..b", `a\`, `\a`, "@a", "$a", "*", "a.*"} {
		r := openBytes(t, data, nil)
		if err := r.Project(key); err == nil {
			t.Errorf("%q: no error", key)
		}
		check(t, r.Close())
	}
	r := openBytes(t, data, nil)
	_, err := r.Next()
	check(t, err)
	if err := r.Project("a"); err == nil {
		t.Error("no error behind the first record")
	}
	check(t, r.Close())
	if err := r.Project("a"); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

func TestSplitKey(t *testing.T) {
	for _, words := range [][]string{{"a"}, {"a.b", "c"}, {`\`, "*", "@x", `"`}, {"é", " ", "a*"}} {
		var escaped []string
		for _, w := range words {
			escaped = append(escaped, escapeKey(w))
		}
		got, err := splitKey(strings.Join(escaped, "."))
		if err != nil || !reflect.DeepEqual(got, words) {
			t.Errorf("%q: %q, %v", escaped, got, err)
		}
	}
}

// TestProjectVectors takes each key of the reference's archives alone, and compares with the record as a whole.
func TestProjectVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		for _, a := range v.Archive {
			if a.File == "" || a.Counts.Records > 300 {
				continue
			}
			r := openVector(t, a.File, nil)
			lines, err := readLines(r)
			check(t, err)
			keys := map[string]bool{}
			for _, n := range r.Nodes() {
				if n.Parent == r.tree.object && n.Parent >= 0 && n.Key != "" {
					keys[n.Key] = true
				}
			}
			check(t, r.Close())
			for key := range keys {
				r := openVector(t, a.File, nil)
				check(t, r.Project(escapeKey(key)))
				got, err := readLines(r)
				check(t, err)
				check(t, r.Close())
				compareMember(t, a.File, key, bytes.Split(lines, []byte("\n")), bytes.Split(got, []byte("\n")))
			}
		}
	}
}

func compareMember(t *testing.T, file, key string, whole, part [][]byte) {
	t.Helper()
	if len(whole) != len(part) {
		t.Fatalf("%s, %q: %d lines, want %d", file, key, len(part), len(whole))
	}
	for i := range whole {
		var w, p map[string]json.RawMessage
		if json.Unmarshal(whole[i], &w) != nil { // a record over several lines
			continue
		}
		check(t, json.Unmarshal(part[i], &p))
		if want, ok := w[key]; ok != (len(p) == 1) || ok && !bytes.Equal(p[key], want) {
			t.Fatalf("%s, %q: %s of %s", file, key, part[i], whole[i])
		}
	}
}
