// Package tables sums a linked trace up: by kernel name, by launcher op, by arguments, by stream, by collective.
//
//	l := link.New(t)
//	for _, row := range tables.Launchers(t, l, tables.ByName, tables.LauncherOptions{}) {
//		fmt.Println(row.Name, row.Instances, row.Direct, "ns")
//	}
//
// Rows are sorted by time, longest first, then by name. Times are integer nanoseconds. An event with an impossible
// duration counts, with a duration of zero.
package tables
