// Package traces makes raw compile traces of any size for measurements, by repeating example records with other hashes,
// processes, pointers and time stamps. The same options give the same bytes.
package traces

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
)

// Options describe the traces.
type Options struct {
	Seed         int64
	Bytes        int64  // of all files together, uncompressed, about
	Ranks, Procs int    // files: one for each process of each rank
	Compress     string // "", "gzip" or "zstd": one member or frame for each record
	CompileOnly  bool   // drop the launches
	FreshPtr     bool   // other pointers in every record, not only in every repetition
	FreshCode    bool   // other kernel names, and so other code, in every repetition
	OneHash      bool   // the same kernels in every repetition
}

// Write makes the files in dir from example records, which are JSON lines. It returns the uncompressed size and the
// number of records.
func Write(dir string, examples [][]byte, o Options) (size int64, records int, err error) {
	var use [][]byte
	for _, e := range examples {
		if !o.CompileOnly || bytes.HasPrefix(e, []byte(`{"event_type":"compilation"`)) {
			use = append(use, e)
		}
	}
	if len(use) == 0 {
		return 0, 0, fmt.Errorf("traces: no example records")
	}
	files := o.Ranks * o.Procs
	per := o.Bytes / int64(files)
	for i := range files {
		rank, pid := i/o.Procs, 4000+i
		name := fmt.Sprintf("dedicated_log_triton_trace_gen_rank_%d_pid_%d_host_node%d_.ndjson", rank, pid, rank/8)
		s, n, err := writeFile(filepath.Join(dir, name), use, o, rank, pid, per)
		if err != nil {
			return 0, 0, err
		}
		size, records = size+s, records+n
	}
	return size, records, nil
}

var (
	hashes   = regexp.MustCompile(`"[0-9a-f]{64}"`)
	pointers = regexp.MustCompile(`"0x[0-9a-f]{4,16}"`)
	pids     = regexp.MustCompile(`"pid":\d+`)
	times    = regexp.MustCompile(`"timestamp":"[^"]*"`)
)

func writeFile(path string, use [][]byte, o Options, rank, pid int, limit int64) (size int64, records int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var zs *zstd.Encoder
	if o.Compress == "zstd" {
		if zs, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false)); err != nil {
			return 0, 0, err
		}
	}
	zg, _ := gzip.NewWriterLevel(io.Discard, gzip.BestCompression)
	var out, packed bytes.Buffer
	for size < limit {
		// Processes of a rank run the same kernels; repetitions do not.
		rep := records / len(use)
		if o.OneHash {
			rep = 0
		}
		salt := fmt.Sprintf("%d/%d/%d", o.Seed, rank, rep)
		if o.CompileOnly {
			salt = fmt.Sprintf("%s/%d", salt, pid)
		}
		shift := uint64(rep) << 24
		if o.FreshPtr {
			shift = uint64(records) << 16
		}
		line := perturb(use[records%len(use)], salt, shift, pid, records)
		if o.FreshCode {
			line = rename(line, salt)
		}
		size += int64(len(line)) + 1
		records++
		switch o.Compress {
		case "gzip":
			packed.Reset()
			zg.Reset(&packed)
			_, _ = zg.Write(append(line, '\n'))
			_ = zg.Close()
			out.Write(packed.Bytes())
		case "zstd":
			out.Write(zs.EncodeAll(append(line, '\n'), nil))
		default:
			out.Write(line)
			out.WriteByte('\n')
		}
		if out.Len() > 1<<20 {
			if _, err := out.WriteTo(f); err != nil {
				return 0, 0, err
			}
		}
	}
	if _, err := out.WriteTo(f); err != nil {
		return 0, 0, err
	}
	return size, records, f.Close()
}

func perturb(line []byte, salt string, shift uint64, pid, n int) []byte {
	line = hashes.ReplaceAllFunc(line, func(h []byte) []byte {
		sum := sha256.Sum256(append([]byte(salt), h...))
		return []byte(`"` + hex.EncodeToString(sum[:]) + `"`)
	})
	line = pointers.ReplaceAllFunc(line, func(p []byte) []byte {
		v, err := strconv.ParseUint(string(p[3:len(p)-1]), 16, 64)
		if err != nil {
			return p
		}
		return fmt.Appendf(nil, `"0x%x"`, v+shift)
	})
	line = pids.ReplaceAll(line, fmt.Appendf(nil, `"pid":%d`, pid))
	return times.ReplaceAll(line, fmt.Appendf(nil, `"timestamp":"2026-01-26T21:%02d:%02d.%%fZ"`, n/6000%60, n/100%60))
}

var kernelName = regexp.MustCompile(`"name":"([a-zA-Z_]\w{3,})","cache_hit"|"([a-zA-Z_]\w{3,})\.ttir"`)

// rename gives the kernel of a record another name wherever it stands.
func rename(line []byte, salt string) []byte {
	m := kernelName.FindSubmatch(line)
	if m == nil {
		return line
	}
	name := m[1]
	if name == nil {
		name = m[2]
	}
	sum := sha256.Sum256([]byte(salt))
	return bytes.ReplaceAll(line, name, fmt.Appendf(nil, "%s_%x", name, sum[:4]))
}

// Read reads example records from files of JSON lines, plain or gzip.
func Read(paths ...string) (lines [][]byte, err error) {
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if format.Detect(data) == format.GzipMagic {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return nil, err
			}
			if data, err = io.ReadAll(z); err != nil {
				return nil, err
			}
		}
		for _, l := range bytes.Split(data, []byte{'\n'}) {
			if len(l) > 0 {
				lines = append(lines, l)
			}
		}
	}
	return lines, nil
}
