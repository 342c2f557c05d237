package archive

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	headerSize = 64
	magic      = "\xFD\x2F\xC5\x30"
)

// Version is the version of the archive format, which is not that of the program that wrote the archive.
type Version struct {
	Major, Minor uint8
	Patch        uint16
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Known reports whether v is a version that this package was written for: 0.4.0 up to 0.5.1.
func (v Version) Known() bool {
	return v.Major == 0 && (v.Minor == 4 || v.Minor == 5 && v.Patch <= 1)
}

// header is the fixed beginning of an archive:
//
//	 0  magic                  4 bytes
//	 4  version                u32, major<<24 | minor<<16 | patch
//	 8  uncompressed size      u64, bytes of JSON that went in; some versions got it wrong
//	16  compressed size        u64, bytes of the whole archive
//	24  reserved               32 bytes; ours: see sums
//	56  size of the metadata   u32, compressed
//	60  compression            u16, 0 is zstd
//	62  padding                2 bytes
type header struct {
	version          Version
	uncompressedSize uint64
	compressedSize   uint64
	metadataSize     uint32
	sums             *sums // nil if there are none
}

func readHeader(src io.ReaderAt, size int64) (header, error) {
	var b [headerSize]byte
	n, err := src.ReadAt(b[:min(size, headerSize)], 0)
	if err != nil && err != io.EOF {
		return header{}, fmt.Errorf("archive: read header: %w", err)
	}
	if string(b[:min(n, len(magic))]) != magic[:min(n, len(magic))] || n == 0 {
		return header{}, corrupt("header", 0, ErrMagic, "% x", b[:min(n, len(magic))])
	}
	if n < headerSize {
		return header{}, corrupt("header", int64(n), ErrShort, "a header has %d bytes", headerSize)
	}
	version := binary.LittleEndian.Uint32(b[4:])
	h := header{
		version:          Version{uint8(version >> 24), uint8(version >> 16), uint16(version)},
		uncompressedSize: binary.LittleEndian.Uint64(b[8:]),
		compressedSize:   binary.LittleEndian.Uint64(b[16:]),
		metadataSize:     binary.LittleEndian.Uint32(b[56:]),
		sums:             readSums(b[:]),
	}
	if h.version.Major == 0 && h.version.Minor < 4 {
		return h, corrupt("header", 4, ErrVersion, "%v; before 0.4.0 variables were encoded in another way", h.version)
	}
	if c := binary.LittleEndian.Uint16(b[60:]); c != 0 {
		return h, corrupt("header", 60, ErrCompression, "type %d, 0 is zstd", c)
	}
	return h, nil
}
