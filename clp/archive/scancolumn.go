package archive

import "encoding/binary"

// columnScan is the scan of a column as it comes.
type columnScan struct {
	ts     *tableScan
	f      *streamFeed
	column int
	leaves []*Condition
	cells  [][]byte // of texts whose variables are needed, of each block
}

// values reads the values, and evaluates the conditions on them. It keeps them if the variables behind them are needed, too. It
// reports whether the condition may still hold of some row.
func (c *columnScan) values(keep bool) (more bool, err error) {
	s := c.ts.scan
	col := &s.columns[c.column]
	width := min(col.typ.width(), 8) // a second part is not looked at
	var buf []byte
	sum := uint64(0)
	for k := range c.ts.may.blocks {
		from := int64(k) * blockRows
		n := int(width * min(blockRows, s.table.records-from))
		if buf == nil || keep {
			if err := s.take(int64(n)); err != nil {
				return false, err
			}
			buf = make([]byte, n)
		}
		buf = buf[:n]
		if err := c.f.get(buf); err != nil {
			return false, err
		}
		if keep {
			c.cells = append(c.cells, buf)
		}
		if col.typ.isDelta() {
			sum = sumUp(buf, sum)
		}
		col.values = run{from: col.off + width*from, plain: buf}
		if err := c.evaluate(s, k); err != nil {
			return false, err
		}
	}
	col.values = run{}
	for _, leaf := range c.leaves {
		s.leaves[leaf].come = true
	}
	for k := range c.ts.may.blocks {
		if rows, _, err := s.evaluate(c.ts.condition, k, c.ts.all(k)); rows != nil || err != nil {
			return true, err
		}
	}
	return false, nil
}

// texts reads the variables of texts, and evaluates the conditions on those of which the log type does not tell.
func (c *columnScan) texts() error {
	s := c.ts.scan
	col := &s.columns[c.column]
	index := func(block int) int64 {
		if block < len(c.cells) {
			return min(int64(binary.LittleEndian.Uint64(c.cells[block])>>24), col.variables)
		}
		return col.variables
	}
	begin, most := c.f.at, int64(0)
	group := parallelTasks{limit: s.r.parallel}
	defer group.wait()
	for k := range c.ts.may.blocks {
		if !c.open(k) {
			continue
		}
		// The variables follow each other in the order of the rows. Of a text that has others it is open whether it matches.
		from := max(index(k), (c.f.at-begin)/8)
		n := 8 * (max(index(k+1), from) - from)
		if n > most {
			if err := s.take((n - most) * int64(s.r.parallel)); err != nil {
				return err
			}
			most = n
		}
		if err := c.f.skip(begin + 8*from - c.f.at); err != nil {
			return err
		}
		buf := s.r.pool.buffer()
		var err error
		if *buf, err = c.f.grow((*buf)[:0], n); err != nil {
			return err
		}
		block := s.clone()
		block.columns[c.column].values = run{from: col.off + 8*int64(k)*blockRows, plain: c.cells[k]}
		block.columns[c.column].vars = run{from: begin + 8*from, plain: *buf}
		block.message, block.word = nil, nil
		group.do(func() {
			defer s.r.pool.buffers.Put(buf)
			if err := c.evaluate(block, k); err != nil {
				c.ts.failed(k, err)
			}
		})
	}
	group.wait()
	return c.ts.err
}

// open reports whether some row of a block needs its variables.
func (c *columnScan) open(block int) bool {
	for _, leaf := range c.leaves {
		l := c.ts.scan.leaves[leaf]
		rows, _, err := c.ts.scan.evaluate(c.ts.condition, block, andNot(l.may[block], l.must[block]))
		if rows != nil || err != nil {
			return true
		}
	}
	return false
}

// evaluate evaluates the conditions on a block that s has, on those rows that the condition of the table may hold of.
func (c *columnScan) evaluate(s *scan, block int) error {
	rows, _, err := s.evaluate(c.ts.condition, block, c.ts.all(block))
	if err != nil || rows == nil {
		return err
	}
	for _, leaf := range c.leaves {
		may, must, err := s.values(leaf, block, rows)
		if err != nil {
			return err
		}
		l := s.leaves[leaf] // of other rows, what is known remains
		l.may[block], l.must[block] = orBits(may, andNot(l.may[block], rows)), orBits(must, andNot(l.must[block], rows))
	}
	return nil
}
