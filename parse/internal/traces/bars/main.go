// Command bars measures the CPU time of tracectl parse on made traces, and if it is given a reference to run, how many
// times less that is:
//
//	go build -o tracectl ./cmd/tracectl
//	go run ./parse/internal/traces/bars -tracectl ./tracectl -reference 'python3 ref.py {in} {out}'
//
// The reference is any command that parses the folder {in} into the folder {out}, such as tritonparse's unified_parse. The
// programs run by turns, each in a process of its own; the figures are the least CPU time of the rounds, user and system
// together, because what else a machine does only ever adds to it.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/parse/internal/traces"
)

// input is one kind of traces, made from example records.
type input struct {
	name     string
	examples []string // of parse/testdata/cases
	options  traces.Options
}

var inputs = []input{
	{"launches", []string{"07_full_autotune"}, traces.Options{Ranks: 4, Procs: 2}},
	{"compilations", []string{"03_launch_autotune", "01_example"}, traces.Options{Ranks: 2, Procs: 2, CompileOnly: true}},
	{"mixed", []string{"03_launch_autotune", "01_example"}, traces.Options{Ranks: 4, Procs: 2}},
	{"launches, fresh pointers", []string{"07_full_autotune"}, traces.Options{Ranks: 4, Procs: 2, FreshPtr: true}},
	{"compilations, fresh code", []string{"03_launch_autotune", "01_example"}, traces.Options{Ranks: 2, Procs: 2, CompileOnly: true, FreshCode: true}},
}

func main() {
	tracectl := flag.String("tracectl", "tracectl", "the program to measure")
	reference := flag.String("reference", "", "command that parses {in} into {out}; none: no ratios")
	cases := flag.String("cases", "parse/testdata/cases", "folder of the example records")
	size := flag.Int64("bytes", 50e6, "uncompressed bytes of each input")
	rounds := flag.Int("rounds", 3, "runs of tracectl")
	refRounds := flag.Int("reference-rounds", 1, "runs of the reference")
	only := flag.String("only", "", "measure the inputs whose names contain this")
	flags := flag.String("flags", "", "more flags for tracectl parse")
	forms := flag.String("in", "plain,gzip,zstd", "forms of the input")
	outs := flag.String("out", "gzip,zstd,plain", "formats of the output; the first is measured for each form of input, the others for plain input")
	flag.Parse()
	dir, err := os.MkdirTemp("", "bars")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println("| input | in | out | MB | MB per CPU s | CPU s | peak MB | output MB | reference CPU s | its output MB | ratio |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, in := range inputs {
		if !strings.Contains(in.name, *only) {
			continue
		}
		for _, form := range strings.Split(*forms, ",") {
			src := filepath.Join(dir, "in")
			mb := in.write(src, *cases, form, *size)
			formats := strings.Split(*outs, ",")
			if form != "plain" {
				formats = formats[:1]
			}
			var ref run
			var runs = make([]run, len(formats))
			for round := range max(*rounds, *refRounds) {
				if *reference != "" && round < *refRounds {
					args := strings.Fields(*reference)
					for i := range args {
						args[i] = strings.NewReplacer("{in}", src, "{out}", filepath.Join(dir, "ref")).Replace(args[i])
					}
					ref.least(measure(filepath.Join(dir, "ref"), args))
				}
				for i, f := range formats {
					if round < *rounds {
						out := filepath.Join(dir, "out")
						args := append([]string{*tracectl, "parse", "-q", "-o", out, "--format", f}, strings.Fields(*flags)...)
						runs[i].least(measure(out, append(args, src)))
					}
				}
			}
			for i, f := range formats {
				r := runs[i]
				fmt.Printf("| %s | %s | %s | %.0f | %.0f | %.2f | %d | %.1f |", in.name, form, f, mb, mb/r.cpu.Seconds(), r.cpu.Seconds(), r.peak>>20, float64(r.out)/1e6)
				if *reference != "" {
					fmt.Printf(" %.2f | %.1f | %.1f |", ref.cpu.Seconds(), float64(ref.out)/1e6, ref.cpu.Seconds()/r.cpu.Seconds())
				}
				fmt.Println()
			}
		}
	}
}

// write makes the input and returns its uncompressed size in MB.
func (in *input) write(dir, cases, form string, size int64) float64 {
	var paths []string
	for _, c := range in.examples {
		p, err := filepath.Glob(filepath.Join(cases, c, "input", "*"))
		if err != nil {
			log.Fatal(err)
		}
		paths = append(paths, p...)
	}
	examples, err := traces.Read(paths...)
	if err != nil {
		log.Fatal(err)
	}
	o := in.options
	o.Seed, o.Bytes = 1, size
	if form != "plain" {
		o.Compress = form
	}
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		log.Fatal(err)
	}
	n, _, err := traces.Write(dir, examples, o)
	if err != nil {
		log.Fatal(err)
	}
	return float64(n) / 1e6
}

// run is what a program took.
type run struct {
	cpu  time.Duration // user and system
	peak int64         // bytes of memory, 0 if the system does not say
	out  int64         // bytes written
}

func (r *run) least(o run) {
	if r.cpu == 0 || o.cpu < r.cpu {
		r.cpu = o.cpu
	}
	r.peak, r.out = max(r.peak, o.peak), o.out
}

func measure(out string, args []string) run {
	if err := os.RemoveAll(out); err != nil {
		log.Fatal(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if text, err := cmd.CombinedOutput(); err != nil {
		log.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	r := run{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: peakMemory(cmd.ProcessState)}
	err := filepath.WalkDir(out, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			r.out += info.Size()
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return r
}
