package chrometrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// summary is what the vectors of testdata/malformed state about a file.
type summary struct {
	events, kernels int
	sum             int64 // of kernel durations, without impossible ones
	texts           []string
	degraded        bool
}

func drain(s *Scanner) summary {
	var m summary
	for s.Scan() {
		if ev := s.Event(); string(ev.Category) == "kernel" {
			m.kernels++
			if ev.Has&HugeDur == 0 {
				m.sum += ev.Dur
			}
		}
	}
	m.events, m.degraded = int(s.Events()), s.Degraded()
	for _, e := range s.Errors() {
		if e.Kind != Time {
			m.texts = append(m.texts, e.Text())
		}
	}
	return m
}

func TestMalformed(t *testing.T) {
	text, err := os.ReadFile("testdata/malformed/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Must struct {
			Events   int      `json:"events"`
			Kernels  int      `json:"kernels"`
			Sum      *float64 `json:"kernel_sum_us"`
			Error    *string  `json:"error"`
			Errors   int      `json:"errors"`
			Degraded bool     `json:"degraded"`
		} `json:"must"`
		Theirs struct {
			Events int      `json:"stream_events"`
			Errors []string `json:"stream_errors"`
		} `json:"hyperloom_reader"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			s, err := Open(filepath.Join("testdata/malformed", name))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got := drain(s)
			if got.events != w.Must.Events || got.kernels != w.Must.Kernels {
				t.Errorf("events %d kernels %d, want %d and %d; errors %q", got.events, got.kernels, w.Must.Events, w.Must.Kernels, got.texts)
			}
			if w.Must.Sum != nil && got.sum != int64(math.Round(*w.Must.Sum*1000)) {
				t.Errorf("kernel sum %d ns, want %v us", got.sum, *w.Must.Sum)
			}
			if w.Must.Error != nil && !slices.Contains(got.texts, *w.Must.Error) {
				t.Errorf("errors %q, want %q", got.texts, *w.Must.Error)
			}
			if w.Must.Errors > 0 && len(got.texts) != w.Must.Errors {
				t.Errorf("errors %q, want %d of them", got.texts, w.Must.Errors)
			}
			if w.Must.Degraded != got.degraded && w.Must.Errors == 0 && w.Must.Error == nil {
				t.Errorf("degraded %v, errors %q", got.degraded, got.texts)
			}
			// Where we deliver the same events, the faults read the same.
			if w.Theirs.Events == got.events && !strings.Contains(name, ".gz") && name != "12_bad_escape.json" &&
				!slices.Equal(got.texts, w.Theirs.Errors) && w.Must.Events > 0 {
				t.Errorf("errors %q, theirs %q", got.texts, w.Theirs.Errors)
			}
		})
	}
}

// corpus is a trace that holds one of everything; the tests below read it in many ways.
const corpus = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "X \"{}[]\\"}],
 "traceEvents": [
  {"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": {"Python id": 1}},
  {"ph": "X", "cat": "python_function", "name": "brace } {", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": {"Python id": 1}},
  {"ph": "X", "cat": "python_function", "name": "back \\\" }} ", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": {"a": {"b": []}}},
  {"args": {"x": [1, {"y": "}"}]}, "dur": "3.25", "ts": 7, "name": "k\u00e9", "cat": "kernel", "ph": "X", "tid": "s", "pid": -1, "id": 9},
  {},
  {"ph": "s", "id": 5, "pid": 0, "tid": 0, "ts": 123, "cat": "ac2g", "name": "ac2g"}
 ], "traceName": "t", "nested": {"traceEvents": [{"ph": "X"}]}}`

func collect(s *Scanner) string {
	var sb strings.Builder
	for s.Scan() {
		ev := s.Event()
		fmt.Fprintf(&sb, "%d %c %q %q %d %d %v %v %s\n", ev.Offset, max(ev.Phase, '-'), ev.Category, ev.Name, ev.TS, ev.Dur, ev.PID, ev.FlowID, ev.Args)
		if noted, read := members(ev.Arguments()), members(ArgsOf(ev.Args)); noted != read {
			fmt.Fprintf(&sb, "the scanner noted the arguments\n%s\nnot\n%s\n", noted, read)
		}
	}
	for _, e := range s.Errors() {
		fmt.Fprintln(&sb, e)
	}
	return sb.String()
}

func members(a Args) string {
	var sb strings.Builder
	for a.Next() {
		fmt.Fprintf(&sb, "%d %s=%s;", a.Start(), a.Key, a.Value)
	}
	return sb.String()
}

func TestScanAnyChunking(t *testing.T) {
	want := collect(NewScanner(strings.NewReader(corpus)))
	if strings.Count(want, "\n") != 6 {
		t.Fatalf("six events expected:\n%s", want)
	}
	for name, r := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(strings.NewReader(corpus)),
		"half":     iotest.HalfReader(strings.NewReader(corpus)),
		"data+EOF": iotest.DataErrReader(strings.NewReader(corpus)),
	} {
		if got := collect(NewScanner(r)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestScanEveryTruncation(t *testing.T) {
	all := collect(NewScanner(strings.NewReader(corpus)))
	for n := range len(corpus) {
		s := NewScanner(strings.NewReader(corpus[:n]))
		got := collect(s)
		if events := strings.Split(got, "\n")[:s.Events()]; !strings.HasPrefix(all, strings.Join(events, "\n")) {
			t.Fatalf("cut at %d: %s", n, got)
		}
		complete := int64(strings.Count(corpus[:n], "},\n  {") + strings.Count(corpus[:n], "}\n ]"))
		if s.Events() < complete {
			t.Fatalf("cut at %d: %d events, %d are complete", n, s.Events(), complete)
		}
		if !s.Degraded() && n < strings.Index(corpus, `"traceName"`)-3 {
			t.Fatalf("cut at %d is not reported", n)
		}
	}
}

func TestSkipFunc(t *testing.T) {
	for _, size := range []int{1, 7, 1 << 20} {
		asked := map[string]int{}
		s := NewScanner(&sized{strings.NewReader(corpus), size})
		s.SkipFunc = func(ph byte, cat []byte) bool {
			asked[string(ph)+string(cat)]++
			return string(cat) == "python_function"
		}
		n := 0
		for s.Scan() {
			n++
		}
		if n != 3 || s.Events() != 6 || asked["Xpython_function"] != 3 || s.ErrorCount() != 0 {
			t.Errorf("chunks of %d: %d delivered, %d counted, asked %v, errors %v", size, n, s.Events(), asked, s.Errors())
		}
	}
}

type sized struct {
	r io.Reader
	n int
}

func (s *sized) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.n)]) }

func TestMetadata(t *testing.T) {
	s := NewScanner(strings.NewReader(corpus))
	drain(s)
	for key, want := range map[string]string{"schemaVersion": "1", "traceName": `"t"`, "nested": `{"traceEvents": [{"ph": "X"}]}`} {
		if got := string(s.Metadata()[key]); got != want {
			t.Errorf("%s = %s, want %s", key, got, want)
		}
	}
}

// TestResync damages the middle of a trace in ways that swallow quotes and braces.
func TestResync(t *testing.T) {
	ev := func(i int) string {
		return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k%d", "pid": 0, "tid": 7, "ts": %d, "dur": 1, "args": {"correlation": %d}}`, i, i, i)
	}
	for _, cut := range []int{1, 6, 9, 25, 40, 60, 90, 100, len(ev(1)) - 1} {
		text := `{"traceEvents": [` + ev(1) + "," + ev(2)[:cut] + "\n" + ev(3) + "," + ev(4) + "]}"
		s := NewScanner(strings.NewReader(text))
		var names []string
		for s.Scan() {
			names = append(names, string(s.Event().Name))
		}
		if !slices.Contains(names, "k1") || !slices.Contains(names, "k4") || !s.Degraded() {
			t.Errorf("cut at %d: %v %v", cut, names, s.Errors())
		}
	}
}

func TestCompressed(t *testing.T) {
	want := collect(NewScanner(strings.NewReader(corpus)))
	var gz bytes.Buffer
	for _, part := range []string{corpus[:100], corpus[100:]} { // two members
		w := gzip.NewWriter(&gz)
		io.WriteString(w, part)
		w.Close()
	}
	enc, _ := zstd.NewWriter(nil)
	zs := enc.EncodeAll([]byte(corpus[:300]), nil)
	zs = enc.EncodeAll([]byte(corpus[300:]), zs)
	enc.Close()
	for name, data := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zs, "zstd behind a skippable frame": append([]byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x"), zs...)} {
		s, err := NewFileScanner(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(s); got != want {
			t.Errorf("%s:\n%s", name, got)
		}
		s.Close()
	}
	s, err := NewFileScanner(bytes.NewReader(gz.Bytes()[:gz.Len()-9]))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	drain(s)
	var e *Error
	if len(s.Errors()) == 0 || !errors.As(error(s.Errors()[0]), &e) || e.Kind != Input || !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Errorf("truncated gzip: %v", s.Errors())
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestCloseEarly(t *testing.T) {
	s, err := Open("testdata/malformed/28_concatenated_gzip_members.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(corpus))
	f.Add([]byte(`[{"a":{"b":[}}]`))
	f.Add([]byte(`[{"ph":"X","ts":1e400},{"a":[1}},{"ph":"X"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := NewScanner(bytes.NewReader(data))
		want := collect(whole)
		if got := collect(NewScanner(iotest.OneByteReader(bytes.NewReader(data)))); got != want {
			t.Errorf("depends on chunks:\n%s\nwhole:\n%s", got, want)
		}
		if json.Valid(data) && whole.Degraded() && bytes.Contains(data, []byte(`"traceEvents"`)) {
			for _, e := range whole.Errors() {
				if e.Kind == Truncated || e.Kind == Unterminated {
					t.Errorf("valid JSON, but %v", e)
				}
			}
		}
	})
}
