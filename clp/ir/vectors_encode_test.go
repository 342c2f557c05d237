package ir

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// input is an input.json.
type input struct {
	Kind                   string
	EncodingBytes          int
	Version                string
	TimestampPattern       string
	TimestampPatternSyntax string
	TZID                   string `json:"tzId"`
	ReferenceTimestamp     int64
	UserMetadata           json.RawMessage
	Events                 []struct {
		Timestamp   int64
		Message     string
		UTCOffsetMs *int64
		Auto, User  json.RawMessage
	}
}

func (in *input) width() Width {
	if in.EncodingBytes == 8 {
		return EightByte
	}
	return FourByte
}

func (in *input) encode(t testing.TB, dst io.Writer, out Output) {
	t.Helper()
	if in.Kind == "text" {
		w, err := NewTextWriter(dst, &TextOptions{Width: in.width(), Reference: in.ReferenceTimestamp, Version: in.Version,
			TimestampPattern: in.TimestampPattern, TimestampPatternSyntax: in.TimestampPatternSyntax, TimeZone: in.TZID,
			AnyBytes: true, Output: out})
		check(t, err)
		for _, e := range in.Events {
			if e.UTCOffsetMs != nil {
				check(t, w.WriteUTCOffset(*e.UTCOffsetMs))
				continue
			}
			check(t, w.Write(e.Timestamp, []byte(e.Message)))
		}
		check(t, w.Close())
		return
	}
	w, err := NewKVWriter(dst, &KVOptions{Width: in.width(), User: in.UserMetadata, Output: out})
	check(t, err)
	b := Builder{}
	for _, e := range in.Events {
		b.Reset()
		addJSON(t, &b, e.Auto)
		b.User()
		addJSON(t, &b, e.User)
		check(t, w.Write(&b))
	}
	check(t, w.Close())
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// addJSON adds the members of a JSON object, in their order.
func addJSON(t testing.TB, b *Builder, object []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	token, err := d.Token()
	check(t, err)
	if token != json.Delim('{') {
		t.Fatalf("%s is not an object", object)
	}
	for d.More() {
		key, err := d.Token()
		check(t, err)
		var value json.RawMessage
		check(t, d.Decode(&value))
		addValue(t, b, key.(string), value)
	}
}

func addValue(t testing.TB, b *Builder, key string, value json.RawMessage) {
	t.Helper()
	switch value[0] {
	case '{':
		b.Open(key)
		addJSON(t, b, value)
		b.Close()
	case '[':
		b.Array(key, value)
	case '"':
		var s string
		check(t, json.Unmarshal(value, &s))
		b.String(key, s)
	case 't', 'f':
		b.Bool(key, value[0] == 't')
	case 'n':
		b.Null(key)
	default:
		if bytes.ContainsAny(value, ".eE") {
			f, err := strconv.ParseFloat(string(value), 64)
			check(t, err)
			b.Float(key, f)
			return
		}
		i, err := strconv.ParseInt(string(value), 10, 64)
		check(t, err)
		b.Int(key, i)
	}
}

func TestVectorsEncode(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join(vectorDir, "*.input.json"))
	if err != nil || len(inputs) != 19 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	for _, file := range inputs {
		name := strings.TrimSuffix(filepath.Base(file), ".input.json")
		t.Run(name, func(t *testing.T) {
			var in input
			check(t, json.Unmarshal(readFile(t, file), &in))
			var got bytes.Buffer
			in.encode(t, &got, Output{})
			want := readFile(t, filepath.Join(vectorDir, name+".clp"))
			if strings.Contains(name, "-ref-") {
				// Written by the reference, which prints numbers in arrays in its own way.
				return
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("streams differ at byte %d:\n got %q\nwant %q", differ(got.Bytes(), want), got.Bytes(), want)
			}
		})
	}
}

func differ(a, b []byte) int {
	for i := range a {
		if i == len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// TestVectorsReencode writes the streams again that are too large for an input.json.
func TestVectorsReencode(t *testing.T) {
	for _, name := range []string{"06-text4-lengths", "13-kv4-large-strings"} {
		want := unzstd(t, readFile(t, filepath.Join(vectorDir, name+".clp.zst")))
		r, err := NewReader(bytes.NewReader(want), nil)
		check(t, err)
		var got bytes.Buffer
		if r.IsText() {
			md := r.Metadata()
			w, err := NewTextWriter(&got, &TextOptions{Reference: md.Reference, Version: md.Version, TimeZone: md.TimeZone})
			check(t, err)
			for e, err := range r.All() {
				check(t, err)
				message, err := e.AppendMessage(nil)
				check(t, err)
				check(t, w.Write(e.Time(), message))
			}
			check(t, w.Close())
		} else {
			w, err := NewKVWriter(&got, nil)
			check(t, err)
			var b Builder
			for e, err := range r.All() {
				check(t, err)
				b.Reset()
				for _, n := range []Namespace{Auto, User} {
					if n == User {
						b.User()
					}
					object, err := e.AppendObject(nil, n)
					check(t, err)
					addJSON(t, &b, object)
				}
				check(t, w.Write(&b))
			}
			check(t, w.Close())
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: streams differ at byte %d of %d", name, differ(got.Bytes(), want), len(want))
		}
	}
}
