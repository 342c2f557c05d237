package sink

import (
	"errors"
	"io"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/naming"
)

// File returns the sink that writes the trace at path. Nothing is opened before the first event.
func File(path string, o Options) Sink { return unbuilt{} }

// Dir returns the sink that writes into dir, a file per rank, named by s.
func Dir(dir string, s naming.Scheme, o Options) Sink { return unbuilt{} }

// Writer returns the sink that writes to w.
func Writer(w io.Writer, o Options) Sink { return unbuilt{} }

var errUnbuilt = errors.New("sink: not built yet")

type unbuilt struct{}

func (unbuilt) Encoder(o event.Options) event.Encoder { return event.NewJSON(o) }
func (unbuilt) Append([]byte) error                   { return errUnbuilt }
func (unbuilt) Flush() error                          { return errUnbuilt }
func (unbuilt) Sync() error                           { return errUnbuilt }
func (unbuilt) Rotate() error                         { return errUnbuilt }
func (unbuilt) Close() error                          { return errUnbuilt }
func (unbuilt) Err() error                            { return errUnbuilt }
func (unbuilt) Stats() Stats                          { return Stats{} }
