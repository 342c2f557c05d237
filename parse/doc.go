// Package parse turns the raw traces of a GPU compiler's runs into what people look at: each kernel with its code in
// every stage of compilation, the lines of all stages linked to the source, its launches and how they differ, and what
// autotuning tried and chose.
//
// It reads the records that tritonparse's handler and this module's write ("compilation", "launch", "autotune"; one JSON
// object a line, in any format that package reader knows), and writes what tritonparse's parser writes, for its web page
// and tlparse:
//
//	rep, err := parse.Dir(ctx, "/tmp/logs", "/tmp/parsed", nil)
//	if err != nil {
//		return err
//	}
//	for _, f := range rep.Files() {
//		fmt.Println(f)
//	}
//
// Records are read once. The lines of a kernel's launches are compressed as they come and laid aside; of the launches of
// a kernel or of an autotuning session only the differences are kept. Memory grows with the number of kernels and of
// values that differ, not with the number of records.
//
// The layout of the output, the rules by which files are chosen and the improvements over the reference are described in
// docs/parse.md.
package parse
