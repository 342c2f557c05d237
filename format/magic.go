package format

import "fmt"

// Magic is what the first bytes of a file or stream say about the rest.
type Magic uint8

// What Detect tells apart.
const (
	Text         Magic = iota // anything else, the empty file included
	GzipMagic                 // 1f 8b: a gzip member (RFC 1952 §2.3.1)
	ZstdMagic                 // 28 b5 2f fd, or 5x 2a 4d 18: a zstd frame or skippable frame (RFC 8878 §3.1)
	ArchiveMagic              // fd 2f c5 30: a CLP single-file archive
	IRMagic4                  // fd 2f b5 29: a CLP IR stream, four-byte encoding
	IRMagic8                  // fd 2f b5 30: a CLP IR stream, eight-byte encoding
)

// HeadSize is the number of bytes from the start of a file that Detect looks at, at most. It is also enough for the
// largest zstd frame header, magic included (RFC 8878 §3.1.1.1).
const HeadSize = 18

// Detect returns what head, the first bytes of a file or stream, says about the rest. Fewer than HeadSize bytes are
// fine if the file is that short. Detect never looks at a name and never fails: what it does not know is Text.
func Detect(head []byte) Magic {
	if len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b {
		return GzipMagic
	}
	if len(head) < 4 {
		return Text
	}
	switch uint32(head[0])<<24 | uint32(head[1])<<16 | uint32(head[2])<<8 | uint32(head[3]) {
	case 0x28b52ffd:
		return ZstdMagic
	case 0xfd2fc530:
		return ArchiveMagic
	case 0xfd2fb529:
		return IRMagic4
	case 0xfd2fb530:
		return IRMagic8
	}
	if head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18 {
		return ZstdMagic
	}
	return Text
}

var magicNames = [...]string{
	Text:         "text",
	GzipMagic:    "gzip",
	ZstdMagic:    "zstd",
	ArchiveMagic: "CLP archive",
	IRMagic4:     "CLP IR stream (four-byte encoding)",
	IRMagic8:     "CLP IR stream (eight-byte encoding)",
}

// String returns what a person would call it.
func (m Magic) String() string {
	if int(m) >= len(magicNames) {
		return fmt.Sprintf("magic(%d)", uint8(m))
	}
	return magicNames[m]
}
