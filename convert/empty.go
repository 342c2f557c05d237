package convert

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// writeEmpty makes dst a trace without events, which a sink does not write. It holds one empty member or frame, because
// gzip takes a file of no bytes at all for a torn one.
func writeEmpty(dst string, f format.Format, overwrite bool) error {
	var content []byte
	switch f {
	case format.Gzip:
		var b bytes.Buffer
		if err := gzip.NewWriter(&b).Close(); err != nil {
			return err
		}
		content = b.Bytes()
	case format.Zstd:
		w, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		content = w.EncodeAll(nil, nil)
		if err := w.Close(); err != nil {
			return err
		}
	}
	if f == format.CLPIR {
		var err error
		if content, err = emptyStream(); err != nil {
			return err
		}
	}
	partial := dst + naming.PartialSuffix
	file, err := vfs.OS.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if _, err := vfs.OS.Lstat(dst); err == nil && !overwrite {
		return fmt.Errorf("%s: %w", dst, os.ErrExist)
	}
	if err := vfs.OS.Rename(partial, dst); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(dst))
}
