package parse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Dir parses the raw traces of a folder, or one raw trace, and writes the result to the folder out.
//
// out must not exist, or be empty, or be the output of a parse that o.Overwrite allows to replace. It appears, complete,
// when Dir returns nil; before that, and after an error or a crash, what was there is untouched. Damaged input is
// reported in the Report and does not fail a parse; the error is for what stops it. Cancelling ctx stops it and removes
// what was begun.
func Dir(ctx context.Context, source, out string, o *Options) (*Report, error) {
	if source == "" || out == "" {
		return nil, errors.New("parse: source and output must be named")
	}
	if _, err := os.Stat(source); err != nil {
		return nil, fmt.Errorf("parse: source: %w", err)
	}
	set, err := o.check(source)
	if err != nil {
		return nil, err
	}
	return dirWith(ctx, set, source, out)
}

func dirWith(ctx context.Context, set *settings, source, out string) (*Report, error) {
	inv, err := Discover(source, set.Prefix, set.Ranks, set.NoPreInit)
	if err != nil {
		return nil, err
	}
	st, err := openStaging(source, out, set.Overwrite)
	if err != nil {
		return nil, err
	}
	rep := &Report{Source: source, Out: out, Skipped: inv.Skipped, Notes: inv.Notes, Ranks: make([]RankReport, len(inv.Buckets))}
	if err := parseBuckets(ctx, set, inv, st.dir, rep); err != nil {
		st.abort()
		return nil, err
	}
	if err := writeList(st.dir, set.Ranks, rep.Ranks); err != nil {
		st.abort()
		return nil, fmt.Errorf("parse: output: %w", err)
	}
	if err := st.publish(); err != nil {
		return nil, err
	}
	rep.List = filepath.Join(out, listName)
	for _, r := range rep.Ranks {
		for _, f := range r.Files {
			rep.Bytes += f.Size
		}
	}
	return rep, nil
}

// parseBuckets parses the ranks, several at a time. The first error stops all.
func parseBuckets(ctx context.Context, set *settings, inv *Inventory, dir string, rep *Report) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var read atomic.Int64
	var total int64
	for _, b := range inv.Buckets {
		for _, f := range b.Files {
			if st, err := os.Stat(f.Path); err == nil {
				total += st.Size()
			}
		}
	}
	progress := func(n int64) {
		if set.Progress != nil {
			set.Progress(read.Add(n), total)
		}
	}
	slots := make(chan struct{}, set.Parallel)
	var wg sync.WaitGroup
	for i, b := range inv.Buckets {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			rep.Ranks[i].Rank = b.Rank
			if err := parseBucket(ctx, set, b, dir, &rep.Ranks[i], progress); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func parseBucket(ctx context.Context, set *settings, b Bucket, dir string, rep *RankReport, progress func(int64)) (err error) {
	p, err := newPacker(set.format, set.Level)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, rankFolder(b.Rank))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	s := newSpill(vfs.OS, filepath.Join(dir, "spill_"+rankName(b.Rank)), p, set.block, set.Memory)
	defer func() {
		if e := s.Close(); err == nil && e != nil {
			err = fmt.Errorf("parse: spill: %w", e)
		}
	}()
	r := newRanker(set, b, s, rep)
	r.notify = progress
	if err := r.read(ctx); err != nil {
		return err
	}
	rep.Files, err = r.write(ctx, folder)
	for i := range rep.Files {
		rep.Files[i].Path = filepath.ToSlash(filepath.Join(rankFolder(b.Rank), rep.Files[i].Path))
	}
	return err
}
