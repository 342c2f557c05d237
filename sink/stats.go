package sink

// Stats counts what a sink did since it was made. Text is encoded events before compression.
type Stats struct {
	Events, Bytes               int64 // accepted by Append; bytes of text
	WrittenEvents, WrittenBytes int64 // of those, handed to the operating system
	DroppedEvents, DroppedBytes int64 // refused by Append
	LostEvents, LostBytes       int64 // accepted, but Close could not write them

	Blocks    int64 // written
	FileBytes int64 // written, after compression
	Retries   int64 // attempts to write a block again
	Files     int64 // opened
	Published int64 // files that became traces, rotated ones included
	Rotations int64 // files that were finished before Close
	Failures  int64 // failed rotations and removals of old files; they are tried again
	Removed   int64 // old files removed by the rules of Rotation

	TornBytes      int64 // cut from the end of files that were continued
	SalvagedEvents int64 // whole events found in those bytes and kept
}

func (s *Stats) add(t Stats) {
	s.Events += t.Events
	s.Bytes += t.Bytes
	s.WrittenEvents += t.WrittenEvents
	s.WrittenBytes += t.WrittenBytes
	s.DroppedEvents += t.DroppedEvents
	s.DroppedBytes += t.DroppedBytes
	s.LostEvents += t.LostEvents
	s.LostBytes += t.LostBytes
	s.Blocks += t.Blocks
	s.FileBytes += t.FileBytes
	s.Retries += t.Retries
	s.Files += t.Files
	s.Published += t.Published
	s.Rotations += t.Rotations
	s.Failures += t.Failures
	s.Removed += t.Removed
	s.TornBytes += t.TornBytes
	s.SalvagedEvents += t.SalvagedEvents
}
