package archive

import (
	"encoding/json"
	"math"
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
