package tables

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

// Names of the rows that stand for kernels without an op.
const (
	GraphRow    = "(graph)"
	UnlinkedRow = "(unlinked)"
)

// IDRow sums kernels by the op that the External id chain names: Hyperloom's attribution, which ignores cuda_driver.
type IDRow struct {
	Op          string
	Dims, Types string // raw JSON
	Instances   int    // distinct External ids
	Kernels     int
	Total       int64
}

// ByExternalID attributes kernels by the runtime call's External id. With shapes, rows are per Input Dims and types, and
// kernels whose op has none are left out; an id that several ops carry takes the last name and the first shape.
func ByExternalID(t *kineto.Trace, l *link.Links, shapes bool) []IDRow {
	first := map[int64]int32{} // shape by External id
	if shapes {
		for i := range t.GPU {
			if op := l.ByID[i]; op >= 0 {
				first[t.Ops[op].ExternalID] = 0
			}
		}
		for i := range t.Ops {
			op := &t.Ops[i]
			if sh, ok := first[op.ExternalID]; ok && sh == 0 {
				first[op.ExternalID] = op.Shape
			}
		}
	}
	type key struct {
		name        string
		dims, types kineto.Str
	}
	index := map[key]int{}
	var rows []IDRow
	var ids []map[int64]struct{}
	for i := range t.GPU {
		if t.GPU[i].Kind != kineto.Kernel {
			continue
		}
		k := key{name: UnlinkedRow}
		id := int64(0)
		switch op := l.ByID[i]; {
		case op >= 0:
			k.name, id = t.String(t.Ops[op].Name), t.Ops[op].ExternalID
			if shapes {
				sh := &t.Shapes[first[id]]
				if sh.Dims == 0 {
					continue
				}
				k.dims, k.types = sh.Dims, sh.Types
			}
		case shapes:
			continue
		case l.Graph[i]:
			k.name = GraphRow
		}
		n, ok := index[k]
		if !ok {
			n = len(rows)
			index[k] = n
			rows = append(rows, IDRow{Op: k.name, Dims: t.String(k.dims), Types: t.String(k.types)})
			ids = append(ids, map[int64]struct{}{})
		}
		rows[n].Kernels++
		rows[n].Total += t.GPU[i].Dur
		ids[n][id] = struct{}{}
	}
	for i := range rows {
		rows[i].Instances = len(ids[i])
	}
	slices.SortFunc(rows, func(a, b IDRow) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Dims, b.Dims))
	})
	return rows
}
