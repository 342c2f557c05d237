package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// program writes a trace of ops that each launch one kernel; notes are added as they are.
func program(notes string, ops ...string) *kineto.Trace {
	var b strings.Builder
	b.WriteString("[" + notes)
	for i, op := range ops {
		fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%d,"dur":8},
		{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":%d,"dur":6},
		{"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"correlation":%d}},`, op, 10*i, 10*i+1, 10*i+2, i, 10*i+4, i)
	}
	return kineto.Load(chrometrace.NewScanner(strings.NewReader(strings.TrimSuffix(b.String(), ",")+"]")), nil)
}

func note(name string, ts, dur int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d},`, name, ts, dur)
}

func names(roots []Root) string {
	var s []string
	for _, r := range roots {
		s = append(s, fmt.Sprintf("%s %d+%d", r.Name, r.TS/1000, r.Dur/1000))
	}
	return strings.Join(s, "; ")
}

func TestRepeats(t *testing.T) {
	layers := strings.Fields("embed attn mlp attn mlp head")
	loop := append(append(append([]string{"load", "load2"}, layers...), layers...), layers...)
	for _, c := range []struct {
		name  string
		trace *kineto.Trace
		want  string
	}{
		{"ops that repeat, and within them others", program("", loop...), "iteration#0 embed 20+60; iteration#1 embed 80+60; iteration#2 embed 140+58"},
		{"two iterations only", program("", append(append([]string{}, layers...), layers...)...), ""},
		{"annotations with numbers", program(note("denoise_step_0", 0, 20)+note("denoise_step_1", 20, 20)+note("denoise_step_10", 40, 20)+note("once", 0, 60), "a", "b", "c", "d", "e", "f"),
			"denoise_step_0 0+20; denoise_step_1 20+20; denoise_step_10 40+20"},
		{"the annotation that covers more", program(note("opt#1", 8, 2)+note("opt#2", 28, 2)+note("opt#3", 48, 2)+note("it 1", 0, 20)+note("it 2", 20, 20)+note("it 3", 40, 20), "a", "b", "a", "b", "a", "b"),
			"it 1 0+20; it 2 20+20; it 3 40+20"},
		{"annotations beside the work", program(note("x1", 1000, 1)+note("x2", 1001, 1)+note("x3", 1002, 1), "a", "b", "a", "b", "a", "b"),
			"iteration#0 a 0+20; iteration#1 a 20+20; iteration#2 a 40+18"},
		{"nothing regular", program("", "a", "b", "a", "a", "b", "c", "a"), ""},
		{"no work", program(note("x1", 1, 1) + note("x2", 2, 1) + note("x3", 3, 1)), ""},
	} {
		if got := names(Repeats(c.trace)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
