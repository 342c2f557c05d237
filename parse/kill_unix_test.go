//go:build unix

package parse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is also the child that TestKilled and TestFullDisk end early.
func TestMain(m *testing.M) {
	if src := os.Getenv("PARSE_TEST_SOURCE"); src != "" {
		if os.Getenv("PARSE_TEST_FULL") != "" {
			signal.Ignore(syscall.SIGXFSZ)
			limit := syscall.Rlimit{Cur: 30_000, Max: 30_000}
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
				fmt.Println(err)
				os.Exit(3)
			}
		}
		fmt.Println("ready")
		if _, err := Dir(context.Background(), src, os.Getenv("PARSE_TEST_OUT"), &Options{Overwrite: true, Memory: 64 << 10}); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// killSetup makes a source and an output of it, and returns what the output holds.
func killSetup(t *testing.T) (dir, src, out, before string) {
	dir = t.TempDir()
	src, out = filepath.Join(dir, "logs"), filepath.Join(dir, "out")
	var b strings.Builder
	for k := range 300 {
		hash := fmt.Sprintf(`"hash%d"`, k)
		fmt.Fprintln(&b, strings.Replace(edgeCompile, `"h1"`, hash, 1))
		for i := range 20 {
			l := strings.Replace(edgeLaunch, `"h1"`, hash, 1)
			fmt.Fprintln(&b, strings.Replace(l, `"value":1`, fmt.Sprintf(`"value":%d`, (k*31+i*7919)%100_003), 1))
		}
	}
	for rank := range 3 {
		write(t, filepath.Join(src, fmt.Sprintf("dedicated_log_triton_trace_u_rank_%d_.ndjson", rank)), b.String())
	}
	if _, err := Dir(context.Background(), src, out, &Options{Memory: 64 << 10}); err != nil {
		t.Fatal(err)
	}
	return dir, src, out, tree(t, out)
}

func child(src, out string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "PARSE_TEST_SOURCE="+src, "PARSE_TEST_OUT="+out), env...)
	return cmd
}

// TestKilled kills a parse at a random moment, again and again: the output is whole each time, and the next run leaves
// no folder behind.
func TestKilled(t *testing.T) {
	dir, src, out, before := killSetup(t)
	start := time.Now()
	if text, err := child(src, out).CombinedOutput(); err != nil {
		t.Fatal(err, string(text))
	}
	whole := time.Since(start)
	killed := 0
	for range 12 {
		cmd := child(src, out)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(whole))))
		if err := cmd.Process.Kill(); err == nil {
			killed++
		}
		_ = cmd.Wait()
		if tree(t, out) != before {
			t.Fatal("the output is not whole after a kill")
		}
	}
	if killed == 0 {
		t.Error("no child was killed")
	}
	if text, err := child(src, out).CombinedOutput(); err != nil {
		t.Fatal(err, string(text))
	}
	expectOnly(t, dir, "logs", "out")
}

// TestFullDisk: a write that fails fails the parse, the output before stays, and nothing else does.
func TestFullDisk(t *testing.T) {
	dir, src, out, before := killSetup(t)
	text, err := child(src, out, "PARSE_TEST_FULL=1").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(text), "too large") {
		t.Fatalf("%v: %s", err, text)
	}
	if tree(t, out) != before {
		t.Error("the output changed")
	}
	expectOnly(t, dir, "logs", "out")
}

func expectOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("left behind: %v", got)
	}
}
