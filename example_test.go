package tracehandler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// A program logs through slog; after Close its trace is complete and can be read.
func Example() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.ndjson.zst")

	h := tracehandler.New(tracehandler.File(path, tracehandler.Zstd), nil)
	log := slog.New(h).With("service", "shop")
	log.Info("order placed", slog.Group("order", "id", 17, "total", 9.5))
	if err := h.Close(); err != nil {
		fmt.Println(err)
	}

	r, err := reader.Open(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for e, err := range r.Events() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		msg, _ := e.Message()
		id, _ := e.Get("order", "id")
		fmt.Println(msg, id)
	}
	// Output: order placed 17
}

// NDJSON onto a stream, with the time left out so that the output is always the same.
func ExampleWriter() {
	h := tracehandler.New(tracehandler.Writer(os.Stdout, tracehandler.Plain), &tracehandler.Options{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	defer h.Close()
	slog.New(h).WithGroup("req").Warn("slow", "path", "/search", "ms", 1700)
	// Output: {"level":"WARN","msg":"slow","req":{"path":"/search","ms":1700}}
}

// A program whose environment does not ask for traces runs without them; one whose environment is wrong says so.
func ExampleFromEnv() {
	os.Unsetenv(tracehandler.EnvDir)
	h, err := tracehandler.FromEnv(nil)
	switch {
	case errors.Is(err, tracehandler.ErrOff):
		fmt.Println("no traces asked for")
	case err != nil:
		fmt.Println(err)
	default:
		defer h.Close()
		slog.SetDefault(slog.New(h))
	}
	// Output: no traces asked for
}

// The consumer runs after the handler is closed, whatever became of the run, and the files are gone afterwards.
func ExampleScope() {
	err := tracehandler.Scope(context.Background(), tracehandler.ScopeOptions{},
		func(ctx context.Context, h *tracehandler.Handler) error {
			log := slog.New(h)
			for i := range 3 {
				log.InfoContext(ctx, "step", "i", i)
			}
			return nil
		},
		func(ctx context.Context, t tracehandler.Traces) error {
			for _, f := range t.Files {
				r, err := reader.Open(f, nil)
				if err != nil {
					return err
				}
				defer r.Close()
				for i, e := range r.Enumerate() {
					msg, _ := e.Message()
					fmt.Println(i, msg)
				}
			}
			return nil
		})
	fmt.Println(err)
	// Output:
	// 0 step
	// 1 step
	// 2 step
	// <nil>
}

// Many processes write into one directory, each its own file, named by user, rank, process and host.
func ExampleDir() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	h := tracehandler.New(tracehandler.Dir(dir, tracehandler.Gzip), nil)
	slog.New(h).Info("hello")
	if err := h.Close(); err != nil {
		fmt.Println(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		fmt.Println(files, err)
		return
	}
	name := naming.Parse(files[0].Name())
	fmt.Println(name.PID == os.Getpid(), name.Rank == naming.NoRank)
	// Output: true true
}
