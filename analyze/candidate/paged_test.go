package candidate

import (
	"testing"

	"github.com/tracehandler/tracehandler/analyze/steps"
)

// TestPaged has an attention in two iterations of different lengths, and in a third without.
func TestPaged(t *testing.T) {
	args := `"Input Dims":[[4,2,8],[4,1,8]],` + bf16
	step := func(ts int, decode string) string {
		return x("user_annotation", "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4("+decode+")", 1, ts, 100, "")
	}
	two := append(call(1, 10, "vllm::unified_attention_with_output", args, "pa", 5), call(2, 210, "vllm::unified_attention_with_output", args, "pa", 5)...)
	two = append(two, step(0, "sq4sk40sqsq4sqsk40"), step(200, "sq4sk80sqsq4sqsk80"))
	build := func(events []string) Row {
		src := traced(events...)
		src.Steps = steps.Find(src.Trace)
		return Build([]Source{src}, Options{}).Rows[0]
	}
	r := build(two)
	// 2 heads, 16 numbers a pair of query and key, the mean of 40 and 80 pairs; bytes of 4 new and 56 cached keys.
	if flops, bytes := 2*2*60*16.0, (4*(2+1)*16+56*16)*2.0; !r.HasWork || r.Work.FLOPs != flops || r.Work.Bytes != bytes || r.Calls != 2 {
		t.Errorf("%+v, want %v and %v", r.Work, flops, bytes)
	}
	if r := build(append(two, call(3, 500, "vllm::unified_attention_with_output", args, "pa", 5)...)); r.HasWork || r.Calls != 3 {
		t.Errorf("a call of unknown lengths: %+v of %d calls", r.Work, r.Calls)
	}
}
