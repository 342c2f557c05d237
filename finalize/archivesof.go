package finalize

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// origin says in an archive which journal it was made of.
type origin struct {
	path    string
	journal string
	part    int64
	first   int64 // number of its first event in the journal
	records int64
}

// archivesOf finds the archives that were made of a journal already: those of the first events, without a gap.
func archivesOf(fsys vfs.FS, path, journal string) (events int64, parts int, last string, err error) {
	dir, live := filepath.Split(path)
	if name, _, ok := naming.ParseRotated(live); ok {
		live = name
	}
	entries, err := fsys.ReadDir(dirOf(path))
	if err != nil {
		return 0, 0, "", fmt.Errorf("finalize: %w", err)
	}
	var list []origin
	for _, e := range entries {
		if name, _, ok := naming.ParseRotated(e.Name()); e.Name() != live && (!ok || name != live) || !e.Type().IsRegular() {
			continue
		}
		o, err := originOf(fsys, dir+e.Name())
		if err != nil {
			return 0, 0, "", err
		}
		if o.journal == journal {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b origin) int { return int(a.part - b.part) })
	for _, o := range list {
		if o.part != int64(parts)+1 || o.first != events {
			break
		}
		events, parts, last = events+o.records, parts+1, o.path
	}
	return events, parts, last, nil
}

// originOf returns what an archive says of where it comes from; nothing if it does not, or is no archive. The error is a
// failure to read.
func originOf(fsys vfs.FS, path string) (o origin, err error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("finalize: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return o, fmt.Errorf("finalize: %w", err)
	}
	src := &failingAt{r: f}
	r, err := archive.Open(src, info.Size(), nil)
	if err != nil {
		if src.err != nil {
			return o, fmt.Errorf("finalize: read %s: %w", path, src.err)
		}
		return o, nil
	}
	defer r.Close()
	for _, where := range r.Ranges() {
		v, ok := where.Fields.Get(fieldsKey)
		if !ok || v.Kind() != slog.KindGroup {
			continue
		}
		for _, a := range v.Group() {
			switch {
			case a.Key == "journal" && a.Value.Kind() == slog.KindString:
				o.journal = a.Value.String()
			case a.Key == "part" && a.Value.Kind() == slog.KindInt64:
				o.part = a.Value.Int64()
			case a.Key == "first" && a.Value.Kind() == slog.KindInt64:
				o.first = a.Value.Int64()
			}
		}
	}
	o.path, o.records = path, r.Info().Records
	return o, nil
}
