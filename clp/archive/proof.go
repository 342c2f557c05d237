package archive

import (
	"encoding/binary"
	"hash/maphash"
)

// A proof is checksums of the records that a writer took, by which Verify compares them with those that are read from the
// archive. Each table has one, a sum over all values of its columns as they were before they were encoded (texts by
// their hashes), each mixed with its row and with the path of its key; and over what makes a record of values: its text
// without them, or, where the columns do not give it back, its line. That sum is made of rows in any order, so that columns can be read one by one, by several
// goroutines.
type proof struct {
	seed     maphash.Seed // of the hashes of texts
	records  int64
	tables   []tableSum // by the ID of the schema
	patterns []string   // of times
}

type tableSum struct {
	records int64
	sum     uint64
}

// cell is what a value adds to the sum of its column.
func cell(row int64, v uint64) uint64 {
	x := v ^ uint64(row+1)*0x9E3779B97F4A7C15
	x = (x ^ x>>32) * 0xD6E8FEB86659FD93
	return (x ^ x>>29) * 0xBF58476D1CE4E5B9
}

// both makes one of the two values that a float or a time has in its column.
func both(first, second uint64) uint64 { return first ^ (second+1)*0x94D049BB133111EB }

// columnSum is what a column adds to the sum of its table. path is that of its node; 0 stands for the shapes of the records.
func columnSum(path, sum uint64) uint64 {
	x := (sum ^ path) * 0x9E3779B97F4A7C15
	return (x^x>>31)*0xD6E8FEB86659FD93 ^ path
}

// appendPaths appends the hashes of the paths of the nodes behind those that paths has.
func appendPaths(paths []uint64, nodes []Node, seed maphash.Seed) []uint64 {
	for _, n := range nodes[len(paths):] {
		x := uint64(n.Type) + 1
		if n.Parent >= 0 {
			x += 31 * paths[n.Parent]
		}
		paths = append(paths, cell(int64(x), maphash.String(seed, n.Key)))
	}
	return paths
}

// skeleton returns the hash of the text of a record without its values; see verifier.skeleton, which makes the same of an archive.
func (w *Writer) skeleton(tokens []byte) uint64 {
	if len(w.paths) > len(w.nodes) { // nodes were forgotten
		w.paths = w.paths[:0]
	}
	w.paths = appendPaths(w.paths, w.nodes, w.vars.seeds[0])
	b := append(w.text[:0], '{')
	open := append(w.open[:0], nodeObject)
	first := true
	for i := 0; i < len(tokens); i += 4 {
		token := binary.LittleEndian.Uint32(tokens[i:])
		id := int32(token >> 1)
		if id == nodeObject {
			continue // the record has no members
		}
		n := &w.nodes[id]
		for ; open[len(open)-1] != n.Parent; first = false {
			open = open[:len(open)-1]
			b = append(b, '}')
			if len(open) == 0 { // the keys of the other namespace begin
				b, open, first = append(b, '{'), append(open, n.Parent), true
				break
			}
		}
		if !first {
			b = append(b, ',')
		}
		b = append(appendEscaped(append(b, '"'), []byte(n.Key)), '"', ':')
		first = token&tokenBegin != 0
		switch {
		case first:
			b = append(b, '{')
			open = append(open, id)
		case n.Type == Null:
			b = append(b, "null"...)
		case n.Type == Object:
			b = append(b, "{}"...)
		default:
			b = appendCut(b, w.paths[id])
		}
	}
	for range open {
		b = append(b, '}')
	}
	w.text, w.open = b, open
	return maphash.Bytes(w.vars.seeds[0], b)
}

// appendCut stands for a value in a skeleton.
func appendCut(b []byte, path uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, 0), path)
}

// prove makes the proof, when all values are in columns.
func (w *Writer) prove() {
	p := &proof{seed: w.vars.seeds[0], records: w.records, patterns: w.times.spelling}
	paths := appendPaths(nil, w.nodes, p.seed)
	for _, t := range w.order {
		s := tableSum{records: t.records, sum: columnSum(0, t.shapes)}
		for i := range t.columns {
			c := &t.columns[i]
			s.sum += columnSum(paths[c.node], c.sum)
		}
		p.tables = append(p.tables, s)
	}
	w.proof = p
}
