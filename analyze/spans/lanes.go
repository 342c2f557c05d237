package spans

import (
	"maps"
	"slices"
)

// lanes are the rows of the output, by process.
type lanes map[int64][]*lane

func (l lanes) processes() []int64 { return slices.Sorted(maps.Keys(l)) }

// lane is a row: the spans that are running on it, outermost first.
type lane struct{ open []running }

type running struct {
	end  int64
	span string
}

// place gives every item, in order of start, a row on which spans nest: its parent's row if the parent is the innermost
// there, else the first row that is free, else a new one. An instant stands on its parent's row, or on the first.
func place(items []item) lanes {
	all := lanes{}
	type place struct {
		process int64
		span    string
	}
	at := map[place]int{} // rows of spans
	for i := range items {
		it := &items[i]
		rows := all[it.process]
		key := func(span string) place { return place{it.process, span} }
		if it.dur < 0 {
			if rows == nil {
				all[it.process] = []*lane{{}}
			}
			if n, ok := at[key(it.parent)]; ok && it.parent != "" {
				it.lane = n
			} else if n, ok := at[key(it.span)]; ok && it.span != "" {
				it.lane = n
			}
			continue
		}
		end := it.start + it.dur
		chosen := -1
		if n, ok := at[key(it.parent)]; ok && it.parent != "" {
			rows[n].until(it.start)
			if o := rows[n].open; len(o) > 0 && o[len(o)-1].span == it.parent && end <= o[len(o)-1].end {
				chosen = n
			}
		}
		for n := 0; n < len(rows) && chosen < 0; n++ {
			if rows[n].until(it.start); len(rows[n].open) == 0 {
				chosen = n
			}
		}
		if chosen < 0 {
			chosen = len(rows)
			all[it.process] = append(rows, &lane{})
		}
		row := all[it.process][chosen]
		row.open = append(row.open, running{end, it.span})
		it.lane = chosen
		if it.span != "" {
			at[key(it.span)] = chosen
		}
	}
	return all
}

// until takes off what has ended.
func (l *lane) until(ts int64) {
	for n := len(l.open); n > 0 && l.open[n-1].end <= ts; n = len(l.open) {
		l.open = l.open[:n-1]
	}
}
