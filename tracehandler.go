// Package tracehandler writes traces of a program that logs through log/slog: small, safe against crashes, searchable.
//
//	h := tracehandler.New(tracehandler.File("app.ndjson.zst", tracehandler.Zstd), nil)
//	defer h.Close() // completes the file; only then is it read
//	slog.SetDefault(slog.New(h))
//
// The package is the face of the house and holds no machinery: handler is the slog.Handler, sink writes files,
// finalize completes and recovers them, reader reads them, convert changes their format. FromEnv configures a handler from the
// environment, and Scope brackets a traced run: the handler is closed first, and its files are consumed after.
package tracehandler

import (
	"io"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/sink"
)

// Handler is the slog.Handler that writes traces.
type Handler = handler.Handler

// Options configure a Handler; see handler.Options.
type Options = handler.Options

// Format is the format of a trace.
type Format = format.Format

// The formats that can be written.
const (
	Plain = format.Plain // NDJSON
	Gzip  = format.Gzip  // NDJSON in gzip members of about 1 MiB
	Zstd  = format.Zstd  // NDJSON in zstd frames of at most 256 KiB
	CLP   = format.CLP   // a CLP archive: the smallest, and searchable; made at Close
	CLPIR = format.CLPIR // a CLP key-value stream in zstd frames
)

// ErrClosed is returned by a handler from the moment its Close begins.
var ErrClosed = handler.ErrClosed

// New returns a handler that writes to s, which it owns from now on. Nil options are the defaults. New does not fail:
// files are opened at the first record, and errors surface from Handle, through Options.OnError, and again from Close.
func New(s sink.Sink, o *Options) *Handler { return handler.New(s, o) }

// File returns the sink for one file. While it is written it is called path + ".partial"; Close gives it its name.
func File(path string, f Format) sink.Sink {
	return sink.File(path, sink.Options{Format: f})
}

// Dir returns the sink for a directory into which many processes write, each its own file, named by user, rank, process
// and host. When the process learns or changes its rank, the next event goes to the file of that rank.
func Dir(dir string, f Format) sink.Sink {
	return sink.Dir(dir, naming.Scheme{}, sink.Options{Format: f})
}

// Writer returns the sink for a stream such as os.Stdout. The caller remains responsible for closing w. A CLP archive cannot
// be written to a stream: the error comes from Handle and Close.
func Writer(w io.Writer, f Format) sink.Sink {
	return sink.Writer(w, sink.Options{Format: f})
}
