package archive

import (
	"encoding/binary"
	"math"
)

// blockRows is how many rows of a table the index describes together.
const blockRows = 1 << 16

// maxSet is how many different entries of a dictionary a block may have for them to be listed.
const maxSet = 16

// blockStats is what the values of a column are in a block of rows.
type blockStats struct {
	// min and max are the least and the greatest value, as sortKey has them.
	min, max int64

	// start is the value of the first row, of columns that hold differences.
	start int64

	// mask has a bit set for each entry of a dictionary that occurs; see maskBit.
	mask uint64

	// set lists the entries that occur and how often, by ascending number; nil if there are more than maxSet.
	set []idCount
}

type idCount struct {
	id    uint64
	count int64
}

// maskBit returns the bit of an entry in blockStats.mask.
func maskBit(id uint64) uint64 { return 1 << (id * 0x9E3779B97F4A7C15 >> 58) }

// sortKey returns a value of a column as a number that is in the order of the values. Of a text that is encoded, it is
// its log type.
func sortKey(typ NodeType, v uint64) int64 {
	switch typ {
	case Float, FormattedFloat:
		return floatKey(math.Float64frombits(v))
	case ClpString, UnstructuredArray:
		return int64(v & 0xFFFFFF)
	}
	return int64(v)
}

// floatKey returns the place of a float among all, NaNs at both ends; -0 is before 0.
func floatKey(f float64) int64 {
	b := int64(math.Float64bits(f))
	return b ^ int64(uint64(b>>63)>>1)
}

// isDelta reports whether a column holds differences to the row before.
func (t NodeType) isDelta() bool { return t == DeltaInteger || t == Timestamp }

// isID reports whether a column's values are entries of a dictionary.
func (t NodeType) isID() bool {
	switch t {
	case VarString, DictionaryFloat, ClpString, UnstructuredArray, Boolean:
		return true
	}
	return false
}

// columnIndex makes the statistics of one column while it is written. The zero value is ready.
type columnIndex struct {
	variables int64 // of a column of encoded texts, set by the writer before the index is built

	typ    NodeType
	blocks []blockStats
	rows   int    // in the last block
	sum    uint64 // of differences
	open   idSet  // of the last block
}

// add takes the plain bytes of the values of some more rows.
func (c *columnIndex) add(typ NodeType, plain []byte) {
	c.typ = typ
	width := 8
	if typ == Boolean {
		width = 1
	}
	for len(plain) >= width {
		if c.rows == 0 {
			c.blocks = append(c.blocks, blockStats{min: math.MaxInt64, max: math.MinInt64})
			c.open = idSet{}
		}
		n := min(len(plain)/width, blockRows-c.rows)
		c.block(typ, plain[:n*width])
		plain = plain[n*width:]
		if c.rows += n; c.rows == blockRows {
			c.finish()
		}
	}
}

// finish ends the last block.
func (c *columnIndex) finish() {
	if c.rows == 0 {
		return
	}
	c.rows = 0
	if c.typ.isID() {
		c.blocks[len(c.blocks)-1].set = c.open.list()
	}
}

func (c *columnIndex) block(typ NodeType, b []byte) {
	st := &c.blocks[len(c.blocks)-1]
	lo, hi := st.min, st.max
	switch {
	case typ == Boolean:
		for _, v := range b {
			if v != 0 {
				v = 1
			}
			lo, hi = min(lo, int64(v)), max(hi, int64(v))
			c.open.add(uint64(v))
		}
	case typ.isDelta():
		sum := c.sum
		if c.rows == 0 {
			st.start = int64(sum + binary.LittleEndian.Uint64(b))
		}
		for ; len(b) >= 8; b = b[8:] {
			sum += binary.LittleEndian.Uint64(b)
			lo, hi = min(lo, int64(sum)), max(hi, int64(sum))
		}
		c.sum = sum
	case typ.isID():
		low := ^uint64(0)
		if typ == ClpString || typ == UnstructuredArray {
			low = 0xFFFFFF
		}
		mask := st.mask
		last := ^uint64(0)
		for ; len(b) >= 8; b = b[8:] {
			v := binary.LittleEndian.Uint64(b) & low
			if v == last {
				c.open.again()
				continue
			}
			last = v
			lo, hi = min(lo, int64(v)), max(hi, int64(v))
			mask |= maskBit(v)
			c.open.add(v)
		}
		st.mask = mask
	default:
		for ; len(b) >= 8; b = b[8:] {
			v := sortKey(typ, binary.LittleEndian.Uint64(b))
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if typ == Boolean {
		st.mask = ^uint64(0)
	}
	st.min, st.max = lo, hi
}

// idSet counts entries until there are more than maxSet.
type idSet struct {
	slots [4 * maxSet]idCount // a hash table; a slot without a count is free
	n     int                 // more than maxSet if there are too many
	last  int
}

func (s *idSet) again() {
	if s.n <= maxSet {
		s.slots[s.last].count++
	}
}

func (s *idSet) add(id uint64) {
	if s.n > maxSet {
		return
	}
	for i := int(id * 0x9E3779B97F4A7C15 >> 58); ; i = (i + 1) % len(s.slots) {
		slot := &s.slots[i]
		if slot.count == 0 {
			if s.n++; s.n > maxSet {
				return
			}
			slot.id = id
		} else if slot.id != id {
			continue
		}
		slot.count++
		s.last = i
		return
	}
}

func (s *idSet) list() []idCount {
	if s.n > maxSet {
		return nil
	}
	list := make([]idCount, 0, s.n)
	for _, slot := range s.slots {
		if slot.count == 0 {
			continue
		}
		i := len(list)
		list = append(list, slot)
		for ; i > 0 && list[i-1].id > slot.id; i-- {
			list[i] = list[i-1]
		}
		list[i] = slot
	}
	return list
}

// reuseBits says which entries of the dictionary of variables occur in a later epoch than the one that brought them. An
// epoch is blockRows records of the log. Others, such as the identifier of a request, occur in one epoch only. The zero
// value is ready.
type reuseBits struct {
	bits   []uint64
	counts []int // entries at the beginning of each epoch
	first  uint64
}

// epoch notes that the next record begins an epoch: the record's number is a multiple of blockRows. count is the number
// of entries so far.
func (u *reuseBits) epoch(count int) {
	u.counts = append(u.counts, count)
	u.first = uint64(count)
}

// used notes that an entry that is there already occurs again.
func (u *reuseBits) used(id uint64) {
	if id >= u.first {
		return
	}
	for uint64(len(u.bits)) <= id>>6 {
		u.bits = append(u.bits, 0)
	}
	u.bits[id>>6] |= 1 << (id & 63)
}

// bytes returns the bits of the first count entries.
func (u *reuseBits) bytes(count int) []byte {
	b := make([]byte, (count+7)/8)
	for i := range b {
		if i/8 < len(u.bits) {
			b[i] = byte(u.bits[i/8] >> (8 * (i % 8)))
		}
	}
	return b
}
