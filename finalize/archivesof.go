package finalize

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// made is an archive that was made of a journal.
type made struct {
	path    string
	records int64
	from    origin.Origin
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
	var list []made
	for _, e := range entries {
		if name, _, ok := naming.ParseRotated(e.Name()); e.Name() != live && (!ok || name != live) || !e.Type().IsRegular() {
			continue
		}
		m, err := madeOf(fsys, dir+e.Name())
		if err != nil {
			return 0, 0, "", err
		}
		if m.from.ID == journal {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b made) int { return cmp.Compare(a.from.Part, b.from.Part) })
	for _, m := range list {
		if m.from.Part != int64(parts)+1 || m.from.First != events {
			break
		}
		events, parts, last = events+m.records, parts+1, m.path
	}
	return events, parts, last, nil
}

// madeOf returns what an archive says of where it comes from; nothing if it does not, or is no archive. The error is a
// failure to read.
func madeOf(fsys vfs.FS, path string) (m made, err error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("finalize: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, fmt.Errorf("finalize: %w", err)
	}
	src := &failingAt{r: f}
	r, err := archive.Open(src, info.Size(), nil)
	if err != nil {
		if src.err != nil {
			return m, fmt.Errorf("finalize: read %s: %w", path, src.err)
		}
		return m, nil
	}
	defer r.Close()
	if from, ok := origin.Of(r); ok {
		m.from = from
	}
	m.path, m.records = path, r.Info().Records
	return m, nil
}
