package analysis

import (
	"bytes"
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// AppendIOCounts appends how many lines of an AMD kernel hold each kind of memory operation.
func AppendIOCounts(dst []byte, ttgir, amdgcn []byte) []byte {
	dst = append(dst, `{"amd_ttgir_bufferops_count":`...)
	dst = appendCounts(dst, ttgir, "tt.load", "tt.store", "amdgpu.buffer_load", "amdgpu.buffer_store")
	dst = append(dst, `,"amd_gcn_bufferops_count":`...)
	dst = appendCounts(dst, amdgcn, "global_load", "global_store", "buffer_load", "buffer_store")
	return append(dst, '}')
}

func appendCounts(dst, text []byte, ops ...string) []byte {
	dst = append(dst, '{')
	for i, op := range ops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(js.AppendString(dst, op+"_count"), ':')
		dst = strconv.AppendInt(dst, int64(linesWith(text, op)), 10)
	}
	return append(dst, '}')
}

// linesWith counts the lines that hold sub.
func linesWith(text []byte, sub string) int {
	n := 0
	for {
		i := bytes.Index(text, []byte(sub))
		if i < 0 {
			return n
		}
		n++
		nl := bytes.IndexByte(text[i:], '\n')
		if nl < 0 {
			return n
		}
		text = text[i+nl+1:]
	}
}
