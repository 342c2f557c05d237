// Package naming builds and reads the names of trace files.
//
// A process of a distributed job writes files named for its user, rank, process id and host. The scheme is that of
// tritonparse (https://github.com/meta-pytorch/tritonparse), so that either side reads the other's folders:
//
//	dedicated_log_triton_trace_{USER}_rank_{R}_pid_{PID}_host_{HOST}_.ndjson
//
// The zero Scheme builds such names, Parse reads them, and the file's suffix says its format:
//
//	var s naming.Scheme
//	name := s.FileName(3, format.Zstd) // …_rank_3_pid_4711_host_node7_.ndjson.zst
//	f := naming.Parse(name)            // f.Rank == 3, f.PID == 4711, f.Host == "node7"
//
// Nothing from the environment reaches a path as it is: user, host and prefix are sanitised, and a name fits any file
// system, with room for ".partial" and for the time stamp that RotatedName adds.
package naming
