package finalize

import (
	"bytes"
	"errors"

	"testing"

	"github.com/tracehandler/tracehandler/format"
)

// TestDamagedBeginning: a file is not taken for text, and cut like text, because its first bytes are damaged.
func TestDamagedBeginning(t *testing.T) {
	for _, f := range []format.Format{format.Gzip, format.Zstd} {
		file := encode(t, f, lines(0, 5), lines(5, 9))
		for at := range 4 {
			bad := bytes.Clone(file)
			bad[at] ^= 0x41
			for name, do := range map[string]func() (Report, []byte, error){
				"verify": func() (Report, []byte, error) {
					fsys := disk(t, trace, bad)
					r, err := Verify(trace, &Options{FS: fsys})
					return r, get(t, fsys, trace), err
				},
				"recover": func() (Report, []byte, error) {
					fsys := disk(t, trace+".partial", bad)
					r, err := Recover("/logs", &Options{FS: fsys})
					must(t, err)
					return r[0], get(t, fsys, trace), err
				},
			} {
				rep, left, err := do()
				must(t, err)
				if rep.Format != f || rep.Events < 4 || !bytes.HasPrefix(left, bad) {
					t.Errorf("%v, byte %d, %s: %+v", f, at, name, rep)
				}
			}
		}
	}
}

func TestIdentify(t *testing.T) {
	zstd, gzip := encode(t, format.Zstd, lines(0, 9)), encode(t, format.Gzip, lines(0, 9))
	unknown := bytes.Repeat([]byte{0x93, 0x01, 0xfe, 0x88}, 50)
	tests := []struct {
		name    string
		content []byte
		want    format.Format
		ok      bool
	}{
		{"empty", nil, format.Plain, true},
		{"lines", []byte(lines(0, 3)), format.Plain, true},
		{"text", []byte("2026-11-30 11:00 {}\n"), format.Plain, true},
		{"byte order mark", []byte("\ufeff{}\n"), format.Plain, true},
		{"damaged line", []byte("\xfb" + lines(0, 3)[1:]), format.Plain, true},
		{"zeros", make([]byte, 100), format.Plain, true},
		{"zeros, then lines", append(make([]byte, 4096), lines(0, 3)...), format.Plain, true},
		{"zeros, then a frame", append(make([]byte, 4096), zstd...), format.Zstd, true},
		{"zstd", zstd, format.Zstd, true},
		{"gzip", gzip, format.Gzip, true},
		{"part of a magic", []byte{0x28, 0xb5}, format.Zstd, true},
		{"CLP archive", []byte{0xfd, 0x2f, 0xc5, 0x30, 0, 0}, 0, false},
		{"unknown", unknown, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := disk(t, trace+".partial", tt.content)
			f, err := fsys.OpenFile(trace+".partial", 0, 0)
			must(t, err)
			defer f.Close()
			got, err := identify(f, trace)
			var unsupported *UnsupportedError
			if tt.ok && (err != nil || got != tt.want) || !tt.ok && !errors.As(err, &unsupported) {
				t.Fatalf("%v, %v", got, err)
			}
			if tt.ok {
				return
			}
			if _, err := Recover("/logs", &Options{FS: fsys}); !errors.As(err, &unsupported) {
				t.Errorf("Recover: %v", err)
			}
			if got := get(t, fsys, trace+".partial"); !bytes.Equal(got, tt.content) {
				t.Errorf("it was touched: %d bytes", len(got))
			}
		})
	}
}
