package ir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const vectorDir = "testdata/vectors"

// vectors returns the names of all golden streams: NAME.clp and NAME.clp.zst.
func vectors(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(vectorDir, "*.clp*"))
	if err != nil || len(files) != 29 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func unzstd(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// number is what a JSON number means: 3.0 and 3 differ, 1e21 and 1e+21 do not, and neither do -0 and 0.
func number(n json.Number) any {
	if n == "-0" {
		return json.Number("0")
	}
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		if err != nil {
			return n
		}
		return math.Float64bits(f)
	}
	return n
}

// parse decodes JSON for comparison.
func parse(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return mapNumbers(v)
}

func mapNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = mapNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = mapNumbers(v[k])
		}
	}
	return v
}

// dump prints a stream in the form of expected.jsonl, and returns the error it ends in (nil at a clean end).
func dump(t testing.TB, stream io.Reader) ([][]byte, error) {
	t.Helper()
	r, err := NewReader(stream, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	lines := [][]byte{nil}
	var end error
	for {
		e, err := r.Next()
		if err != nil {
			if err != io.EOF {
				end = err
			}
			break
		}
		line := fmt.Appendf(nil, `{"type":"event","logEventNum":%d,`, len(lines))
		if r.IsText() {
			message, err := e.AppendMessage(nil)
			if err != nil {
				end = err
				break
			}
			if r.Width() == FourByte {
				line = fmt.Appendf(line, `"timestamp":%d,"utcOffset":%d,"logLevel":%d,"message":`, e.Time(), e.UTCOffset()/60000, e.Level())
			} else {
				line = fmt.Appendf(line, `"timestamp":%d,"utcOffsetMs":%d,"message":`, e.Time(), e.UTCOffset())
			}
			line = append(AppendQuoted(line, message), '}')
		} else {
			if r.Width() == FourByte {
				var millis, zone, level int64
				if v, ok := e.Lookup(Auto, "timestamp", "unix_millisecs"); ok && v.Kind() == Int {
					millis = v.Int()
				}
				if v, ok := e.Lookup(Auto, "timestamp", "utc_offset_secs"); ok && v.Kind() == Int {
					zone = v.Int() / 60
				}
				if v, ok := e.Lookup(Auto, "level", "name"); ok && v.Kind() == String {
					name, _ := v.AppendText(nil)
					for l := Trace; l <= Fatal; l++ {
						if strings.EqualFold(string(name), l.String()) {
							level = int64(l)
						}
					}
				}
				line = fmt.Appendf(line, `"timestamp":%d,"utcOffset":%d,"logLevel":%d,`, millis, zone, level)
			}
			line = append(line, `"kv":`...)
			if line, err = e.AppendJSON(line); err != nil {
				end = err
				break
			}
			line = append(line, '}')
		}
		lines = append(lines, line)
	}
	kind := "STRUCTURED"
	if r.IsText() {
		kind = "UNSTRUCTURED"
	}
	lines[0] = fmt.Appendf(nil, `{"type":"stream","irStreamType":%q,"numEvents":%d,"metadata":%s}`, kind, len(lines)-1, r.Metadata().Raw)
	return lines, end
}

func TestVectorsDecode(t *testing.T) {
	for _, file := range vectors(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".zst"), ".clp")
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(vectorDir, name+".expected.jsonl"))
			if err != nil {
				want = unzstd(t, readFile(t, filepath.Join(vectorDir, name+".expected.jsonl.zst")))
			}
			data := readFile(t, file)
			// A reader that gives a byte at a time asks for more in every place that one can.
			for how, src := range map[string]io.Reader{"whole": bytes.NewReader(data), "bytewise": &drip{data: data}} {
				if how == "bytewise" && len(data) > 10_000 {
					continue
				}
				got, end := dump(t, src)
				if truncated := strings.Contains(name, "truncated"); truncated {
					if ie := (*IncompleteError)(nil); !errors.As(end, &ie) || !errors.Is(end, io.ErrUnexpectedEOF) {
						t.Errorf("%s: ends in %v", how, end)
					}
				} else if end != nil {
					t.Errorf("%s: ends in %v", how, end)
				}
				lines := bytes.Split(bytes.TrimSuffix(want, []byte("\n")), []byte("\n"))
				if len(got) != len(lines) {
					t.Fatalf("%s: %d lines, want %d", how, len(got), len(lines))
				}
				for i := range lines {
					if g, w := parse(t, got[i]), parse(t, lines[i]); !reflect.DeepEqual(g, w) {
						t.Errorf("%s: line %d:\n got %.2000s\nwant %.2000s", how, i, got[i], lines[i])
					}
				}
			}
		})
	}
}

// drip gives one byte a time.
type drip struct{ data []byte }

func (d *drip) Read(p []byte) (int, error) {
	if len(d.data) == 0 {
		return 0, io.EOF
	}
	p[0], d.data = d.data[0], d.data[1:]
	return 1, nil
}

func TestBadVectors(t *testing.T) {
	const (
		open = iota
		deserialize
		decode
		accept // this reader is more tolerant
	)
	tests := map[string]struct {
		stage  int
		err    error
		events int // that come before
	}{
		"magic":                    {open, ErrMagic, 0},
		"meta-encoding":            {open, ErrMetadata, 0},
		"meta-length-tag":          {open, ErrMetadata, 0},
		"meta-json":                {open, ErrMetadata, 0},
		"meta-no-version":          {open, ErrMetadata, 0},
		"meta-version":             {open, ErrVersion, 0},
		"meta-reftime-missing":     {open, ErrReference, 0},
		"meta-reftime-number":      {open, ErrReference, 0},
		"text-tag":                 {deserialize, ErrTag, 1},
		"text-var8-in-four":        {deserialize, ErrTag, 1},
		"text-timestamp-tag":       {deserialize, ErrTag, 1},
		"text-negative-length":     {deserialize, ErrLength, 1},
		"text-missing-encoded-var": {decode, nil, 1},
		"text-missing-dict-var":    {decode, nil, 1},
		"text-trailing-escape":     {decode, nil, 1},
		"text-float-point":         {decode, nil, 1},
		"text-float-digits":        {decode, nil, 1},
		"kv-meta-user":             {open, ErrMetadata, 0},
		"kv-version-beta":          {open, ErrVersion, 0},
		"kv-tag":                   {deserialize, ErrTag, 1},
		"kv-node-type":             {deserialize, ErrNodeType, 1},
		"kv-node-duplicate":        {deserialize, ErrNodeExists, 1},
		"kv-node-parent-missing":   {deserialize, ErrParent, 1},
		"kv-node-parent-leaf":      {deserialize, ErrParent, 1},
		"kv-node-parent-tag":       {deserialize, ErrTag, 1},
		"kv-id-missing":            {deserialize, ErrID, 1},
		"kv-id-root":               {deserialize, ErrID, 1},
		"kv-id-duplicate":          {deserialize, ErrIDTwice, 1},
		"kv-auto-after-user":       {deserialize, ErrKeyOrder, 1},
		"kv-no-user-part":          {deserialize, ErrTag, 1},
		"kv-value-tag":             {deserialize, ErrTag, 1},
		"kv-type-int-string":       {deserialize, ErrValueType, 1},
		"kv-type-int-null":         {deserialize, ErrValueType, 1},
		"kv-type-float-int":        {deserialize, ErrValueType, 1},
		"kv-type-array-plain":      {deserialize, ErrValueType, 1},
		"kv-same-key-two-types":    {deserialize, ErrSameKey, 1},
		"kv-object-and-child":      {deserialize, ErrObjectValue, 1},
		"kv-ast-tag":               {deserialize, ErrTag, 1},
		"kv-array-json":            {decode, ErrArray, 1},
		"kv-ast-missing-var":       {decode, nil, 1},
		"meta-nonascii":            {accept, nil, 1},
		"no-eof-then-new-stream":   {deserialize, ErrTag, 1},
	}
	files, err := filepath.Glob(filepath.Join(vectorDir, "bad", "*.clp"))
	if err != nil || len(files) != len(tests) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".clp")
		t.Run(name, func(t *testing.T) {
			want, ok := tests[name]
			if !ok {
				t.Fatal("not in the table")
			}
			data := readFile(t, file)
			stage, err, events := accept, error(nil), 0
			r, openErr := NewReader(bytes.NewReader(data), nil)
			if openErr != nil {
				stage, err = open, openErr
			}
			for stage == accept {
				e, nextErr := r.Next()
				if nextErr != nil {
					if nextErr != io.EOF {
						stage, err = deserialize, nextErr
					}
					break
				}
				var decodeErr error
				if r.IsText() {
					_, decodeErr = e.AppendMessage(nil)
				} else {
					_, decodeErr = e.AppendJSON(nil)
				}
				if decodeErr != nil {
					stage, err = decode, decodeErr
					break
				}
				events++
			}
			if stage != want.stage || events != want.events {
				t.Errorf("stage %d after %d events, want %d after %d: %v", stage, events, want.stage, want.events, err)
			}
			if want.stage == accept {
				return
			}
			ce := (*CorruptError)(nil)
			if !errors.As(err, &ce) || want.err != nil && !errors.Is(err, want.err) {
				t.Fatalf("got %v, want a *CorruptError of %v", err, want.err)
			}
			if ce.Offset < 0 || ce.Offset >= int64(len(data)) || ce.Event != int64(events) {
				t.Errorf("place of the error: %+v in %d bytes", ce, len(data))
			}
		})
	}
}
