package archive

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

func TestFormattedFloat(t *testing.T) {
	tests := []struct {
		text   string
		format uint16
	}{
		{"1.50", 0x0040}, {"0.001", 0}, {"1e5", 0x4000}, {"-1.25E+03", 0xD440}, {"100.0", 0x0060}, {"1e-7", 0x6000}, {"1.0e10", 0x4420},
		{"0.30000000000000004", 0x0200}, {"1.7976931348623157e308", 0x4a00}, {"5e-324", 0x6800}, {"4.9E-324", 0xe820}, {"0.00000", 0x00a0},
		{"-0.0", 0x0020}, {"1e+00", 0x5400}, {"2e005", 0x4800}, {"123456.7", 0x00c0}, {"0.1", 0},
	}
	for _, tt := range tests {
		v, err := strconv.ParseFloat(tt.text, 64)
		check(t, err)
		if got, err := appendFormatted(nil, v, tt.format); err != nil || string(got) != tt.text {
			t.Errorf("%v with %#04x: got %s, %v, want %s", v, tt.format, got, err, tt.text)
		}
	}
	if _, err := appendFormatted(nil, math.Inf(1), 0); err != ErrFloat {
		t.Errorf("infinity: %v", err)
	}
}

// FuzzFormattedFloat: any float in any format is a JSON number of about the value.
func FuzzFormattedFloat(f *testing.F) {
	f.Add(uint64(0x3FF8000000000000), uint16(0x40))
	f.Add(uint64(1), uint16(0xFFFF))
	f.Fuzz(func(t *testing.T, bits uint64, format uint16) {
		v := math.Float64frombits(bits)
		got, err := appendFormatted(nil, v, format)
		if err != nil {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Fatal(v, err)
			}
			return
		}
		if !json.Valid(got) || !jsontext.IsNumber(got) {
			t.Fatalf("%v with %#04x: %s", v, format, got)
		}
	})
}

// TestFormatLong compares the quick way for numbers of 16 and 17 digits with printing them.
func TestFormatLong(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	texts := []string{"0.10000000000000001", "0.1000000000000000", "0.01000000000000000", "0.001000000000000000", "0.000000000000000100", "0.0000010000000000", "99999999999999.99", "-0.0000000000000000", "1.00000000000000000", "9007199254740992.5", "9007199254740993.0", "0.999999999999999944", "100000000000000.25"}
	for range 200_000 {
		v := math.Float64frombits(r.Uint64())
		if r.IntN(4) > 0 {
			v = (r.Float64() - 0.3) * math.Pow(10, float64(r.IntN(22)-6))
		}
		text := strconv.AppendFloat(nil, v, 'f', -1, 64)
		if i := len(text) - 1; r.IntN(2) == 0 && text[i]-'0' <= 9 {
			text[i] = '0' + byte(r.IntN(10))
		}
		texts = append(texts, string(text))
	}
	long, quick := 0, 0
	for _, text := range texts {
		n := jsontext.ScanNumber([]byte(text), 0)
		if n.End != len(text) { // no number
			continue
		}
		var buf []byte
		wantBits, wantFormat, want := formatSlow([]byte(text), &buf)
		bits, format, ok := formatLong([]byte(text), &n)
		if ok && (!want || bits != wantBits || format != wantFormat) {
			t.Fatalf("%s: %#x, %#x, want %#x, %#x, %v", text, bits, format, wantBits, wantFormat, want)
		}
		if want && !isPlain(&n) && n.Fraction > 0 && n.Whole+n.Fraction <= 19 {
			if long++; ok {
				quick++
			}
		}
	}
	if quick < long*99/100 {
		t.Errorf("%d of %d numbers went the quick way", quick, long)
	}
}
