package tracehandler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/sink"
)

// ScopeOptions configure Scope. The zero value writes plain NDJSON into a temporary directory.
type ScopeOptions struct {
	// Dir is where the traces are written and stay. If it is empty they go to a temporary directory that Scope removes.
	Dir string
	// Scheme names the files.
	Scheme naming.Scheme
	// Sink are the options of the sink, the format among them.
	Sink sink.Options
	// Handler are the options of the handler; nil means the defaults.
	Handler *Options
}

// Traces are the finished files of a scope.
type Traces struct {
	Dir   string
	Files []string // full paths, sorted: what this process wrote, of all ranks; no partials
}

// Scope is the lifetime of a traced run. It hands body a handler, closes the handler when body is done, and only then
// hands the finished files to consume, which may be nil.
//
// The handler is closed whatever becomes of body: an error, a panic, runtime.Goexit. Consume runs in all these cases too,
// because the trace of a run that failed is the one that is wanted, and gets ctx as it is, perhaps cancelled. Temporary
// files are removed at the end in every case. A panic of body goes on afterwards.
//
// The error joins those of body, Close, consume and the removal. ErrClosed is what the handler returns after the scope.
func Scope(ctx context.Context, o ScopeOptions,
	body func(ctx context.Context, h *Handler) error, consume func(ctx context.Context, t Traces) error) (err error) {
	dir := o.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tracehandler-"); err != nil {
			return fmt.Errorf("tracehandler: scope: %w", err)
		}
		defer func() {
			if rmErr := os.RemoveAll(dir); rmErr != nil {
				err = errors.Join(err, fmt.Errorf("tracehandler: scope: %w", rmErr))
			}
		}()
	}
	h := New(sink.Dir(dir, o.Scheme, o.Sink), o.Handler)
	defer func() {
		err = errors.Join(err, finalize.Then(h, func() error {
			if consume == nil {
				return nil
			}
			files, err := o.finished(dir)
			if err != nil {
				return fmt.Errorf("tracehandler: scope: %w", err)
			}
			return consume(ctx, Traces{Dir: dir, Files: files})
		}))
	}()
	return body(ctx, h)
}

// finished lists the traces that this process wrote in dir, which need not exist: it is made at the first event.
func (o ScopeOptions) finished(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && o.isOurs(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// isOurs reports whether a file bears a name that the sink gives: the trace of some rank of this process, perhaps rotated.
func (o ScopeOptions) isOurs(name string) bool {
	if live, _, ok := naming.ParseRotated(name); ok {
		name = live
	}
	return name == o.Scheme.FileName(naming.Parse(name).Rank, o.Sink.Format)
}
