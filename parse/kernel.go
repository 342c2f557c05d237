package parse

import (
	"bytes"
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/analysis"
	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// kernel is everything known about one kernel of a rank. The lines themselves are in the spill.
type kernel struct {
	hash     string // identity: the text of a string, or the JSON of a number
	hashJSON []byte
	name     []byte // JSON, from the compilation, or else the first launch
	out      *output

	compiled   bool
	occurrence int64 // of the compilation
	params     []configParam
	fake       []byte // the compilation made up from the first launch, without its end; nil once there is a real one
	fakeSite   string // session of the first launch
	fakeName   string // output of the made-up compilation
	fakeStack  []byte // JSON, of the first launch

	roofOccurrence, diffOccurrence int64

	head, launches, tail stream // the compilation, the launches, the IR analysis

	lines      launchWriter
	count      uint32 // launches
	launchName []byte // JSON, of the first launch
	indexes    ranges // of the launches among all launches of the rank
	diff       diffTree
	lastHash   lastHash
	static     *analysis.Static // for the roofline; nil without TTIR
	roof       []roofLaunch
	grids      map[string]int32
	gridTexts  [][]byte
}

// roofLaunch is what the roofline needs of one launch.
type roofLaunch struct {
	index      uint32
	occurrence int64
	grid       int32 // index into kernel.gridTexts, -1 for none
	ctas       int64 // -1 if the grid is not known
	argBytes   int64 // -1 without tensors
}

func (k *kernel) hashKey() []byte {
	if k.hashJSON[0] == '"' {
		return k.hashJSON
	}
	return js.AppendString(nil, k.hash)
}

// kernelHash reads a hash: text or a number. Anything else, the empty text and zero are none.
func kernelHash(v js.Value) (hash string, ok bool) {
	switch v.Kind() {
	case js.String:
		hash = v.Str()
		return hash, hash != ""
	case js.Number:
		hash = string(v.AppendCanonical(nil, nil))
		return hash, hash != "0" && hash != "0.0" && hash != "-0.0"
	}
	return "", false
}

// makeFake builds the compilation of a kernel of which only launches are known.
func (k *kernel) makeFake(f *launchFields) {
	get := func(key string) []byte {
		if v := f.meta.Get(key); v.Exists() {
			return v.Raw()
		}
		return []byte("null")
	}
	b := []byte(`{"event_type":"compilation","is_fake":true,"fake_reason":"No compilation event found; inferred from launch event","pid":`)
	b = append(b, orNull(f.pid.Raw())...)
	b = append(append(b, `,"timestamp":`...), orNull(f.timestamp.Raw())...)
	b = append(b, `,"stack":`...)
	if f.stack.Kind() == js.Array {
		b = append(b, f.stack.Raw()...)
	} else {
		b = append(b, `[]`...)
	}
	b = append(append(b, `,"payload":{"metadata":{"hash":`...), k.hashJSON...)
	name := f.name.Raw()
	if f.name.Kind() == js.Null || name == nil || f.name.Is("") {
		name = get("name")
	}
	b = append(append(b, `,"name":`...), name...)
	for _, key := range [...]string{"num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims"} {
		b = append(append(js.AppendString(append(b, ','), key), ':'), get(key)...)
	}
	k.fake = append(b, `},"file_content":{},"file_path":{}}`...)
	k.name = bytes.Clone(name)
	k.params = readConfig(f.meta)
	k.fakeSite = f.session
	if f.session != "" {
		k.fakeStack = bytes.Clone(f.stack.Raw())
	}
}

// addRoof notes the launch for the roofline.
func (k *kernel) addRoof(f *launchFields, index uint32, occurrence int64) {
	r := roofLaunch{index: index, occurrence: occurrence, grid: -1, ctas: -1}
	if f.grid.Exists() {
		text := f.grid.Raw()
		id, ok := k.grids[string(text)]
		if !ok {
			if k.grids == nil {
				k.grids = map[string]int32{}
			}
			id = int32(len(k.gridTexts))
			k.gridTexts = append(k.gridTexts, bytes.Clone(text))
			k.grids[string(text)] = id
		}
		r.grid, r.ctas = id, gridSize(f.grid)
	}
	if d := f.args.Sub(); d != nil {
		r.argBytes = d.Tag.(*known).argBytes
	} else {
		r.argBytes = argBytes(f.args)
	}
	k.roof = append(k.roof, r)
}

// argBytes adds up the bytes of the tensors among arguments, twice for those that are read and written. It returns -1 if
// there are none.
func argBytes(args js.Value) int64 {
	sum := int64(-1)
	for a := range args.Each() {
		if !a.Get("type").Is("tensor") {
			continue
		}
		n, ok1 := a.Get("numel").Int()
		size, ok2 := a.Get("element_size").Int()
		if !ok1 || !ok2 || n < 0 || size < 0 || n > 1<<52 || size > 1<<8 {
			continue
		}
		if key, _ := a.KeyPlain(); bytes.HasPrefix(key, []byte("in_out_ptr")) {
			size *= 2
		}
		sum = max(sum, 0) + n*size
	}
	return sum
}

// gridSize returns the product of a grid of integers, -1 for anything else.
func gridSize(grid js.Value) int64 {
	if grid.Kind() != js.Array {
		return -1
	}
	n, size := 0, int64(1)
	for g := range grid.Each() {
		v, ok := g.Int()
		if !ok || v < 0 || v > 0 && size > 1<<52/v {
			return -1
		}
		size *= v
		n++
	}
	if n == 0 {
		return -1
	}
	return size
}

// appendRoofline appends the roofline event: bytes and arithmetic of each launch, as far as the TTIR tells.
func (k *kernel) appendRoofline(dst []byte, occurrence int64) []byte {
	s := k.static
	dst = append(append(dst, `{"event_type":"roofline","hash":`...), k.hashJSON...)
	dst = append(append(dst, `,"name":`...), orNull(k.eventName())...)
	dst = append(dst, `,"roofline":{"is_gemm":`...)
	dst = strconv.AppendBool(dst, s.Gemm)
	dst = append(dst, `,"estimation_method":"ttir_static_x_launch","bytes_moved_per_cta":`...)
	dst = appendKnown(dst, s.Bytes, s.BytesKnown)
	dst = append(dst, `,"flops_per_cta":`...)
	dst = appendKnown(dst, s.Flops, s.FlopsKnown)
	dst = append(dst, `,"per_launch":[`...)
	for i := range k.roof {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = k.appendRoofLaunch(dst, &k.roof[i])
	}
	dst = append(dst, ']')
	if s.BytesKnown {
		dst = append(dst, `,"bytes_breakdown_per_cta":{"load":`...)
		dst = strconv.AppendInt(dst, s.Load, 10)
		dst = append(dst, `,"store":`...)
		dst = strconv.AppendInt(dst, s.Store, 10)
		dst = append(dst, '}')
	}
	for i, n := range s.Notes {
		if i == 0 {
			dst = append(dst, `,"notes":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = js.AppendString(dst, n)
	}
	if len(s.Notes) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, `},"occurrence_id":`...)
	dst = strconv.AppendInt(dst, occurrence, 10)
	return append(dst, '}')
}

func (k *kernel) appendRoofLaunch(dst []byte, r *roofLaunch) []byte {
	s := k.static
	fromIR := s.BytesKnown && r.ctas >= 0 && (r.ctas == 0 || s.Bytes <= 1<<62/r.ctas)
	irBytes := int64(0)
	if fromIR {
		irBytes = s.Bytes * r.ctas
	}
	moved, known := irBytes, fromIR
	if r.argBytes >= 0 && (!known || r.argBytes < moved) {
		moved, known = r.argBytes, true
	}
	flopsKnown := s.FlopsKnown && r.ctas >= 0 && (r.ctas == 0 || s.Flops <= 1<<62/r.ctas)
	flops := int64(0)
	if flopsKnown {
		flops = s.Flops * r.ctas
	}
	dst = append(dst, `{"launch_index":`...)
	dst = strconv.AppendUint(dst, uint64(r.index), 10)
	dst = append(dst, `,"occurrence_id":`...)
	dst = strconv.AppendInt(dst, r.occurrence, 10)
	dst = append(dst, `,"grid":`...)
	if r.grid >= 0 {
		dst = append(dst, k.gridTexts[r.grid]...)
	} else {
		dst = append(dst, `null`...)
	}
	dst = append(dst, `,"num_ctas":`...)
	dst = appendKnown(dst, r.ctas, r.ctas >= 0)
	dst = append(dst, `,"bytes_moved":`...)
	dst = appendKnown(dst, moved, known)
	dst = append(dst, `,"bytes_from_ir_x_grid":`...)
	dst = appendKnown(dst, irBytes, fromIR)
	dst = append(dst, `,"bytes_from_args":`...)
	dst = appendKnown(dst, r.argBytes, r.argBytes >= 0)
	dst = append(dst, `,"flops":`...)
	dst = appendKnown(dst, flops, flopsKnown)
	dst = append(dst, `,"arithmetic_intensity":`...)
	if flopsKnown && known && moved > 0 {
		dst = js.AppendFloat(dst, float64(flops)/float64(moved))
	} else {
		dst = append(dst, `null`...)
	}
	return append(dst, '}')
}

func appendKnown(dst []byte, n int64, known bool) []byte {
	if !known {
		return append(dst, `null`...)
	}
	return strconv.AppendInt(dst, n, 10)
}

func (k *kernel) eventName() []byte {
	if k.launchName != nil {
		return k.launchName
	}
	return k.name
}

// appendLaunchDiff appends the launch_diff event.
func (k *kernel) appendLaunchDiff(dst []byte, occurrence int64, deep bool) []byte {
	d := k.diff.result(nil, deep)
	dst = append(append(dst, `{"event_type":"launch_diff","hash":`...), k.hashJSON...)
	dst = append(append(dst, `,"name":`...), orNull(k.eventName())...)
	dst = append(dst, `,"total_launches":`...)
	dst = strconv.AppendUint(dst, uint64(k.count), 10)
	dst = k.indexes.appendJSON(append(dst, `,"launch_index_map":`...))
	dst = d.diffs.appendJSON(append(dst, `,"diffs":`...))
	dst = d.sames.appendJSON(append(dst, `,"sames":`...))
	dst = append(dst, `,"occurrence_id":`...)
	dst = strconv.AppendInt(dst, occurrence, 10)
	return append(dst, '}')
}

// release gives up what is not needed once the kernel is written.
func (k *kernel) release() {
	k.head, k.launches, k.tail = stream{}, stream{}, stream{}
	k.diff, k.lastHash, k.lines, k.roof, k.fake = diffTree{}, lastHash{}, launchWriter{}, nil, nil
}
