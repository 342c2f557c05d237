package finalize

import (
	"context"
	"fmt"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// watched is a file that is read for a recovery that can be broken off and tells how far it is. A read after the end of ctx is
// a read that failed, of which nobody concludes anything about the content.
type watched struct {
	vfs.File
	ctx  context.Context
	tell func(done, total int64)
	size int64
}

// watch returns f as the options want it read.
func (o *Options) watch(f vfs.File) (vfs.File, error) {
	if o.Context == nil && o.OnProgress == nil {
		return f, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	w := &watched{File: f, ctx: o.Context, tell: o.OnProgress, size: info.Size()}
	if w.ctx == nil {
		w.ctx = context.Background()
	}
	return w, nil
}

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.File.ReadAt(p, off)
	if w.tell != nil {
		w.tell(min(off+int64(n), w.size), w.size)
	}
	return n, err
}
