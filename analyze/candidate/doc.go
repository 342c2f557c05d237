// Package candidate ranks GPU work by what could be gained from working on it.
//
//	set := candidate.Build([]candidate.Source{{Trace: t, Links: l}}, candidate.Options{})
//	for _, r := range set.Rows {                       // longest first
//		fmt.Println(r.Name, r.Time, "ns", r.Efficiency)
//	}
//
// A row is one op with one set of arguments, with the kernels it launched; work without an op is a row per kernel name.
// Time is the sum of the kernels' durations. Rows are ranked by time; their priority is the share of time that is above
// what the device needs at least.
package candidate
