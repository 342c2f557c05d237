package parse

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
)

// spill keeps the lines of many streams in bounded memory and gives them back stream by stream. Lines are gathered in
// memory; a stream that has a block's worth is compressed, in the form in which the output will hold it, and goes to a
// temporary file. So a line is compressed once, and what is on disk is about as large as the output. If many streams
// have a little each, all of them go to the file as they are.
//
// One goroutine uses a spill.
type spill struct {
	path  string
	block int // bytes of lines to a block
	limit int // bytes of lines in memory

	pack    *packer
	fs      vfs.FS
	file    vfs.File
	out     *bufio.Writer
	size    int64 // of the file
	early   int   // bytes of blocks that are kept in memory
	pending int   // bytes of buffers
	waiting []*stream
	packed  []byte
	joined  []byte
	repeats repeat.Encoder
}

// stream is a sequence of lines in a spill.
type stream struct {
	pend      repeat.Text // whole lines
	head      int         // bytes of them that refer to nothing before
	pendLines int
	gen       int // grows when pend is emptied, so that nobody refers to what is gone
	blocks    []block
	listed    bool
}

// block is a run of lines, in the spill's file or in memory.
type block struct {
	kept   []byte // nil if it is in the file
	off    int64
	size   int // in the file
	raw    int // as lines
	lines  int
	crc    uint32
	packed bool
}

func newSpill(fsys vfs.FS, path string, p *packer, blockSize, limit int) *spill {
	return &spill{fs: fsys, path: path, pack: p, block: blockSize, limit: limit}
}

// begin returns the text to append a line to; end must be called next.
func (s *spill) begin(t *stream) *repeat.Text {
	if !t.listed {
		t.listed = true
		s.waiting = append(s.waiting, t)
	}
	s.pending -= cap(t.pend.B)
	return &t.pend
}

func (s *spill) end(t *stream) error {
	t.pendLines++
	if !t.pend.Repeats() {
		t.head = len(t.pend.B)
	}
	s.pending += cap(t.pend.B)
	if len(t.pend.B) >= s.block {
		return s.flush(t, true)
	}
	if s.pending > s.limit {
		for _, t := range s.waiting {
			if len(t.pend.B) > 0 {
				if err := s.flush(t, false); err != nil {
					return err
				}
			}
			s.pending -= cap(t.pend.B)
			t.pend, t.listed = repeat.Text{Off: t.pend.Off}, false
		}
		s.waiting = s.waiting[:0]
	}
	return nil
}

// put appends a line that stands in a buffer of the caller's. A long one is not copied.
func (s *spill) put(t *stream, line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if len(t.pend.B)+len(line) < s.block/2 {
		p := s.begin(t)
		p.B = append(p.B, line...)
		return s.end(t)
	}
	if len(t.pend.B) > 0 {
		if err := s.flush(t, true); err != nil {
			return err
		}
	}
	return s.write(t, line, 1, true)
}

// packedText is a text that may go into several streams: packed as their blocks are, or as it is.
type packedText struct {
	text   []byte // nil if it is packed
	packed []byte
	raw    int // bytes of the text
	crc    uint32
}

// worthPacking is the number of bytes from which on a text is worth a block of its own.
const worthPacking = 8 << 10

// packText packs a text in two parts, of which the second knows where it repeats itself. Formats that are written by
// a sink need whole lines, so for them it stays as it is.
func (s *spill) packText(head []byte, tail *repeat.Text) packedText {
	p := packedText{raw: len(head) + len(tail.B)}
	if p.raw < worthPacking || s.pack.format != format.Gzip && s.pack.format != format.Zstd {
		p.text = append(append(make([]byte, 0, p.raw), head...), tail.B...)
		return p
	}
	if s.pack.repeats {
		s.packed = s.pack.appendBlock(s.packed[:0], head)
		s.packed = s.repeats.AppendBlock(s.packed, tail, 0)
		p.crc = crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, tail.B)
	} else {
		s.joined = append(append(s.joined[:0], head...), tail.B...)
		s.packed = s.pack.appendBlock(s.packed[:0], s.joined)
		p.crc = crc32.ChecksumIEEE(s.joined)
	}
	p.packed = bytes.Clone(s.packed)
	return p
}

// putAround appends a line that has a packed text in its middle.
func (s *spill) putAround(t *stream, head []byte, body *packedText, tail []byte) error {
	if body.packed == nil {
		s.joined = append(append(append(s.joined[:0], head...), body.text...), tail...)
		return s.put(t, s.joined)
	}
	if len(t.pend.B) > 0 {
		if err := s.flush(t, true); err != nil {
			return err
		}
	}
	s.packed = s.pack.appendBlock(s.packed[:0], head)
	s.packed = append(s.packed, body.packed...)
	s.packed = s.pack.appendShort(s.packed, tail)
	b := block{raw: len(head) + body.raw + len(tail), lines: 1, packed: true}
	if s.pack.format == format.Gzip {
		b.crc = crc32Combine(crc32.ChecksumIEEE(head), body.crc, int64(body.raw))
		b.crc = crc32Combine(b.crc, crc32.ChecksumIEEE(tail), int64(len(tail)))
	}
	return s.store(t, s.packed, b)
}

// flush moves the pending lines of t to the file.
func (s *spill) flush(t *stream, pack bool) error {
	var err error
	if p := &t.pend; pack && p.Repeats() {
		s.packed = s.pack.appendBlock(s.packed[:0], p.B[:t.head])
		s.packed = s.repeats.AppendBlock(s.packed, p, t.head)
		err = s.store(t, s.packed, block{raw: len(p.B), lines: t.pendLines, crc: crc32.ChecksumIEEE(p.B), packed: true})
	} else {
		err = s.write(t, p.B, t.pendLines, pack)
	}
	t.pend.Reset()
	t.pendLines, t.head = 0, 0
	t.gen++
	if cap(t.pend.B) > 2*s.block {
		s.pending -= cap(t.pend.B)
		t.pend = repeat.Text{Off: t.pend.Off}
	}
	return err
}

// write puts lines into the file.
func (s *spill) write(t *stream, data []byte, lines int, pack bool) error {
	b := block{raw: len(data), lines: lines, packed: pack && s.pack.compresses()}
	if b.packed {
		if s.pack.format == format.Gzip {
			b.crc = crc32.ChecksumIEEE(data)
		}
		s.packed = s.pack.appendBlock(s.packed[:0], data)
		data = s.packed
	}
	return s.store(t, data, b)
}

// store keeps a block: the first ones in memory, the others in the file.
func (s *spill) store(t *stream, data []byte, b block) error {
	b.size = len(data)
	if s.early+len(data) <= s.limit/4 {
		s.early += len(data)
		b.kept = bytes.Clone(data)
		t.blocks = append(t.blocks, b)
		return nil
	}
	if s.file == nil {
		f, err := s.fs.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("parse: spill: %w", err)
		}
		s.file, s.out = f, bufio.NewWriterSize(f, 256<<10)
	}
	b.off = s.size
	if _, err := s.out.Write(data); err != nil {
		return fmt.Errorf("parse: spill: %w", err)
	}
	s.size += int64(b.size)
	t.blocks = append(t.blocks, b)
	return nil
}

// seal makes the file readable. Nothing may be appended after it.
func (s *spill) seal() error {
	if s.out == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("parse: spill: %w", err)
	}
	return nil
}

// copyTo writes one block as it is stored.
func (s *spill) copyTo(w io.Writer, b block) error {
	if b.kept != nil {
		_, err := w.Write(b.kept)
		return err
	}
	n, err := io.Copy(w, io.NewSectionReader(s.file, b.off, int64(b.size)))
	if err == nil && n < int64(b.size) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Close removes the file.
func (s *spill) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if e := s.fs.Remove(s.path); err == nil {
		err = e
	}
	s.file = nil
	return err
}
