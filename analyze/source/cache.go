package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cacheVersion changes when what an index holds does.
const cacheVersion = 1

// stored is an index on disk.
type stored struct {
	Version int
	Files   int
	Defs    []Definition
}

// CachedIndex is BuildIndex with a memory in dir, which it makes: an index is kept under a fingerprint of the trees (names,
// sizes and times of all source files, and the roots), so that a change of any makes a new one. A cache that cannot be
// read or written costs time and is no error.
func CachedIndex(ctx context.Context, roots []Root, dir string) (*Index, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n", cacheVersion)
	err := walk(ctx, roots, func(path string, d fs.DirEntry, framework string) {
		if fi, err := d.Info(); err == nil {
			fmt.Fprintf(h, "%q %q %d %d\n", framework, path, fi.Size(), fi.ModTime().UnixNano())
		}
	})
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, hex.EncodeToString(h.Sum(nil))+".json")
	if x, ok := loadIndex(name); ok {
		return x, nil
	}
	x, err := BuildIndex(ctx, roots)
	if err == nil {
		x.store(name)
	}
	return x, err
}

func loadIndex(name string) (*Index, bool) {
	text, err := os.ReadFile(name)
	var s stored
	if err != nil || json.Unmarshal(text, &s) != nil || s.Version != cacheVersion {
		return nil, false
	}
	x := &Index{defs: map[string][]Definition{}, Files: s.Files}
	for _, d := range s.Defs {
		x.defs[d.Symbol] = append(x.defs[d.Symbol], d)
	}
	return x, true
}

// store writes the index under a temporary name and renames it. If that fails there is no cache, as before.
func (x *Index) store(name string) {
	s := stored{Version: cacheVersion, Files: x.Files}
	for _, defs := range x.defs {
		s.Defs = append(s.Defs, defs...)
	}
	text, err := json.Marshal(s)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".index.*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), name) != nil {
		os.Remove(f.Name())
	}
}
