package parse

import (
	"bytes"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// session is what happened at one place in the user's program that autotunes: kernels compiled and tried, one chosen.
// It holds what changes between launches, not the launches.
type session struct {
	id         string
	userFrames []byte

	compiled []sessionCompile
	byHash   map[string]bool

	benchmarked      bool
	benchmark, wins  []int64 // occurrence ids
	winner           *kernel
	winnerGroup      [16]byte
	autotune         *autotuneResult
	launches         diffTree
	seq              []sessionLaunch
	lastOf           map[[16]byte]uint32 // the last launch of a group, as index into seq
	args             []sessionArg
	argByName        map[string]int // once they are many
	lastArgs         *js.Doc        // the last launch's, if the memo has it
	firstCommonStack []byte
	firstSource      []byte
	name             []byte // JSON
}

// sessionCompile is a compilation of a session.
type sessionCompile struct {
	kernel *kernel
	params []configParam
}

// sessionLaunch is a launch of a session that belongs to a kernel.
type sessionLaunch struct {
	kernel *kernel
	group  [16]byte
}

// sessionArg is the history of one argument over the launches of a session.
type sessionArg struct {
	name   string
	raw    []byte
	mark   uint32 // 1 + the last launch that had it
	runs   []valueRun
	values map[uint64]textRef
	tensor bool
}

// autotuneResult is what the autotuner reported, as JSON texts.
type autotuneResult struct{ best, timings, duration, hit []byte }

// configParam is a parameter of a compilation that autotuning may vary; the value is JSON, nil for null or absent.
type configParam struct {
	name  string
	value []byte
}

var configNames = [...]string{"num_warps", "num_stages", "num_ctas", "maxnreg"}

func readConfig(metadata js.Value) []configParam {
	ps := make([]configParam, 0, len(configNames))
	for _, n := range configNames {
		if v := metadata.Get(n); v.Exists() && v.Kind() != js.Null {
			ps = append(ps, configParam{n, bytes.Clone(v.Raw())})
		}
	}
	return ps
}

// addCompile notes a compilation. The first of each kernel counts.
func (s *session) addCompile(k *kernel, stack, python js.Value, params []configParam) {
	if s.byHash[k.hash] {
		return
	}
	if s.byHash == nil {
		s.byHash = map[string]bool{}
	}
	s.byHash[k.hash] = true
	if len(s.compiled) == 0 {
		s.firstCommonStack = bytes.Clone(stack.Raw())
		if python.Exists() {
			s.firstSource = bytes.Clone(python.Raw())
		}
	}
	s.compiled = append(s.compiled, sessionCompile{k, params})
}

// prependFakes puts made-up compilations before the others: they count as known from the start.
func (s *session) prependFakes(ks []*kernel) {
	all := make([]sessionCompile, 0, len(ks)+len(s.compiled))
	for _, k := range ks {
		all = append(all, sessionCompile{k, k.params})
	}
	s.compiled = append(all, s.compiled...)
	s.firstCommonStack, s.firstSource = ks[0].fakeStack, nil
}

// launchType returns what a launch is for the session and takes note of it.
func (s *session) launchType(benchmark bool, k *kernel, group [16]byte, occurrence int64) string {
	if benchmark {
		s.benchmarked = true
		s.benchmark = append(s.benchmark, occurrence)
		return "benchmark"
	}
	s.wins = append(s.wins, occurrence)
	if k != nil {
		s.winner, s.winnerGroup = k, group
	}
	if s.benchmarked {
		return "winner"
	}
	return "cached_winner"
}

// addLaunch takes the contents of a launch of a kernel.
func (s *session) addLaunch(root, args js.Value, k *kernel, group [16]byte) {
	i := s.launches.n
	if s.name == nil {
		s.name = bytes.Clone(root.Get("name").Raw())
	}
	s.launches.add(root)
	s.seq = append(s.seq, sessionLaunch{k, group})
	if s.lastOf == nil {
		s.lastOf = map[[16]byte]uint32{}
	}
	s.lastOf[group] = i
	if d := args.Sub(); d != nil && d == s.lastArgs {
		return // nothing changes
	} else {
		s.lastArgs = d
	}
	pos := 0
	for m := range args.Each() {
		a := s.arg(m, pos)
		pos++
		a.mark = i + 1
		if last := len(a.runs) - 1; last >= 0 && a.runs[last].id != 0 && bytes.Equal(a.raw, m.Raw()) {
			continue
		}
		a.raw = append(a.raw[:0], m.Raw()...)
		id := s.launches.ids.id(m)
		a.runs = append(a.runs, valueRun{id, i})
		if _, ok := a.values[id]; !ok {
			if a.values == nil {
				a.values = map[uint64]textRef{}
			}
			a.values[id] = s.launches.ids.texts.add(m.Raw())
			a.tensor = a.tensor || m.Get("type").Is("tensor")
		}
	}
	for j := range s.args {
		if a := &s.args[j]; a.mark != i+1 && a.runs[len(a.runs)-1].id != 0 {
			a.runs = append(a.runs, valueRun{0, i})
		}
	}
}

func (s *session) arg(m js.Value, pos int) *sessionArg {
	key, plain := m.KeyPlain()
	if !plain {
		key = []byte(m.Key())
	}
	if pos < len(s.args) && s.args[pos].name == string(key) {
		return &s.args[pos]
	}
	if s.argByName != nil {
		if i, ok := s.argByName[string(key)]; ok {
			return &s.args[i]
		}
	} else {
		for i := range s.args {
			if s.args[i].name == string(key) {
				return &s.args[i]
			}
		}
	}
	s.args = append(s.args, sessionArg{name: string(key)})
	if s.argByName != nil {
		s.argByName[string(key)] = len(s.args) - 1
	} else if len(s.args) > many {
		s.argByName = make(map[string]int, 2*many)
		for i := range s.args {
			s.argByName[s.args[i].name] = i
		}
	}
	return &s.args[len(s.args)-1]
}

// valueAt returns the id of the value at launch i; from is where to go on, for calls with growing i.
func (a *sessionArg) valueAt(i uint32, from *int) uint64 {
	for *from < len(a.runs) && a.runs[*from].start <= i {
		*from++
	}
	if *from == 0 {
		return 0
	}
	return a.runs[*from-1].id
}

// reported reports whether the session is worth an analysis.
func (s *session) reported() bool { return len(s.benchmark) >= 2 || len(s.compiled) >= 2 }

// home returns the kernel in whose file the analysis goes, nil if there is none.
func (s *session) home() *kernel {
	if len(s.compiled) > 0 {
		return s.compiled[0].kernel
	}
	if len(s.seq) > 0 {
		return s.seq[0].kernel
	}
	return nil
}
