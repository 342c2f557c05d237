package archive

import (
	"fmt"
	"io"
	"io/fs"
)

// The sections of an archive, in their order.
const (
	sectionTree   = "/schema_tree"
	sectionIDs    = "/schema_ids"
	sectionTables = "/table_metadata"
	sectionVars   = "/var.dict"
	sectionLogs   = "/log.dict"
	sectionArrays = "/array.dict"
	sectionData   = "/0"
)

var sectionNames = [...]string{sectionTree, sectionIDs, sectionTables, sectionVars, sectionLogs, sectionArrays, sectionData}

// container is where the sections of an archive are.
type container struct {
	header   header
	meta     *metadata
	sections map[string]section
	size     int64 // bytes of all files
	close    func() error
}

// openFile finds the sections of a single-file archive: they follow the header and the metadata in a fixed order.
func openFile(in *input, src io.ReaderAt, size int64) (*container, error) {
	h, err := readHeader(src, size)
	if err != nil {
		return nil, err
	}
	c := &container{header: h, sections: map[string]section{}, close: func() error { return nil }}
	if int64(h.metadataSize) > size-headerSize {
		return nil, corrupt("header", 56, ErrShort, "metadata of %d bytes in a file of %d", h.metadataSize, size)
	}
	if h.sums != nil {
		if right, err := h.sums.check(sumMetadata, src, headerSize, int64(h.metadataSize)); err != nil {
			return nil, err
		} else if !right {
			return nil, corrupt("metadata", 0, ErrSum, "")
		}
	}
	if c.meta, err = readMetadata(in, section{name: "metadata", src: src, off: headerSize, size: int64(h.metadataSize)}); err != nil {
		return nil, err
	}
	// Behind the archive's end, as its header has it, may be anything. A header that promises more than there is does
	// no harm if every section is whole.
	start, end := headerSize+int64(h.metadataSize), size
	if h.compressedSize < uint64(end) {
		end = int64(h.compressedSize)
	}
	c.size = end
	files := c.meta.files
	for i, f := range files {
		if h.compressedSize > uint64(size) && f.offset > uint64(size-start) {
			return nil, corrupt("header", size, ErrShort, "%q begins at byte %d of the %d bytes of the archive", f.name, start+int64(min(f.offset, 1<<62)), h.compressedSize)
		}
		if end < start || f.offset > uint64(end-start) || i > 0 && f.offset < files[i-1].offset {
			return nil, corrupt("metadata", 0, ErrSection, "%q at byte %d of %d", f.name, f.offset, max(end-start, 0))
		}
		next := end
		if i+1 < len(files) && files[i+1].offset <= uint64(end-start) {
			next = start + int64(files[i+1].offset)
		}
		if _, twice := c.sections[f.name]; twice {
			return nil, corrupt("metadata", 0, ErrSection, "%q twice", f.name)
		}
		off := start + int64(f.offset)
		c.sections[f.name] = section{name: f.name, src: src, off: off, size: max(next-off, 0)}
	}
	for _, name := range sectionNames {
		if _, ok := c.sections[name]; !ok {
			return nil, corrupt("metadata", 0, ErrSection, "%q is missing", name)
		}
	}
	if err := c.checkSections(h.compressedSize > uint64(size)); err != nil {
		return nil, err
	}
	return c, nil
}

// openDir finds the sections of a directory archive: each is a file, and a file "header" has the header and the metadata.
func openDir(in *input, dir fs.FS) (_ *container, err error) {
	c := &container{sections: map[string]section{}}
	var files []fs.File
	c.close = func() error {
		var first error
		for _, f := range files {
			if err := f.Close(); err != nil && first == nil {
				first = err
			}
		}
		files = nil
		return first
	}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	open := func(name string) (section, error) {
		f, err := dir.Open(name)
		if err != nil {
			return section{}, fmt.Errorf("archive: %w", err)
		}
		files = append(files, f)
		info, err := f.Stat()
		if err != nil {
			return section{}, fmt.Errorf("archive: %w", err)
		}
		src, ok := f.(io.ReaderAt)
		if !ok || !info.Mode().IsRegular() {
			return section{}, fmt.Errorf("archive: %s: no file that can be read at any place", name)
		}
		c.size += info.Size()
		return section{name: "/" + name, src: src, size: info.Size()}, nil
	}
	head, err := open("header")
	if err != nil {
		return nil, err
	}
	if c.header, err = readHeader(head.src, head.size); err != nil {
		return nil, err
	}
	if int64(c.header.metadataSize) > head.size-headerSize {
		return nil, corrupt("header", 56, ErrShort, "metadata of %d bytes in a file of %d", c.header.metadataSize, head.size)
	}
	if c.meta, err = readMetadata(in, section{name: "metadata", src: head.src, off: headerSize, size: int64(c.header.metadataSize)}); err != nil {
		return nil, err
	}
	for _, name := range sectionNames {
		if c.sections[name], err = open(name[1:]); err != nil {
			return nil, err
		}
	}
	return c, nil
}
