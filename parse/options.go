package parse

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/parse/internal/analysis"
)

// Options change how traces are parsed. The zero value and nil are what most callers want: every rank, split by
// compile frame, gzip output, every analysis.
type Options struct {
	// Prefix begins the names of raw traces in a folder. Empty means naming.DefaultPrefix.
	Prefix string

	// Ranks says which ranks to parse. The zero value is all.
	Ranks Selection

	// NoPreInit leaves files without a rank where they are, also if a ranked file of the same process is there.
	NoPreInit bool

	// NoSplit writes one file for each rank, instead of one for each compile frame and one for the rest.
	NoSplit bool

	// Overwrite allows to replace an output folder. The old one stays whole until the new one is.
	Overwrite bool

	// Output is the form of the output files.
	Output Output

	// Level is the effort of compression: 1 (fastest) to 9 (smallest) for gzip, 1 to 4 for zstd and clp-ir, 1 to 19 for
	// clp. Zero is the format's default, which for gzip and zstd is the fastest. Plain output has none.
	Level int

	// MaxOutputSize is the size in bytes, as stored, beyond which an output file is continued in another one. A kernel
	// is not torn apart if it fits: its compilation and analyses stay together. Zero means no limit. A single event
	// larger than the limit still makes a larger file.
	MaxOutputSize int64

	// TorchTraceDir is a folder of torch's structured logs, from which kernels that do not know their compile frame are
	// attributed to one. If it is empty, the source folder is searched for such logs.
	TorchTraceDir string

	// Analyses are the names of the analyses to run: loop_schedules, procedure_checks, amd_buffer_ops, roofline.
	// Nil means all, an empty list none.
	Analyses []string

	// ProcedureChecks is a configuration of procedure checks (JSON) that replaces the built-in ones.
	ProcedureChecks []byte

	// Compat writes exactly what tritonparse at its commit 4e5fbc4 writes, without the improvements that docs/parse.md
	// lists.
	Compat bool

	// Parallel is the number of ranks that are parsed at the same time. Zero means GOMAXPROCS.
	Parallel int

	// Memory is the number of bytes of lines that each rank may hold back before they go to a temporary file in the
	// staging folder. Zero means 16 MiB.
	Memory int

	// Progress, if set, is told how many bytes of input, as stored, have been read. It is called from several
	// goroutines.
	Progress func(read, total int64)
}

// Output is the form of output files.
type Output uint8

// The forms. The zero value is what every version of the reference's web page opens.
const (
	Gzip Output = iota
	Zstd
	Plain
	CLP   // archives; one that grows beyond 128 MiB in memory is continued in another
	CLPIR // streams
)

var outputFormats = [...]format.Format{Gzip: format.Gzip, Zstd: format.Zstd, Plain: format.Plain, CLP: format.CLP, CLPIR: format.CLPIR}

// ParseOutput reads a word: gzip, zstd, plain, clp or clp-ir.
func ParseOutput(word string) (Output, error) {
	f, err := format.Parse(word)
	if err != nil {
		return 0, fmt.Errorf("parse: %w", err)
	}
	for o, x := range outputFormats {
		if x == f {
			return Output(o), nil
		}
	}
	return 0, fmt.Errorf("parse: output cannot be %s", f)
}

// Format returns the format that an output file has.
func (o Output) Format() format.Format { return outputFormats[o] }

func (o Output) String() string { return o.Format().String() }

// analyses says which analyses run.
type analyses struct{ loops, procedures, io, roofline bool }

var analysisNames = []string{"loop_schedules", "procedure_checks", "amd_buffer_ops", "roofline"}

// ParseAnalyses reads a list such as "roofline,loop_schedules", "all" or "none" for Options.Analyses.
func ParseAnalyses(list string) ([]string, error) {
	switch strings.ToLower(strings.TrimSpace(list)) {
	case "", "all":
		return nil, nil
	case "none":
		return []string{}, nil
	}
	names := []string{}
	for n := range strings.SplitSeq(list, ",") {
		n = strings.ToLower(strings.TrimSpace(n))
		if n == "" {
			continue
		}
		if _, err := selectAnalyses([]string{n}); err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, nil
}

func selectAnalyses(names []string) (a analyses, err error) {
	if names == nil {
		return analyses{true, true, true, true}, nil
	}
	for _, n := range names {
		switch n {
		case "loop_schedules":
			a.loops = true
		case "procedure_checks":
			a.procedures = true
		case "amd_buffer_ops":
			a.io = true
		case "roofline":
			a.roofline = true
		default:
			return a, fmt.Errorf("parse: unknown analysis %q: want all, none, or some of %s", n, strings.Join(analysisNames, ", "))
		}
	}
	return a, nil
}

// settings are checked options.
type settings struct {
	Options
	format     format.Format
	noSplit    bool
	compat     bool
	analyses   analyses
	procedures *analysis.Procedures
	torch      torchMap
	codes      *codeCache
	archive    int64 // bytes of memory for an archive that is being made
	block      int   // bytes of lines compressed at once
}

const (
	defaultMemory = 16 << 20
	blockSize     = 256 << 10
)

func (o *Options) check(source string) (*settings, error) {
	s := &settings{codes: newCodeCache(), archive: archiveMemory}
	if o != nil {
		s.Options = *o
	}
	if int(s.Output) >= len(outputFormats) {
		return nil, fmt.Errorf("parse: unknown output %d", s.Output)
	}
	if s.MaxOutputSize < 0 || s.Parallel < 0 || s.Memory < 0 {
		return nil, fmt.Errorf("parse: a size or count is negative")
	}
	if s.MaxOutputSize > 0 && s.Output >= CLP {
		return nil, fmt.Errorf("parse: the size of %s output cannot be limited", s.Output)
	}
	if err := checkLevel(s.Output.Format(), s.Level); err != nil {
		return nil, err
	}
	s.format, s.noSplit, s.compat = s.Output.Format(), s.NoSplit, s.Compat
	var err error
	if s.analyses, err = selectAnalyses(s.Analyses); err != nil {
		return nil, err
	}
	if s.ProcedureChecks != nil {
		s.procedures, err = analysis.ReadProcedures(s.ProcedureChecks)
	} else {
		s.procedures = analysis.BuiltinProcedures()
	}
	if err != nil {
		return nil, err
	}
	dir := s.TorchTraceDir
	if st, err := os.Stat(source); dir == "" && err == nil && st.IsDir() && !s.Compat {
		dir = source
	}
	if dir != "" {
		if s.torch, err = readTorchTraces(dir, s.TorchTraceDir != ""); err != nil {
			return nil, err
		}
	}
	if s.Parallel == 0 {
		s.Parallel = runtime.GOMAXPROCS(0)
	}
	if s.Memory == 0 {
		s.Memory = defaultMemory
	}
	s.block = blockSize
	if s.MaxOutputSize > 0 {
		s.block = int(min(int64(blockSize), max(4<<10, s.MaxOutputSize/4)))
	}
	return s, nil
}
