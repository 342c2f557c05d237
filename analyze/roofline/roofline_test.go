package roofline

import (
	"math"
	"testing"
)

func TestDevices(t *testing.T) {
	specs, err := ParseSpecs(devicesJSON)
	if err != nil || len(specs) == 0 {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"AMD Instinct MI300X": "MI300X", "NVIDIA H100 80GB HBM3": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA B200": "B200",
		"NVIDIA H200": "H200 SXM", "NVIDIA H200 NVL": "H200 NVL", "NVIDIA A100-SXM4-80GB": "A100 80GB SXM", "NVIDIA A100 80GB PCIe": "A100 80GB PCIe",
		"NVIDIA A100-SXM4-40GB": "A100 40GB", "AMD Instinct MI210": "", "AMD Instinct MI308X": "", "": "", "NVIDIA H100 NVL": "",
		"NVIDIA GB200": "", "NVIDIA H100 80GB HBM3 MIG 1g.10gb": "", "NVIDIA A100-SXM4-80GB MIG 3g.40gb": "",
	} {
		s, known := DeviceSpec(name)
		if s.Name != want || known != (want != "") {
			t.Errorf("%q: %q %v, want %q", name, s.Name, known, want)
		}
	}
	mine, err := ParseSpecs([]byte(`[{"name": "mine", "match": ["MI210"], "hbm_gbps": 1600, "matrix": {"bf16": 181}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := DeviceSpec("AMD Instinct MI210", mine...); !ok || s.Name != "mine" {
		t.Error("given specifications are not used")
	}
	if _, err := ParseSpecs([]byte(`[{"name": "x"}]`)); err == nil {
		t.Error("a device without bandwidth was accepted")
	}
}

func TestModels(t *testing.T) {
	bf16 := `["c10::BFloat16","c10::BFloat16","c10::BFloat16"]`
	for _, c := range []struct {
		op, dims, types, concrete string
		flops, bytes              float64
	}{
		{"aten::mm", `[[2,3],[3,4]]`, bf16, "", 48, 2 * (6 + 12 + 8)},
		{"aten::bmm", `[[5,2,3],[5,3,4]]`, bf16, "", 240, 2 * (30 + 60 + 40)},
		{"aten::addmm", `[[4],[2,3],[3,4]]`, bf16, "", 56, 2 * (6 + 12 + 8 + 4)},
		{"aten::convolution", `[[1,2,5,5],[3,2,3,3],[],[],[],[],[],[],[]]`, `["float","float","","","","","","",""]`,
			`["","","","[2,2]","[1,1]","[1,1]","False","[0,0]","1"]`, 2 * 18 * 27, 4 * (50 + 54 + 27)},
		{"aten::_scaled_dot_product_flash_attention", `[[1,1,4,8],[1,1,4,8],[1,1,4,8],[],[]]`, bf16, `["","","","0.","True"]`, 4 * 8 * 8, 2 * 32 * 4},
		{"aten::_scaled_dot_product_flash_attention", `[[1,1,2,8],[1,1,4,8],[1,1,4,8],[],[]]`, bf16, `["","","","0.","True"]`, 7 * 4 * 8, 2 * (16 + 32 + 32 + 16)},
		{"aten::layer_norm", `[[2,8],[],[8],[8]]`, `["float","ScalarList","float","float"]`, `["","[8]","",""]`, 6*8 + 5*16, 4 * (2*16 + 6*8)},
		{"aten::native_layer_norm_backward", `[[2,8],[2,8],[],[2,1],[2,1],[8],[8],[]]`, `["float","float","ScalarList","float","float","float","float",""]`,
			`["","","[8]","","","","","[False, True, True]"]`, 6 * 16, 4 * (2*16 + 8 + 3*8)},
		{"aten::native_group_norm_backward", `[[2,8,4],[2,8,4],[2,2],[2,2],[8],[],[],[],[],[]]`, `["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar",""]`,
			`["","","","","","2","8","4","2","[True, True, True]"]`, 9 * 64, 4 * (3*64 + 4 + 3*4)},
		{"aten::_fused_rms_norm", `[[2,8],[],[8]]`, `["float","ScalarList","float"]`, `["","[8]","","1e-6"]`, 2*(2*8+2) + 2*16, 4 * (2*16 + 8)},
		{"triton_poi_fused_add_silu_3", `[[4,8],[32],[]]`, `["c10::BFloat16","c10::BFloat16","Scalar"]`, `["","","32"]`, 5 * 32, 2 * 96},
		{"triton_red_fused_mean_var_mean_gelu_backward_0", `[[4,8],[4],[],[]]`, `["c10::BFloat16","c10::BFloat16","Scalar","Scalar"]`, `["","","4","8"]`, 32, 2 * 36},
		{"aten::_scaled_dot_product_flash_attention_backward", `[[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[],[],[],[],[]]`,
			`["float","float","float","float"]`, `["","","","","","","","","","","0.","False"]`, 2 * 16 * 2 * 5 * 8, 4 * 7 * 64},
		{"aten::add", `[[2,3],[3]]`, `["float","float"]`, "", 6, 4 * (6 + 3 + 6)},
		{"aten::mul", `[[1,256,4096],[1,256,1]]`, `["c10::BFloat16","float"]`, "", 1 << 20, 2<<20 + 4*256 + 4<<20}, // the result is float
		{"aten::mul", `[[2,3],[]]`, `["c10::BFloat16","double"]`, "", 6, 2*6 + 8 + 2*6},                            // a scalar does not promote
		{"aten::add", `[[2,3],[2,3],[2,3]]`, `["float","float","c10::BFloat16"]`, "", 6, 4*6 + 4*6 + 2*6},
		{"aten::replication_pad3d", `[[1,128,17,240,240],[]]`, `["c10::BFloat16","ScalarList"]`, `["","[1, 1, 1, 1, 2, 0]"]`,
			128 * 19 * 242 * 242, 2 * 128 * (17*240*240 + 19*242*242)},
		{"aten::upsample_nearest1d", `[[1,768,8],[],[]]`, `["c10::BFloat16","ScalarList",""]`, `["","[128]",""]`, 768 * 128, 2 * 768 * (8 + 128)},
		{"aiter::rms_norm", `[[32,2880],[2880],[],[]]`, bf16, "", 368_704, 2 * (2*92160 + 2880)},
		{"aiter::rmsnorm2d_fwd_with_add_ck", `[[32,2880],[32,2880],[32,2880],[32,2880],[2880]]`, `["c10::BFloat16","","","","c10::BFloat16"]`, "", 460_864, 2 * (4*92160 + 2880)},
		{"aiter::_groupnorm_run", `[[1,512,32,32],[],[512],[512],[]]`, `["c10::BFloat16","Scalar","c10::BFloat16","c10::BFloat16","Scalar"]`, "", 2_624_512, 2*2<<19 + 2*6*512},
		{"aiter::fmha_v3_fwd", `[[1,768,24,128],[1,768,24,128],[1,768,24,128]]`, bf16, `["","","","0.","0.08","False"]`, 7_247_757_312, 18 << 20},
		{"aiter::wrapper_fmha_v3_bwd", `[[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8]]`, `["float","float","float","float"]`, "", 2 * 16 * 2 * 5 * 8, 4 * 7 * 64},
		{"primus_turbo::grouped_gemm", `[[64,16],[4,32,16],[4]]`, bf16, "", 2 * 64 * 16 * 32, 2 * (64*16 + 4*16*32 + 64*32)},
		{"aten::_grouped_mm", `[[64,16],[4,16,32],[4]]`, bf16, "", 2 * 64 * 16 * 32, 2 * (64*16 + 4*16*32 + 64*32)},
		{"triton_per_fused_abs_0", `[[8,4],[2,4],[]]`, `["c10::BFloat16","float","Scalar"]`, `["","","32"]`, 32, 2 * 32}, // float beside c10 types is left out
		{"triton_poi_fused_abs_0", `[[8,4],[8,4],[]]`, `["float","float","Scalar"]`, `["","","32"]`, 32, 3 * 4 * 32},
	} {
		w, ok := Model(c.op, ParseShape(c.dims, c.types, c.concrete))
		if !ok || w.FLOPs != c.flops || w.Bytes != c.bytes {
			t.Errorf("%s %s: %+v %v, want %v and %v", c.op, c.dims, w, ok, c.flops, c.bytes)
		}
	}
	for _, c := range [][2]string{{"aten::mm", `[[2],[3]]`}, {"aten::mm", `[[2,3],[4,5]]`}, {"aten::mm", ``}, {"my::op", `[[1]]`}, {"aten::convolution", `[[1,2,3,4],[1,2,3,4]]`}} {
		if w, ok := Model(c[0], ParseShape(c[1], bf16, "")); ok {
			t.Errorf("%v: %+v", c, w)
		}
	}
}

// TestPaged has the figures of TraceLens' reports on vLLM, SGLang and aiter (AMD-AGI/TraceLens 171dd747, tests/traces/inference).
func TestPaged(t *testing.T) {
	const types = `["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"]`
	for _, c := range []struct {
		op, dims        string
		prefill, decode Lengths
		gflops, mb      float64
	}{
		{"vllm::unified_attention_with_output", `[[32,64,64],[32,8,64],[32,8,64],[32,64,64]]`, Lengths{}, Lengths{32, 55086, 32, 55086}, 0.902529024, 108.08984375},
		{"vllm::unified_attention_with_output", `[[8192,64,64],[8192,8,64],[8192,8,64],[8192,64,64]]`, Lengths{8155, 8430, 7475785, 7671310}, Lengths{37, 34489, 37, 34489}, 65.010180096, 211.826171875},
		{"aiter::mha_batch_prefill", `[[15360,32,128],[835874,8,128],[835874,8,128]]`, Lengths{15360, 15360, 15728640, 15728640}, Lengths{}, 128.84901888, 300},
		{"sglang_profiler::attention_paged_attention_ragged_100", `[[32,32,128],[10905190400],[32,32,128],[835874,1,8,128],[835874,1,8,128]]`, Lengths{}, Lengths{32, 32785, 32, 32785}, 0.53714944, 128.56640625},
	} {
		w, ok := Paged(c.op, ParseShape(c.dims, types, ""), c.prefill, c.decode)
		if !ok || w.FLOPs/1e9 != c.gflops || w.Bytes/(1<<20) != c.mb || !w.Matrix || !IsPaged(c.op) {
			t.Errorf("%s: %v GFLOPS, %v MB, %v; want %v, %v", c.op, w.FLOPs/1e9, w.Bytes/(1<<20), ok, c.gflops, c.mb)
		}
		if _, ok := Paged(c.op, ParseShape(c.dims, types, ""), Lengths{}, Lengths{}); ok {
			t.Errorf("%s without a sequence has work", c.op)
		}
	}
	if _, ok := Paged("aten::mm", ParseShape(`[[1,2,3],[1,2,3]]`, types, ""), Lengths{Q: 1}, Lengths{}); ok || IsPaged("aten::mm") {
		t.Error("a product is an attention")
	}
}

func TestOn(t *testing.T) {
	spec, _ := DeviceSpec("AMD Instinct MI300X")
	w, _ := Model("aten::mm", ParseShape(`[[8944,1024],[1024,2816]]`, `["c10::BFloat16","c10::BFloat16"]`, ""))
	e, ok := w.On(spec)
	if !ok || e.Bound != ComputeBound || math.Abs(e.Nanoseconds-72855.3) > 0.1 {
		t.Errorf("%+v %v", e, ok)
	}
	w.Precision = "fp12"
	if e, ok := w.On(spec); ok {
		t.Errorf("an unknown precision has a peak: %+v", e)
	}
}

func TestBy(t *testing.T) {
	for _, c := range []struct {
		precision, kernel, want string
		matrix                  bool
	}{
		{"fp32", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x64", "tf32", true},
		{"fp32", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4>", "tf32", true},
		{"fp32", "ampere_sgemm_128x64_tn", "fp32", true},
		{"fp32", "Cijk_Ailk_Bljk_S_B_MT64x64x16", "fp32", true},
		{"fp32", "vectorized_tf32", "fp32", false},
		{"bf16", "sm80_tf32", "bf16", true},
	} {
		if got := (Work{Precision: c.precision, Matrix: c.matrix}).By(c.kernel).Precision; got != c.want {
			t.Errorf("%s by %s: %s, want %s", c.precision, c.kernel, got, c.want)
		}
	}
	w := Work{FLOPs: 1e12, Bytes: 1, Precision: "fp32", Matrix: true}
	spec, _ := DeviceSpec("NVIDIA A100-SXM4-80GB")
	slow, _ := w.On(spec)
	if fast, ok := w.By("tf32").On(spec); !ok || fast.Compute*8 != slow.Compute {
		t.Errorf("%v as tf32, %v as fp32", fast, slow)
	}
}

func FuzzModel(f *testing.F) {
	f.Add("aten::convolution", `[[1,2,5,5],[3,2,3,3]]`, `["float"]`, `["","","","[0]"]`)
	f.Fuzz(func(t *testing.T, op, dims, types, concrete string) {
		sh := ParseShape(dims, types, concrete)
		for name := range models {
			Model(name, sh)
		}
		Model(op, sh)
	})
}
