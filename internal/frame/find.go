package frame

import (
	"errors"
	"fmt"
	"io"
)

// findBuffer is the number of bytes that a search reads at a time.
const findBuffer = 64 << 10

// plausibleBlocks is how many blocks a search follows before it believes in a frame. By chance, even the second block
// header fits only once in twenty times.
const plausibleBlocks = 16

// FindZstd returns the offset of the next zstd frame at or after from, in the first size bytes of r, for a reader that
// goes on after damage. It looks for a magic whose headers NextZstd would accept; a skippable frame must also be followed
// by another magic or by the end. If there is no such frame but a torn one, it returns that: nothing whole follows it.
// ok is false if there is neither. An error is one of r.
//
// Four bytes of compressed data look like a magic once in 4 GB; with the headers checked, a frame found is practically
// always one. A wrong one fails its checksum when it is decoded.
func FindZstd(r io.ReaderAt, from, size int64) (off int64, ok bool, err error) {
	w := walker{r: r, size: size}
	torn := int64(-1)
	off, ok, err = find(r, from, size, 4, IndexZstd, func(off int64, _ []byte) (bool, error) {
		w.size = size
		info, err := w.walk(off, plausibleBlocks)
		var tornErr *TornError
		var corrupt *CorruptError
		switch {
		case errors.As(err, &tornErr):
			if torn < 0 && !isSkippableAt(&w, off) {
				torn = off
			}
			return false, nil
		case errors.As(err, &corrupt):
			return false, nil
		case err != nil:
			return false, err
		case !info.Skippable:
			return true, nil
		}
		next, err := w.peek(info.End(), 4)
		return err == nil && IsZstd(next), err
	})
	if err == nil && !ok && torn >= 0 {
		return torn, true, nil
	}
	return off, ok, err
}

func isSkippableAt(w *walker, off int64) bool {
	b, err := w.peek(off, 1)
	return err == nil && len(b) == 1 && b[0]&0xf0 == 0x50
}

// FindGzip returns the offset of the next gzip member header at or after from, in the first size bytes of r, for a
// reader that goes on after damage. It asks more of a header than RFC 1952 §2.3: besides magic and method, reserved flags
// must be 0, and the extra flags and the operating system known ones; by chance, ten bytes are such a header once in 100
// GB. ok is false if there is none. An error is one of r.
func FindGzip(r io.ReaderAt, from, size int64) (off int64, ok bool, err error) {
	return find(r, from, size, gzipHeader, IndexGzip, func(_ int64, b []byte) (bool, error) {
		extra, system := b[8], b[9]
		return (extra == 0 || extra == 2 || extra == 4) && (system <= 13 || system == 255), nil
	})
}

const gzipHeader = 10

// find reads r from from on, asks next for candidates and check whether they are good. check gets at least need bytes.
func find(r io.ReaderAt, from, size int64, need int, next func([]byte) int, check func(int64, []byte) (bool, error)) (int64, bool, error) {
	buf := make([]byte, min(findBuffer, max(size-from, 0)))
	for from+int64(need) <= size {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		if n < need {
			if err == nil || errors.Is(err, io.EOF) {
				return 0, false, nil
			}
			return 0, false, fmt.Errorf("frame: read at offset %d: %w", from, err)
		}
		b := buf[:n]
		i := 0
		for {
			j := next(b[i:])
			if j < 0 {
				break
			}
			i += j
			if i+need > n {
				break
			}
			good, err := check(from+int64(i), b[i:])
			if err != nil {
				return 0, false, err
			}
			if good {
				return from + int64(i), true, nil
			}
			i++
		}
		// A candidate may begin in the last bytes and end in the next read.
		from += int64(n - need + 1)
	}
	return 0, false, nil
}
