package category

import (
	"encoding/json"
	"os"
	"testing"
)

type vectors struct {
	Classify []struct {
		Name, Op string
		Expect   [3]any
	} `json:"classify_kernel"`
	Names []struct {
		Name   string
		Expect [3]any
	} `json:"classify_trace_names"`
	Collective []struct {
		Name       string
		Hyperloom  bool
		Normalised string
		TraceLens  bool
	} `json:"collective_name"`
	Canonical []struct{ Raw, Expect *string } `json:"canonical_category"`
}

func load(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestKernels holds us to Hyperloom's categories wherever it has one, but for NCCL's kernels, and to having one ourselves.
func TestKernels(t *testing.T) {
	v := load(t)
	check := func(name, op string, want [3]any) {
		got := Of(name, op)
		if want[0] != string(Others) && want[0] != string(got) && !IsCollective(name) {
			t.Errorf("%.90q by %q: %s, want %s", name, op, got, want[0])
		}
		if got == Others && name != "" && len(name) > 5 {
			t.Errorf("%.90q by %q is not classified", name, op)
		}
		ok, reason := Rewritable(name)
		if (ok != want[1] || reason != want[2]) && !IsCollective(name) {
			t.Errorf("%.90q rewritable %v %q, want %v %q", name, ok, reason, want[1], want[2])
		}
	}
	for _, c := range v.Classify {
		check(c.Name, c.Op, c.Expect)
	}
	for _, c := range v.Names {
		check(c.Name, "", c.Expect)
	}
}

func TestOurs(t *testing.T) {
	for name, want := range map[string]Category{
		"ncclDevKernel_Generic_1":                                     Communication,
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64": GEMM,
		"ampere_fp16_s16816gemm_fp16_128x64":                          GEMM,
		"cutlass::Kernel2<cutlass_80_tensorop>":                       GEMM,
		"softmax_warp_forward":                                        Reduction,
		"void at::native::reduce_kernel<512,1>":                       Reduction,
		"miopenBatchNormFwd":                                          Normalization,
		"igemm_fwd_gtcx3_nhwc_bf16":                                   Convolution,
		"my rope":                                                     Elementwise,
		"gemm_a8w8_kernel":                                            GEMM,
		"something_else":                                              Others,
	} {
		if got := Of(name, ""); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := Of("ncclDevKernel_Generic_1", "aten::mm"); got != Communication {
		t.Errorf("an op turned a collective into %s", got)
	}
}

func TestCollectives(t *testing.T) {
	for _, c := range load(t).Collective {
		if got := IsCollective(c.Name); got != c.TraceLens {
			t.Errorf("IsCollective(%q) = %v", c.Name, got)
		}
		if got := Normalise(c.Name); got != c.Normalised {
			t.Errorf("Normalise(%q) = %q, want %q", c.Name, got, c.Normalised)
		}
		if got := HasCollectiveToken(c.Name); got != c.Hyperloom {
			t.Errorf("HasCollectiveToken(%q) = %v", c.Name, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range load(t).Canonical {
		raw, want := "", ""
		if c.Raw != nil {
			raw = *c.Raw
		}
		if c.Expect != nil {
			want = *c.Expect
		}
		if got := Canonical(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestCopyKernels(t *testing.T) {
	for name, want := range map[string]bool{
		"__amd_rocclr_copyBuffer": true, "__amd_rocclr_copyBufferRectAligned.kd": true, "MEMORY_COPY_HOST_TO_DEVICE": true,
		"__amd_rocclr_fillBuffer": false, "__amd_rocclr_copyBufferX": false, "MEMORY_COPY_HOST_TO_HOST": false,
	} {
		if IsCopyKernel(name) != want {
			t.Error(name)
		}
	}
}
