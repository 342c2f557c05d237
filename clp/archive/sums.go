package archive

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// An archive of a few records that is written here has no checksums in its zstd frames, which with the sizes that they tell would be a
// tenth of it. They stand in bytes of the header that the format leaves free, where they take no room:
//
//	24  "THsum" u8 version=1 u16 0
//	32  u32 CRC-32C of the metadata, as it is in the file; u32 of /schema_tree, /schema_ids and /table_metadata together;
//	    u32 of each of /var.dict, /log.dict, /array.dict and /0
//
// But for the lists, they are looked at before anything is decompressed: of what is damaged, nothing is read.
type sums [6]uint32

const (
	sumMetadata = iota
	sumLists
	sumDicts // the first one's
)

const (
	sumsAt      = 24 // in the header
	sumsMagic   = "THsum"
	sumsVersion = 1

	// summed is what an archive with such checksums was made of at most, and what it has, uncompressed, in its tables, and in each
	// of its dictionaries: each a part of a block of zstd, which damage takes as a whole anyway.
	summed = 1 << 10

	maxSummed = maxMetadata // bytes that have a checksum
)

// put writes the checksums into a header.
func (s *sums) put(header []byte) {
	b := header[sumsAt:]
	copy(b, sumsMagic)
	b[len(sumsMagic)] = sumsVersion
	for i, sum := range s {
		binary.LittleEndian.PutUint32(b[8+4*i:], sum)
	}
}

// readSums reads the checksums of a header, nil if there are none that are known.
func readSums(header []byte) *sums {
	b := header[sumsAt:]
	if string(b[:len(sumsMagic)]) != sumsMagic || b[len(sumsMagic)] != sumsVersion {
		return nil
	}
	s := &sums{}
	for i := range s {
		s[i] = binary.LittleEndian.Uint32(b[8+4*i:])
	}
	return s
}

// sumWriter is the CRC-32C of what is written to it.
type sumWriter uint32

// Write implements io.Writer.
func (s *sumWriter) Write(p []byte) (int, error) {
	*s = sumWriter(crc32.Update(uint32(*s), castagnoli, p))
	return len(p), nil
}

// check compares a range of a file with the checksum of the number which. An error is that of reading.
func (s *sums) check(which int, src io.ReaderAt, off, size int64) (right bool, err error) {
	if size < 0 || size > maxSummed {
		return false, nil
	}
	b := make([]byte, size)
	if n, err := src.ReadAt(b, off); err != nil && err != io.EOF {
		return false, fmt.Errorf("archive: %w", err)
	} else if int64(n) < size {
		return false, nil
	}
	return crc32.Checksum(b, castagnoli) == s[which], nil
}

// checkLists looks at the tree and the lists, when they were read: what is wrong with one alone is known then.
func (c *container) checkLists() error {
	if c.header.sums == nil {
		return nil
	}
	tree, vars := c.sections[sectionTree], c.sections[sectionVars]
	right, err := c.header.sums.check(sumLists, tree.src, tree.off, vars.off-tree.off)
	if err == nil && !right {
		err = corrupt(sectionTree, 0, ErrSum, "of the tree and the lists behind it")
	}
	return err
}

// checkSections looks at the other sections, and notes in them what is damaged. A torn file lacks the end of its last section, of
// which what is there is read.
func (c *container) checkSections(torn bool) error {
	if c.header.sums == nil {
		return nil
	}
	for i, name := range []string{sectionVars, sectionLogs, sectionArrays, sectionData} {
		if torn && name == sectionData {
			break
		}
		part := c.sections[name]
		right, err := c.header.sums.check(sumDicts+i, part.src, part.off, part.size)
		if err != nil {
			return err
		}
		if !right {
			part.damage = ErrSum
			c.sections[name] = part
		}
	}
	return nil
}
