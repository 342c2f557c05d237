package parse

import (
	"bytes"
	"context"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// longString is the number of characters beyond which a string in a launch is replaced by its length.
const longString = 4096

// ranker reads the traces of one rank, record by record, once. What the output needs in another order goes to the
// spill; what it needs to know about all records of a kernel or session is kept as their differences. One goroutine
// uses a ranker.
type ranker struct {
	o      *settings
	bucket Bucket
	spill  *spill
	report *RankReport
	notify func(bytes int64)

	memo    memo
	doc     js.Doc
	short   js.Doc // a launch whose long strings were replaced
	shorted []byte
	bare    []byte // a record without what log/slog added
	hasher  groupHasher
	ids     identifier
	compile compiler
	line    []byte
	behind  []byte

	kernels  map[string]*kernel
	order    []*kernel // by first appearance
	sessions map[string]*session
	sessOrd  []*session
	outputs  map[string]*output
	outOrd   []*output

	occurrence int64
	launches   uint32
}

// output is one output file of a rank, before it is written.
type output struct {
	name    string // without suffix
	kernels []*kernel
}

func newRanker(o *settings, b Bucket, s *spill, rep *RankReport) *ranker {
	r := &ranker{o: o, bucket: b, spill: s, report: rep, kernels: map[string]*kernel{}, sessions: map[string]*session{}, outputs: map[string]*output{}}
	r.doc.Known = &r.memo
	r.hasher.ids = &r.ids
	r.compile.o, r.compile.spill = o, s
	return r
}

// read takes every record of every file of the bucket.
func (r *ranker) read(ctx context.Context) error {
	for _, in := range r.bucket.Files {
		r.report.Read = append(r.report.Read, in.Path)
		n := 0
		err := readLines(in.Path, r.report, r.notify, func(number int64, text []byte) error {
			if n++; n&63 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return r.record(in.Path, number, text)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// record takes one line.
func (r *ranker) record(path string, number int64, text []byte) error {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil
	}
	if err := r.doc.Parse(text); err != nil {
		r.report.bad(path, number, err.Error())
		return nil
	}
	root := r.doc.Root()
	if root.Kind() != js.Object {
		r.report.bad(path, number, "a JSON value that is no object")
		return nil
	}
	if fromSlog(root) {
		r.bare = appendWithoutBuiltins(r.bare[:0], root)
		if err := r.doc.Parse(r.bare); err != nil {
			r.report.bad(path, number, err.Error())
			return nil
		}
		root = r.doc.Root()
	}
	switch kind := root.Get("event_type"); {
	case kind.Is("launch"):
		return r.launch(root)
	case kind.Is("compilation"):
		return r.compilation(root)
	case kind.Is("autotune"):
		r.autotune(root)
	default:
		r.report.other(kind)
	}
	return nil
}

// session returns the session of a stack, nil if it shows no autotuner.
func (r *ranker) session(stack js.Value) (s *session, benchmark bool) {
	if stack.Kind() != js.Array {
		return nil, false
	}
	var at site
	var id string
	if d := stack.Sub(); d != nil {
		k := d.Tag.(*known)
		at, id = k.site, k.sessionID
	} else {
		at, id = readSite(stack)
	}
	if id == "" {
		return nil, false
	}
	s = r.sessions[id]
	if s == nil {
		s = &session{id: id, userFrames: at.userFrames}
		s.launches = diffTree{keepTexts: true, ids: &r.ids}
		r.sessions[id] = s
		r.sessOrd = append(r.sessOrd, s)
	}
	return s, at.benchmark
}

func (r *ranker) kernel(hash string, raw js.Value) *kernel {
	k := r.kernels[hash]
	if k == nil {
		k = &kernel{hash: hash, hashJSON: bytes.Clone(raw.Raw()), diff: diffTree{ids: &r.ids}}
		k.launches.pend.Off = !r.spill.pack.repeats
		r.kernels[hash] = k
		r.order = append(r.order, k)
	}
	return k
}

// place gives a kernel its output file.
func (r *ranker) place(k *kernel, payload, stack js.Value) {
	name := mappedName(r.bucket.Files[0].Path)
	if !r.o.noSplit {
		ids := readFrameIDs(payload.Get("pt_info"), !r.o.compat)
		if !ids.known() {
			if found, ok := r.o.torch.find(payload, stack); ok {
				ids = found
			}
		}
		if ids.known() {
			name = ids.fileName()
		}
	}
	k.out = r.output(name)
}

func (r *ranker) output(name string) *output {
	out := r.outputs[name]
	if out == nil {
		out = &output{name: name}
		r.outputs[name] = out
		r.outOrd = append(r.outOrd, out)
	}
	return out
}

func (r *ranker) compilation(root js.Value) error {
	payload := root.Get("payload")
	metadata := payload.Get("metadata")
	hash, ok := kernelHash(metadata.Get("hash"))
	if !ok {
		r.report.NoHash++
		return nil
	}
	k := r.kernel(hash, metadata.Get("hash"))
	stack, python := root.Get("stack"), payload.Get("python_source")
	if s, _ := r.session(stack); s != nil {
		s.addCompile(k, stack, python, readConfig(metadata))
	}
	if k.compiled {
		r.report.Duplicates++
		return nil
	}
	k.compiled, k.fake = true, nil
	k.params = readConfig(metadata)
	k.name = bytes.Clone(metadata.Get("name").Raw())
	r.place(k, payload, stack)
	k.occurrence = r.occurrence
	r.occurrence++
	r.report.Compilations++

	c := r.compile.code(payload)
	r.line, r.behind = appendAround(r.line[:0], r.behind[:0], root, c, k.occurrence)
	if err := r.spill.putAround(&k.head, r.line, &c.body, r.behind); err != nil {
		return err
	}
	r.report.warn(c.warnings)
	k.static = c.static
	r.line = c.appendAnalysis(r.line[:0], k.hashJSON)
	return r.spill.put(&k.tail, r.line)
}

// launchFields are the members of a launch that are looked at.
type launchFields struct {
	pid, name, timestamp, stack, meta, grid, args js.Value
	session                                       string
}

func readLaunch(root js.Value) (f launchFields) {
	for m := range root.Each() {
		key, _ := m.KeyPlain()
		switch string(key) {
		case "pid":
			f.pid = m
		case "name":
			f.name = m
		case "timestamp":
			f.timestamp = m
		case "stack":
			f.stack = m
		case "compilation_metadata":
			f.meta = m
		case "grid":
			f.grid = m
		case "extracted_args":
			f.args = m
		}
	}
	return f
}

func (r *ranker) launch(root js.Value) error {
	r.report.Launches++
	index, occurrence := r.launches, r.occurrence
	r.launches++
	r.occurrence++

	f := readLaunch(root)
	var k *kernel
	if hash, ok := kernelHash(f.meta.Get("hash")); ok {
		k = r.kernel(hash, f.meta.Get("hash"))
	}
	var last *lastHash
	if k != nil {
		last = &k.lastHash
	}
	group := r.hasher.sum(root, last)

	if r.doc.MaxString > longString {
		r.shorted = root.AppendShort(r.shorted[:0], longString)
		if err := r.short.Parse(r.shorted); err == nil {
			root = r.short.Root()
			f = readLaunch(root)
		}
	}

	kind := ""
	s, benchmark := r.session(f.stack)
	if s != nil {
		kind = s.launchType(benchmark, k, group, occurrence)
		f.session = s.id
		if k != nil {
			s.addLaunch(root, f.args, k, group)
		}
	}
	if k == nil {
		r.report.NoKernel++
		return nil
	}
	if k.count == 0 {
		k.launchName = bytes.Clone(f.name.Raw())
		if !k.compiled {
			k.makeFake(&f)
			r.placeFake(k, f.stack)
		}
	}
	k.count++
	k.indexes = k.indexes.add(index, index)
	k.diff.add(root)
	k.addRoof(&f, index, occurrence)

	k.lines.append(&k.launches, r.spill.begin(&k.launches), root, group, occurrence, kind)
	return r.spill.end(&k.launches)
}

// placeFake notes where a kernel goes that may turn out to have no compilation. It must not make an output file yet.
func (r *ranker) placeFake(k *kernel, stack js.Value) {
	k.fakeName = mappedName(r.bucket.Files[0].Path)
	if !r.o.noSplit {
		if ids, ok := r.o.torch.find(js.Value{}, stack); ok && ids.known() {
			k.fakeName = ids.fileName()
		}
	}
}

func (r *ranker) autotune(root js.Value) {
	r.report.Autotune++
	s, _ := r.session(root.Get("stack"))
	if s == nil {
		r.report.AutotuneLoose++
		return
	}
	s.autotune = &autotuneResult{
		best:     bytes.Clone(root.Get("best_config").Raw()),
		timings:  bytes.Clone(root.Get("configs_timings").Raw()),
		duration: bytes.Clone(root.Get("duration").Raw()),
		hit:      bytes.Clone(root.Get("cache_hit").Raw()),
	}
}
