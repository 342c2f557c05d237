package archive

import "sync/atomic"

// Bytes are bytes that were read from an archive, and what they were decompressed to.
type Bytes struct{ Read, Decoded int64 }

// Spent says what a Reader has read of an archive since it was opened, without what Open reads: header, metadata, the schema tree
// and the lists of schemas and tables. What was read twice counts twice.
type Spent struct {
	Columns      Bytes // of the tables
	Dictionaries Bytes
	Side         Bytes // the side channel: order of members, and records that were kept as they were written
	Index        Bytes // and its filters
}

// Total returns the sum.
func (s Spent) Total() (sum Bytes) {
	for _, b := range []Bytes{s.Columns, s.Dictionaries, s.Side, s.Index} {
		sum.add(b)
	}
	return sum
}

// Add adds what the Reader of another archive has looked at.
func (s *ScanStats) Add(other *ScanStats) {
	if s.Index == nil {
		s.Index = other.Index
	}
	s.Tables += other.Tables
	s.TablesSkipped += other.TablesSkipped
	s.Blocks += other.Blocks
	s.BlocksSkipped += other.BlocksSkipped
	s.Frames += other.Frames
	s.Sure += other.Sure
	s.Open += other.Open
	s.Spent.Columns.add(other.Spent.Columns)
	s.Spent.Dictionaries.add(other.Spent.Dictionaries)
	s.Spent.Side.add(other.Spent.Side)
	s.Spent.Index.add(other.Spent.Index)
}

func (b *Bytes) add(other Bytes) {
	b.Read += other.Read
	b.Decoded += other.Decoded
}

// byteCount is what adds up to Bytes, in several goroutines.
type byteCount struct{ read, decoded atomic.Int64 }

// add counts bytes. c may be nil: they are of no interest.
func (c *byteCount) add(read, decoded int64) {
	if c != nil {
		c.read.Add(read)
		c.decoded.Add(decoded)
	}
}

func (c *byteCount) bytes() Bytes { return Bytes{c.read.Load(), c.decoded.Load()} }

// byteCounts are those of a Reader.
type byteCounts struct{ columns, dicts, side, index byteCount }

// of returns the count of a section that has a stream or a dictionary.
func (c *byteCounts) of(section string) *byteCount {
	if section == sectionData {
		return &c.columns
	}
	return &c.dicts
}

func (c *byteCounts) spent() Spent {
	return Spent{c.columns.bytes(), c.dicts.bytes(), c.side.bytes(), c.index.bytes()}
}
