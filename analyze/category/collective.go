package category

import "strings"

// IsCollective reports whether a GPU event is communication by its name: TraceLens' test, by which timelines are told
// apart. All of NCCL's and RCCL's kernels have it, and vLLM's and aiter's own all-reduce.
func IsCollective(name string) bool {
	return containsFold(name, "rccl") || containsFold(name, "nccl") || containsFold(name, "cross_device_reduce")
}

// Collectives returns IsCollective with a memory, by the number of a name: a trace has few names and many events.
func Collectives() func(id uint32, name string) bool {
	known := map[uint32]bool{}
	return func(id uint32, name string) bool {
		is, ok := known[id]
		if !ok {
			is = IsCollective(name)
			known[id] = is
		}
		return is
	}
}

// IsCopyKernel reports whether a kernel is a copy that old ROCm profilers recorded as a kernel.
func IsCopyKernel(name string) bool {
	name = strings.TrimSuffix(name, ".kd")
	switch name {
	case "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE":
		return true
	}
	rest, ok := strings.CutPrefix(name, "__amd_rocclr_copyBuffer")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "Rect")
	return rest == "" || rest == "Aligned"
}

// containsFold is strings.Contains without regard to ASCII case; sub is lower-case.
func containsFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		j := 0
		for j < len(sub) && lower(s[i+j]) == sub[j] {
			j++
		}
		if j == len(sub) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// HasCollectiveToken is Hyperloom's test, by which candidates are filtered: the name, split at changes of case and at
// digits, holds one of the collectives as a whole token. It over-matches by design (broadcast_add), and misses rccl.
func HasCollectiveToken(name string) bool {
	return hasCollectiveToken(Normalise(name))
}

// Normalise splits camelCase, turns what is not a letter or digit into '_', splits a letter off the digit before it, and
// lowers the case.
func Normalise(name string) string {
	var b []byte
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case isUpper(c):
			// HTTPServer splits before the S, getURL before the U.
			if i > 0 && (isLower(name[i-1]) || isDigit(name[i-1]) || isUpper(name[i-1]) && i+1 < len(name) && isLower(name[i+1])) {
				b = append(b, '_')
			}
		case isLower(c):
			if i > 0 && isDigit(name[i-1]) {
				b = append(b, '_')
			}
		case isDigit(c):
		default:
			c = '_'
		}
		if c == '_' && (len(b) == 0 || b[len(b)-1] == '_') {
			continue
		}
		if n := len(b); n > 1 && b[n-1] == '_' && b[n-2] == '_' {
			b = b[:n-1]
		}
		b = append(b, lower(c))
	}
	return strings.Trim(string(b), "_")
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func hasCollectiveToken(norm string) bool {
	padded := "_" + norm + "_"
	for _, token := range []string{"all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "reducescatter",
		"all_to_all", "alltoall", "broadcast"} {
		if strings.Contains(padded, "_"+token+"_") {
			return true
		}
	}
	for token := range strings.SplitSeq(norm, "_") {
		// n?cc?lx?
		token = strings.TrimPrefix(token, "n")
		token, ok := strings.CutPrefix(token, "c")
		if !ok {
			continue
		}
		token = strings.TrimPrefix(token, "c")
		if token == "l" || token == "lx" {
			return true
		}
	}
	return false
}
