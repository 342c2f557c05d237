package sink

import (
	"context"
	"errors"
	"fmt"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// Sinks of the format clp-ir, and the journals of the format clp. Their blocks hold packed events, and the helper makes a stream of them: which keys a stream
// has depends on the file, and which file comes next only the helper knows.

// isStream reports whether what is written in a format is a stream.
func isStream(f format.Format) bool { return f == format.CLPIR || f == format.CLP }

// encoderOf returns the encoder of the events of a sink.
func encoderOf(s *Options, o event.Options) event.Encoder {
	if isStream(s.Format) {
		return slogkv.NewEncoderWith(slogkv.Options{Options: o, ViewerKeys: s.ViewerKeys})
	}
	return event.NewJSON(o)
}

// errNotPacked is why Append drops bytes that the sink's encoder has not written: a line of JSON, say.
var errNotPacked = errors.New("sink: not an event of this sink's encoder")

// framesOf returns the format of the frames that a format consists of.
func framesOf(f format.Format) format.Format {
	if isStream(f) {
		return format.Zstd
	}
	return f
}

// maxStreamFrame is the largest number of bytes of a stream in one frame, a single larger event excepted.
const maxStreamFrame = 256 << 10

// irEncoder turns blocks into frames of a stream. It belongs to the helper.
type irEncoder struct {
	frames frame.Encoder
	single bool // each event is a frame of its own

	key    any // stands for the file that w writes to, nil for none
	w      *slogkv.Writer
	fresh  bool // the file has no stream yet
	stream []byte
	ends   []int // of the events in stream
}

// irTarget is a target that streams can be written to.
type irTarget interface {
	target
	// stream opens a file if none is open, and returns what stands for it; part is nil if it cannot be continued.
	stream() (key any, part *finalize.Partial, err error)
	// turn finishes the file if n more bytes would be too many for it, and reports whether it did.
	turn(n int64) bool
	// append writes to the file that stream returned last.
	append(enc []byte, frames int, events, text int64) error
}

// attemptStream is pipe.attempt for clp-ir.
func (p *pipe) attemptStream(b *block) error {
	t := p.target.(irTarget)
	for {
		key, part, err := t.stream()
		if err != nil {
			return err
		}
		if key != p.ir.key {
			if err := p.ir.begin(key, part); err != nil {
				return err
			}
			p.encoded = false
		}
		if !p.encoded {
			if err := p.encodeStream(b); err != nil {
				p.ir.key = nil // the block may be in the state of the writer already
				return err
			}
			p.encoded = true
		}
		if !t.turn(int64(len(p.buf))) {
			break
		}
	}
	err := t.append(p.buf, p.frames, b.events, p.text)
	if err == nil {
		p.ir.fresh = false
	}
	return err
}

// begin makes ready for a file, new or with a stream in it.
func (e *irEncoder) begin(key any, part *finalize.Partial) error {
	e.key, e.fresh = nil, part == nil || part.Size() == 0
	if e.fresh {
		e.w = slogkv.NewWriter(ir.Limits{})
		e.key = key
		return nil
	}
	text, err := part.Stream()
	if err != nil {
		return err
	}
	defer text.Close()
	enc, err := ir.Resume(text, ir.Limits{})
	if err != nil {
		return fmt.Errorf("sink: continue %s: %w", part.Path(), err)
	}
	e.w, e.key = slogkv.ContinueWriter(enc), key
	return nil
}

// encodeStream fills p.buf with the frames of b.
func (p *pipe) encodeStream(b *block) (err error) {
	e := p.ir
	p.buf, p.frames, p.text = p.buf[:0], 0, 0
	e.stream, e.ends = e.stream[:0], e.ends[:0]
	if e.fresh {
		if e.stream, err = p.preamble(e.stream); err != nil {
			return err
		}
	}
	for rest := b.text; len(rest) > 0; {
		var packed []byte
		packed, rest = slogkv.First(rest)
		if e.stream, err = e.w.Append(e.stream, packed); err != nil {
			var limit *ir.LimitError
			if !errors.As(err, &limit) {
				return err
			}
			p.ledger.count(func(s *Stats) { s.DroppedEvents++ }) // larger than any reader would take
			continue
		}
		e.ends = append(e.ends, len(e.stream))
	}
	return p.cut()
}

// cut makes frames of the stream that waits: as few as there can be, of about the same size, cut between events.
func (p *pipe) cut() (err error) {
	e := p.ir
	frames := (len(e.stream) + maxStreamFrame - 1) / maxStreamFrame
	size := len(e.stream)/max(1, frames) + 1
	if e.single {
		size = 0
	}
	if len(e.ends) == 0 && len(e.stream) > 0 {
		e.ends = append(e.ends, len(e.stream)) // all events were dropped, and the preamble is there
	}
	from := 0
	for i, end := range e.ends {
		if i+1 < len(e.ends) && end-from < size && e.ends[i+1]-from <= maxStreamFrame {
			continue
		}
		if p.buf, err = e.frames.AppendFrame(p.buf, e.stream[from:end]); err != nil {
			return err
		}
		p.frames++
		p.text += int64(end - from)
		from = end
	}
	return nil
}

// preamble appends the start of a stream, which in a journal says that it is one.
func (p *pipe) preamble(dst []byte) ([]byte, error) {
	if p.o.Format == format.CLP {
		return p.ir.w.AppendJournalPreamble(dst, slogkv.Journal{ID: finalize.NewJournalID(), Level: p.o.Level, TimeKey: p.o.TimeKey})
	}
	return p.ir.w.AppendPreamble(dst)
}

// stream implements irTarget.
func (f *file) stream() (any, *finalize.Partial, error) {
	if f.part == nil {
		if err := f.open(); err != nil {
			return nil, nil, err
		}
	}
	return f.part, f.part, nil
}

// turn implements irTarget.
func (f *file) turn(n int64) bool {
	if f.due(n) {
		f.maintain()
	}
	return f.part == nil
}

// append implements irTarget.
func (f *file) append(enc []byte, frames int, events, text int64) error {
	if err := f.part.Append(enc, frames, events, text); err != nil {
		return err
	}
	f.ledger.count(func(s *Stats) { s.FileBytes += int64(len(enc)) })
	return nil
}

// stream implements irTarget: there is one for ever.
func (w *writer) stream() (any, *finalize.Partial, error) { return w, nil, nil }

// turn implements irTarget.
func (w *writer) turn(int64) bool { return false }

// append implements irTarget.
func (w *writer) append(enc []byte, frames int, events, text int64) error {
	return w.write(enc, frames, events, text)
}

// finishTarget closes the target when all was written. The end mark of a stream that has no partial, which would write
// it, is written here.
func (p *pipe) finishTarget(ctx context.Context) error {
	if err := p.endStream(); err != nil {
		return errors.Join(err, p.target.close(ctx, p.step))
	}
	return p.target.close(ctx, p.step)
}

func (p *pipe) endStream() error {
	w, ok := p.target.(*writer)
	if !ok || p.ir == nil || p.ir.key == nil || p.ir.fresh {
		return nil
	}
	mark, err := p.ir.frames.AppendFrame(nil, []byte{ir.EndMark})
	if err != nil {
		return err
	}
	return w.write(mark, 1, 0, 1)
}
