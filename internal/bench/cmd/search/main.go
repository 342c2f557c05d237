// Search compares searching an archive with searching the same log as zstd NDJSON, with zstd and grep: it makes both files,
// asks both each query, in turns, and prints the CPU time of either (user and system, all processes), the ratio, and what the
// search decoded.
//
//	go run ./cmd/search -mb 300
//	go run ./cmd/search -mb 300 -clps PATH
//
// With -clps, the path of the reference program, that makes an archive of the log, too, which it and we are asked each query.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func run() error {
	mb := flag.Int("mb", 300, "size of the log in 1e6 bytes")
	dir := flag.String("dir", "", "where the files are, and stay (default a temporary directory, removed afterwards)")
	other := flag.String("archive", "", "an archive of the same log to search instead of one that is made")
	rounds := flag.Int("rounds", 5, "how often each query is asked; the median counts")
	clps := flag.String("clps", "", "the program clp-s: compare with it on an archive that it makes, instead of with zstd and grep")
	child := flag.String("child", "", "ask this query of the file that is the argument, and print the answer (used by itself)")
	show := flag.Bool("print", false, "print the records that are found, with -child")
	query := flag.String("query", "", "ask only this query, and grep for -grep")
	pattern := flag.String("grep", "", "see -query")
	flag.Parse()
	if *child != "" {
		return ask(*child, flag.Arg(0), *show)
	}
	if *dir == "" {
		tmp, err := os.MkdirTemp("", "search-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		*dir = tmp
	}
	log, err := prepare(*dir, *mb)
	if err != nil {
		return err
	}
	if *other != "" {
		log.archive = *other
	}
	if *query != "" {
		log.queries = []question{{"", *query, *pattern}}
	}
	if *clps == "" {
		err := log.compare(*rounds)
		fmt.Println("not compared with clp-s: see -clps")
		return err
	}
	return log.peer(*clps, *dir, *rounds)
}

// question is a query, and what grep looks for in its place.
type question struct{ name, query, pattern string }

// files is a log in its forms.
type files struct {
	archive, zstd string
	queries       []question
}

// prepare makes the files that are not there yet.
func prepare(dir string, mb int) (*files, error) {
	plain := filepath.Join(dir, "log.ndjson")
	f := &files{archive: filepath.Join(dir, "log.clp"), zstd: filepath.Join(dir, "log.ndjson.zst")}
	if _, err := os.Stat(plain); err != nil {
		out, err := os.Create(plain)
		if err != nil {
			return nil, err
		}
		var size int64
		for n := mb * 1000; size < int64(mb)*1e6; n = int(float64(n)*float64(mb)*1e6/float64(size)*1.001) + 1 {
			if err := out.Truncate(0); err != nil {
				return nil, err
			}
			if _, err := out.Seek(0, 0); err != nil {
				return nil, err
			}
			if size, err = corpus.WriteNDJSON(out, corpus.Service, 1, n); err != nil {
				return nil, err
			}
		}
		if err := out.Close(); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(f.zstd); err != nil {
		if out, err := exec.Command("zstd", "-q", "-3", "-o", f.zstd, plain).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("zstd: %w: %s", err, out)
		}
	}
	_, err := os.Stat(f.archive)
	if f.queries, err = pack(plain, f.archive, err != nil); err != nil {
		return nil, err
	}
	for _, path := range []string{plain, f.zstd, f.archive} {
		st, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-16s %12d bytes\n", filepath.Base(path), st.Size())
	}
	return f, nil
}

// pack makes the archive, if it is to be made, and chooses values in the middle of the log to ask for.
func pack(plain, path string, write bool) ([]question, error) {
	in, err := os.Open(plain)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var w *archive.Writer
	if write {
		out, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		defer out.Close()
		if w, err = archive.NewWriter(out, &archive.WriterOptions{TimeKey: []string{"time"}, Memory: 1 << 30}); err != nil {
			return nil, err
		}
	}
	st, err := in.Stat()
	if err != nil {
		return nil, err
	}
	var id string
	var times []time.Time
	var size, seq int64
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Bytes()
		size += int64(len(line)) + 1
		if w != nil {
			if err := w.Write(line); err != nil {
				return nil, err
			}
		}
		half := size > st.Size()/2
		if half && id == "" || size > st.Size()*int64(6+len(times))/10 && len(times) < 2 {
			var e struct {
				Time time.Time
				Msg  string
				Seq  int64
			}
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, err
			}
			if text, ok := strings.CutPrefix(e.Msg, "Retrying request "); half && id == "" && ok {
				id, seq = strings.Fields(text)[0], e.Seq
			}
			if size > st.Size()*int64(6+len(times))/10 && len(times) < 2 {
				times = append(times, e.Time)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if w != nil {
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	between := fmt.Sprintf(` AND time >= timestamp("%s") AND time < timestamp("%s")`, times[0].Format(time.RFC3339Nano), times[1].Format(time.RFC3339Nano))
	return []question{
		{"exact id in a text", `msg: "*request ` + id + ` *"`, "request " + id + " "},
		{"exact number", `seq: ` + strconv.FormatInt(seq, 10), `"seq":` + strconv.FormatInt(seq, 10) + ","},
		{"count of a level", `level: WARN`, `"level":"WARN"`},
		{"not a level", `NOT level: INFO`, `"level":"[^I]`},
		{"text, constant", `msg: "*memtable*"`, "memtable"},
		{"text, variables", `msg: "*nightly-export-1234*attempt 2 *"`, "nightly-export-1234.*attempt 2 "},
		{"text, an address", `msg: "*192.168.7.77:*"`, `192\.168\.7\.77:`},
		{"text, part of a word", `msg: "*68.7.77*"`, `68\.7\.77`},
		{"numbers and times", `code > 32` + between, `"code":\(3[3-9]\|[4-9]\)`},
		{"times", `level: WARN` + between, `"level":"WARN"`},
		{"absent word", `msg: "*request zzzz9999 *"`, "request zzzz9999 "},
		{"absent value", `host: nosuch`, `"host":"nosuch"`},
		{"absent key", `nosuch: 1`, `"nosuch":1`},
	}, nil
}

// answer is what a child finds.
type answer struct {
	Hits                    int64
	Size                    int64
	Spent                   archive.Spent
	Blocks, Skipped, Frames int64
	Open                    int64
	Index                   string
}

// ask counts or prints what a query finds in an archive.
func ask(query, path string, show bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	q, err := kql.Parse(query, nil)
	if err != nil {
		return err
	}
	r, err := archive.Open(f, st.Size(), &archive.Options{Stored: true})
	if err != nil {
		return err
	}
	defer r.Close()
	if show {
		out := bufio.NewWriterSize(os.Stdout, 64<<10)
		var line []byte
		for record, err := range q.Search(r) {
			if err != nil {
				return err
			}
			if line, err = record.AppendJSON(line[:0]); err != nil {
				return err
			}
			out.Write(append(line, '\n')) // Flush has the error
		}
		return out.Flush()
	}
	n, err := q.Count(r)
	if err != nil {
		return err
	}
	s := r.ScanStats()
	a := answer{Hits: n, Size: st.Size(), Blocks: s.Blocks, Skipped: s.BlocksSkipped, Frames: s.Frames, Open: s.Open, Spent: s.Spent}
	if s.Index != nil {
		a.Index = s.Index.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// compare asks all queries.
func (f *files) compare(rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "query\thits\tgrep's\tarchive ms\tzstd+grep ms\tratio\tblocks\tskipped\tframes\tMB read\tMB decoded\tcolumns\tdictionaries\tside\tindex\topen\t")
	index := ""
	for _, q := range f.queries {
		var ours, theirs []time.Duration
		var a answer
		var grep string
		for range rounds {
			text, t, err := measure(self, "-child", q.query, f.archive)
			if err != nil {
				return fmt.Errorf("%s: %w", q.query, err)
			}
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				return err
			}
			ours = append(ours, t)
			if grep, t, err = measure("sh", "-c", `zstd -dc "$1" | grep -c -e "$2"; true`, "sh", f.zstd, q.pattern); err != nil {
				return err
			}
			theirs = append(theirs, t)
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		o, z := ours[rounds/2], theirs[rounds/2]
		sum := a.Spent.Total()
		fmt.Fprintf(out, "%s\t%d\t%s\t%.1f\t%.1f\t%.3f\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t\n", q.name, a.Hits, strings.TrimSpace(grep), ms(o), ms(z), float64(o)/float64(z),
			a.Blocks, a.Skipped, a.Frames, mb(sum.Read), mb(sum.Decoded), mb(a.Spent.Columns.Decoded), mb(a.Spent.Dictionaries.Decoded), mb(a.Spent.Side.Decoded),
			mb(a.Spent.Index.Decoded), a.Open)
		index = a.Index
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if index != "" {
		fmt.Println(index)
	}
	return nil
}

func mb(n int64) float64 { return float64(n) / 1e6 }

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// measure runs a program on one core, and returns what it prints and the CPU time it and its children took.
func measure(name string, args ...string) (string, time.Duration, error) {
	c := exec.CommandContext(context.Background(), name, args...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "LC_ALL=C")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", 0, err
	}
	return string(out), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}
