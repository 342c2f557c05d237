package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/sink"
)

var update = flag.Bool("update", false, "write what the scripts compare anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tracectl": main})
}

// TestScripts runs the scripts below testdata/script, each of which shows one behaviour of the command.
func TestScripts(t *testing.T) {
	samples, err := filepath.Abs("testdata/tritonparse")
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := filepath.Abs("../../clp/archive/testdata/vectors")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLES", samples)
			env.Setenv("TZ", "UTC")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			env.Setenv("VECTORS", vectors)
			env.Setenv("ESC", "\x1b")
			env.Setenv("filename", "$_filename")
			env.Values["background"] = &background{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"corpus":    writeCorpus,
			"pack":      pack,
			"cut":       cut,
			"flip":      flip,
			"bytes":     writeBytes,
			"writing":   openSink,
			"append":    appendLine,
			"start":     start,
			"await":     await,
			"interrupt": interrupt,
			"halt":      haltWaiting,
			"empty":     emptyDir,
			"closing":   closing,

			"makearchive": makeArchive,
		},
	})
}

// corpus KIND N FILE writes a generated trace of lines.
func writeCorpus(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[2]))
	ts.Check(err)
	defer f.Close()
	_, err = corpus.WriteNDJSON(f, corpus.Kind(args[0]), 1, n)
	ts.Check(err)
}

// pack gzip|zstd FROM TO compresses a file with each line in a member or frame of its own.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	var out bytes.Buffer
	enc, err := zstd.NewWriter(nil)
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if args[0] == "zstd" {
			out.Write(enc.EncodeAll([]byte(line), nil))
			continue
		}
		w := gzip.NewWriter(&out)
		_, err := w.Write([]byte(line))
		ts.Check(err)
		ts.Check(w.Close())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o666))
}

// makearchive FROM TO writes the lines of a file as a CLP archive.
func makeArchive(ts *testscript.TestScript, neg bool, args []string) {
	var out bytes.Buffer
	w, err := archive.NewWriter(&out, &archive.WriterOptions{TimeKey: []string{"time"}})
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		ts.Check(w.Write([]byte(line)))
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o666))
}

// cut FILE N removes the last N bytes.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// flip FILE OFFSET changes one byte.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	data[at] ^= 0x55
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// bytes FILE TEXT writes a file of what TEXT is as a string of Go.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// append FILE TEXT appends a line.
func appendLine(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteString(args[1] + "\n")
	ts.Check(err)
}

// background is what start has started.
type background struct {
	cmd    *exec.Cmd
	out    *os.File
	stderr bytes.Buffer
}

// start FILE ARGS... runs tracectl with its output into FILE until interrupt.
func start(ts *testscript.TestScript, neg bool, args []string) {
	bg := ts.Value("background").(*background)
	var err error
	bg.out, err = os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	bg.cmd = exec.Command("tracectl", args[1:]...)
	bg.cmd.Dir, bg.cmd.Stdout, bg.cmd.Stderr = ts.MkAbs("."), bg.out, &bg.stderr
	ts.Check(bg.cmd.Start())
	ts.Defer(func() {
		if bg.cmd != nil {
			_ = bg.cmd.Process.Kill()
			_ = bg.cmd.Wait()
			bg.out.Close()
		}
	})
}

// interrupt interrupts what start has started, and checks that it ends well and without a word.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	bg := ts.Value("background").(*background)
	cmd := bg.cmd
	bg.cmd = nil
	defer bg.out.Close()
	if runtime.GOOS == "windows" { // where nothing can be interrupted
		ts.Check(cmd.Process.Kill())
		_ = cmd.Wait()
		return
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil || bg.stderr.Len() > 0 {
		ts.Fatalf("%v; stderr: %s", err, bg.stderr.String())
	}
}

// halt CODE ARGS... runs tracectl with a standard input that has one event and does not end, interrupts it once it has read that, and
// checks that it ends with this code.
func haltWaiting(ts *testscript.TestScript, neg bool, args []string) {
	if runtime.GOOS == "windows" { // where nothing can be interrupted
		return
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := exec.Command("tracectl", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	in, err := cmd.StdinPipe()
	ts.Check(err)
	defer in.Close()
	ts.Check(cmd.Start())
	kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	const morePipe = 1 << 20 // than any pipe holds: when it is written, the event was read
	_, err = in.Write([]byte(`{"time":"2026-11-30T10:00:00Z","msg":"one"}` + strings.Repeat("\n", morePipe)))
	ts.Check(err)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		ts.Fatalf("exit code %d, not %d", got, code)
	}
}

// empty DIRECTORY checks that nothing is in a directory.
func emptyDir(ts *testscript.TestScript, neg bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %s", args[0], entries[0].Name())
	}
}

// writing FILE logs one event into FILE through a sink that stays open until the script ends.
func openSink(ts *testscript.TestScript, neg bool, args []string) {
	s := sink.File(ts.MkAbs(args[0]), sink.Options{})
	b := event.GetBuffer()
	defer b.Free()
	s.Encoder(event.Options{}).AppendEvent(b, event.New(slog.String("msg", "live")))
	ts.Check(s.Append(b.B))
	ts.Check(s.Flush())
	ts.Defer(func() { _ = s.Close() })
}

// await FILE TEXT waits until FILE holds TEXT.
func await(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		data, _ := os.ReadFile(ts.MkAbs(args[0]))
		if bytes.Contains(data, []byte(args[1])) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	data, _ := os.ReadFile(ts.MkAbs(args[0]))
	ts.Fatalf("%s does not hold %q; it holds:\n%s", args[0], args[1], data)
}

// closing ARGS... runs tracectl with its output into a pipe that is closed after the first line, and checks that it ends
// without a word, as head wants it.
func closing(ts *testscript.TestScript, neg bool, args []string) {
	if runtime.GOOS == "windows" {
		return // there is no SIGPIPE; isBrokenPipe stands in for it
	}
	r, w, err := os.Pipe()
	ts.Check(err)
	cmd := exec.Command("tracectl", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), w, &stderr
	ts.Check(cmd.Start())
	w.Close()
	buf := make([]byte, 1)
	_, err = r.Read(buf)
	ts.Check(err)
	r.Close()
	_ = cmd.Wait() // killed by SIGPIPE, or ended by itself
	if stderr.Len() > 0 {
		ts.Fatalf("stderr: %s", stderr.String())
	}
	if code := cmd.ProcessState.ExitCode(); code > 0 {
		ts.Fatalf("exit code %d", code)
	}
}
