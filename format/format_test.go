package format_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tracehandler/tracehandler/format"
)

func TestWords(t *testing.T) {
	tests := []struct {
		f            format.Format
		word, suffix string
	}{
		{format.Plain, "plain", ".ndjson"},
		{format.Gzip, "gzip", ".ndjson.gz"},
		{format.Zstd, "zstd", ".ndjson.zst"},
		{format.CLP, "clp", ".clp"},
		{format.CLPIR, "clp-ir", ".clp.zst"},
	}
	if len(tests) != len(format.All()) {
		t.Errorf("%d formats, %d tested", len(format.All()), len(tests))
	}
	for i, tt := range tests {
		if got := format.All()[i]; got != tt.f {
			t.Errorf("All()[%d] = %v, want %v", i, got, tt.f)
		}
		if got, err := format.Parse(tt.word); got != tt.f || err != nil {
			t.Errorf("Parse(%q) = %v, %v", tt.word, got, err)
		}
		if tt.f.String() != tt.word || tt.f.Suffix() != tt.suffix || !tt.f.Valid() {
			t.Errorf("%d: %q, %q", tt.f, tt.f.String(), tt.f.Suffix())
		}
		var v struct{ F format.Format }
		text, err := json.Marshal(struct{ F format.Format }{tt.f})
		if err != nil || string(text) != fmt.Sprintf(`{"F":%q}`, tt.word) {
			t.Errorf("Marshal(%v) = %s, %v", tt.f, text, err)
		}
		if err := json.Unmarshal(text, &v); err != nil || v.F != tt.f {
			t.Errorf("Unmarshal(%s) = %v, %v", text, v.F, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, word := range []string{"", "none", "PLAIN", " plain", "ndjson", "clpir"} {
		_, err := format.Parse(word)
		var unknown *format.UnknownError
		if !errors.As(err, &unknown) || unknown.Word != word {
			t.Errorf("Parse(%q): %v", word, err)
		}
		f := format.Zstd
		if err := f.UnmarshalText([]byte(word)); !errors.As(err, &unknown) || f != format.Zstd {
			t.Errorf("UnmarshalText(%q): %v, %v", word, f, err)
		}
	}
	f := format.Format(200)
	if _, err := f.MarshalText(); err == nil || f.Valid() || f.Suffix() != "" || f.String() != "format(200)" {
		t.Errorf("%v: %q, %v", f, f.Suffix(), err)
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		head string
		want format.Magic
	}{
		{"", format.Text},
		{"{", format.Text},
		{`{"time":`, format.Text},
		{"\x1f", format.Text},
		{"\x1f\x8b", format.GzipMagic},
		{"\x1f\x8b\x08\x00", format.GzipMagic},
		{"\x1f\x9d\x90\x00", format.Text}, // compress(1)
		{"\x28\xb5\x2f", format.Text},
		{"\x28\xb5\x2f\xfd", format.ZstdMagic},
		{"\x27\xb5\x2f\xfd", format.Text}, // zstd 0.7
		{"\x50\x2a\x4d\x18\x00\x00\x00\x00", format.ZstdMagic},
		{"\x5e\x2a\x4d\x18", format.ZstdMagic},
		{"\x5f\x2a\x4d\x18", format.ZstdMagic},
		{"\x60\x2a\x4d\x18", format.Text},
		{"\x4f\x2a\x4d\x18", format.Text},
		{"\x5f\x2a\x4d\x19", format.Text},
		{"\xfd\x2f\xc5\x30", format.ArchiveMagic},
		{"\xfd\x2f\xb5\x29", format.IRMagic4},
		{"\xfd\x2f\xb5\x30", format.IRMagic8},
		{"\xfd\x2f\xb5\x31", format.Text},
		{"\xef\xbb\xbf{", format.Text},
	}
	for _, tt := range tests {
		if got := format.Detect([]byte(tt.head)); got != tt.want {
			t.Errorf("Detect(%x) = %v, want %v", tt.head, got, tt.want)
		}
	}
	if got := format.Magic(99).String(); got != "magic(99)" {
		t.Errorf("String of an unknown magic: %q", got)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00"))
	f.Add([]byte("\x5f\x2a\x4d\x18"))
	f.Fuzz(func(t *testing.T, head []byte) {
		m := format.Detect(head)
		if len(head) > format.HeadSize && format.Detect(head[:format.HeadSize]) != m {
			t.Errorf("more than HeadSize bytes matter in %x", head)
		}
	})
}
