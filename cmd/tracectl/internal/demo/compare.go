package demo

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/reader"
)

// compare reads the file again and compares each event with the one that its worker logged at that point.
func compare(ctx context.Context, o Options, r *Result) error {
	f, err := reader.Open(r.Path, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	expect := make([]*expected, o.Workers)
	for i := range expect {
		x := &expected{batches: make(chan []byte, 2)}
		wg.Go(func() { x.generate(ctx, o, i) })
		expect[i] = x
	}
	for e, err := range f.Events() {
		if err != nil {
			return err
		}
		worker, ok := e.Get("worker")
		if !ok || worker.Kind() != slog.KindInt64 || worker.Int64() < 0 || worker.Int64() >= int64(o.Workers) {
			return fmt.Errorf("%s: an event that nobody logged: %s", r.Path, e.AppendJSON(nil))
		}
		want, err := expect[worker.Int64()].next()
		switch {
		case err != nil:
			return err
		case want == nil:
			return fmt.Errorf("%s: more events of worker %d than it logged: %s", r.Path, worker.Int64(), e.AppendJSON(nil))
		case !event.Equal(e, event.Lazy(want)):
			return fmt.Errorf("%s: an event differs from what was logged\n got %s\nwant %s", r.Path, e.AppendJSON(nil), want)
		}
		if r.Compared++; r.Compared%batchSize == 0 {
			o.progress(batchSize)
		}
	}
	for worker, x := range expect {
		if x.told != share(o, worker) {
			return fmt.Errorf("%s: %d events of worker %d, want %d", r.Path, x.told, worker, share(o, worker))
		}
	}
	return ctx.Err()
}

// expected tells what a worker logged, in the words of the standard library. They are generated ahead, beside the reading.
type expected struct {
	batches chan []byte // lines
	err     error       // why there are no more; to be read when batches is closed
	batch   []byte      // what is left of the last one
	told    int
}

// generate sends what the worker logged, and closes the channel behind it. It stops early if ctx is done.
func (x *expected) generate(ctx context.Context, o Options, worker int) {
	defer close(x.batches)
	from := corpus.New(corpus.Demo, o.Seed, worker)
	for n := share(o, worker); n > 0; {
		text := new(bytes.Buffer)
		h := base(slog.NewJSONHandler(text, &slog.HandlerOptions{AddSource: true, Level: slog.LevelDebug - 4}))
		for r := range from.Records(min(n, batchSize)) {
			if x.err = h.Handle(ctx, r); x.err != nil {
				return
			}
			n--
		}
		select {
		case x.batches <- text.Bytes():
		case <-ctx.Done():
			x.err = ctx.Err()
			return
		}
	}
}

// next returns the next line, nil if the worker logged no more.
func (x *expected) next() ([]byte, error) {
	if len(x.batch) == 0 {
		batch, ok := <-x.batches
		if !ok {
			return nil, x.err
		}
		x.batch = batch
	}
	line, rest, _ := bytes.Cut(x.batch, []byte("\n"))
	x.batch = rest
	x.told++
	return line, nil
}
