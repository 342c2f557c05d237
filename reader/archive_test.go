package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// archiveOf returns an archive of lines.
func archiveOf(t testing.TB, lines ...string) []byte { return archiveWith(t, nil, lines...) }

// archiveWith returns an archive of lines whose header has the fields.
func archiveWith(t testing.TB, fields []slog.Attr, lines ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := archive.NewWriter(&b, &archive.WriterOptions{TimeKey: []string{"time"}, Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if err := w.Write([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// noTemps makes a directory of its own the one for temporary files, and checks in the end that nothing is left there.
func noTemps(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
}

func TestArchive(t *testing.T) {
	noTemps(t)
	want, _ := testEvents(3000)
	want = append(want, `{"other":[1,{"a":"b c"}],"x":{}}`)
	raw := archiveOf(t, want...)
	for name, data := range map[string][]byte{
		"raw": raw, "zstd": zstdFrame(t, raw), "gzip": gzipMember(t, raw), "gzip in zstd": zstdFrame(t, gzipMember(t, raw)),
		"two frames": append(zstdFrame(t, raw[:1000]), zstdFrame(t, raw[1000:])...),
	} {
		path := filepath.Join(t.TempDir(), "x.clp.bak")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		fromFile, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		pipe, err := New(onlyReader{bytes.NewReader(data)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		behind := bytes.NewReader(append([]byte("some text before "), data...))
		if _, err := behind.Seek(17, 0); err != nil {
			t.Fatal(err)
		}
		middle, err := New(behind, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range []*Reader{fromFile, pipe, middle} {
			var text int64
			n := 0
			for l, err := range r.Lines() {
				if err != nil {
					t.Fatal(name, i, err)
				}
				if string(l.Raw) != want[n] || l.Number != int64(n+1) || l.Offset != text || len(l.Prefix) > 0 || l.Open {
					t.Fatalf("%s, %d: line %+v, want %s", name, i, l, want[n])
				}
				n++
				text += int64(len(l.Raw)) + 1
				if n == len(want)/2 {
					break
				}
			}
			if st := r.Stats(); st.Stored < int64(len(raw))/3 || st.Stored > int64(len(raw))*2/3 {
				t.Errorf("%s, %d: half is %d of %d bytes", name, i, st.Stored, len(raw))
			}
			lines, errs := irLines(r)
			if !slices.Equal(lines, want[n:]) || len(errs) > 0 {
				t.Errorf("%s, %d: %d lines, %v", name, i, len(lines), errs)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			st := r.Stats()
			if r.Kind() != CLPArchive || st.Events != int64(len(want)) || st.Lines != st.Events || st.Text <= text || st.Stored != int64(len(raw)) || st.Damage != 0 || r.Err() != nil {
				t.Errorf("%s, %d: %v %+v %v", name, i, r.Kind(), st, r.Err())
			}
		}
	}
}

// TestArchiveDirectory reads an archive of the reference that is a directory.
func TestArchiveDirectory(t *testing.T) {
	const dir = "../clp/archive/testdata/vectors/36-directory+dir"
	expected, err := os.ReadFile(dir + ".ordered.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir+".dir", &Options{Name: "named"})
	if err != nil {
		t.Fatal(err)
	}
	lines, errs := irLines(r)
	if got := strings.Join(lines, "\n") + "\n"; got != string(expected) || len(errs) > 0 {
		t.Errorf("%d lines, %v", len(lines), errs)
	}
	if err := r.Close(); err != nil || r.Path() != "named" {
		t.Error(err, r.Path())
	}
	if _, err := Open(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "header"), []byte("of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(other, "header"), archiveOf(t, "{}")[:80], 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Open(other, nil); err == nil { // its metadata is cut
		_, errs := irLines(r)
		if len(errs) != 1 {
			t.Error(errs)
		}
		r.Close()
	}
}

// TestArchiveNames opens what is called .clp and is no archive.
func TestArchiveNames(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		data  string
		lines int
		kind  Kind
	}{
		"ndjson.clp": {"{\"a\":1}\n{\"a\":2}\n", 2, JSONLines},
		"empty.clp":  {"", 0, JSONLines},
		"gone.clp":   {strings.Repeat("\x00", 64), 0, JSONLines},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		lines, errs := irLines(r)
		if len(lines) != c.lines || r.Kind() != c.kind || (len(errs) > 0) != (name == "gone.clp") {
			t.Errorf("%s: %d lines, %v, %v", name, len(lines), r.Kind(), errs)
		}
		r.Close()
	}
	old := archiveOf(t, "{}")
	copy(old[4:], "\x00\x00\x03\x00") // 0.3.0
	if r, err := New(bytes.NewReader(old), nil); !errors.Is(err, archive.ErrVersion) {
		t.Errorf("%v %v", r, err)
	}
}

// TestArchiveCut cuts an archive everywhere: each cut is told, and what can be read is read.
func TestArchiveCut(t *testing.T) {
	noTemps(t)
	var want []string
	for i := range 90_000 {
		want = append(want, fmt.Sprintf(`{"%c":%d}`, 'a'+i%2, uint64(i+1)*0x5851f42d4c957f2d>>2))
	}
	raw := archiveOf(t, want...)
	some := false
	for n := 4; n < len(raw); n += 1 + n/6 {
		for _, src := range []any{bytes.NewReader(raw[:n]), onlyReader{bytes.NewReader(raw[:n])}} {
			r, err := New(src.(interface{ Read([]byte) (int, error) }), nil)
			if err != nil {
				t.Fatal(n, err)
			}
			lines, errs := irLines(r)
			r.Close()
			var torn *TornError
			if len(errs) == 0 || !errors.As(errs[0], &torn) || r.Err() == nil {
				t.Fatalf("cut at %d of %d: %d lines, %v", n, len(raw), len(lines), errs)
			}
			if torn.Offset != int64(n) || torn.Section == "" || torn.Line != int64(len(lines)) {
				t.Errorf("cut at %d: %+v", n, torn)
			}
			if len(lines) > 0 {
				some = true
				if torn.Lost != int64(len(want)-len(lines)) {
					t.Errorf("cut at %d: %d lost, %d there", n, torn.Lost, len(lines))
				}
			}
		}
	}
	if !some {
		t.Error("no cut left a record")
	}
}

// TestArchiveDamage changes every byte: no event is another than before without a report, wherever the archive has a
// checksum.
func TestArchiveDamage(t *testing.T) {
	var want []string
	for i := range 30 {
		want = append(want, testEvent(i))
	}
	raw := archiveOf(t, want...)
	sections := map[string]bool{}
	for i := 4; i < len(raw); i++ {
		bad := slices.Clone(raw)
		bad[i] ^= 0x41
		r, err := New(bytes.NewReader(bad), nil)
		if err != nil {
			if !errors.Is(err, archive.ErrVersion) && !strings.Contains(err.Error(), "more than") {
				t.Errorf("byte %d: %v", i, err)
			}
			continue
		}
		_, errs := irLines(r)
		r.Close()
		for _, err := range errs {
			var d *DamageError
			if errors.As(err, &d) {
				sections[d.Section] = true
				if !strings.Contains(err.Error(), d.Section) {
					t.Errorf("%v does not name %s", err, d.Section)
				}
			}
		}
	}
	for _, s := range []string{"metadata", "/schema_tree", "/schema_ids", "/table_metadata", "/var.dict", "/0"} {
		if !sections[s] {
			t.Errorf("no damage of %s was reported: %v", s, sections)
		}
	}
}

// TestArchiveLayerDamage damages what an archive is packed in.
func TestArchiveLayerDamage(t *testing.T) {
	noTemps(t)
	want, _ := testEvents(100)
	raw := archiveOf(t, want...)
	data := append(zstdFrame(t, raw[:len(raw)/2]), zstdFrame(t, raw[len(raw)/2:])...)
	data[len(data)-10] ^= 1
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines, errs := irLines(r)
	if len(errs) < 2 || len(lines) == len(want) {
		t.Errorf("%d lines, %v", len(lines), errs)
	}
	for _, err := range errs {
		if !IsReport(err) {
			t.Error(err)
		}
	}
}

// TestArchiveLines keeps records on one line each, and records that are too long away.
func TestArchiveLines(t *testing.T) {
	long := fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", 5000))
	raw := archiveOf(t, "{\"a\":[1,\n\t2,\r\n\"\\n\"]}", long, `{"b":1}`)
	r, err := New(bytes.NewReader(raw), &Options{MaxLine: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines, errs := irLines(r)
	if len(lines) != 2 || strings.ContainsAny(lines[0], "\r\n") || lines[1] != `{"b":1}` {
		t.Errorf("%q", lines)
	}
	var bad *LineError
	if len(errs) != 1 || !errors.As(errs[0], &bad) || bad.Line != 2 || r.Stats().Bad != 1 {
		t.Errorf("%v %+v", errs, r.Stats())
	}
}

// TestArchiveSpoolPrivate looks at the copy of an archive from a pipe.
func TestArchiveSpoolPrivate(t *testing.T) {
	noTemps(t)
	r, err := New(onlyReader{bytes.NewReader(archiveOf(t, `{"secret":1}`))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := r.src.(*archiveSource).spooled.f
	info, err := f.Stat()
	if err != nil || runtime.GOOS != "windows" && info.Mode() != fs.FileMode(0o600) {
		t.Error(info.Mode(), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Stat(); err == nil {
		t.Error("still open")
	}
}
