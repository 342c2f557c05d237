// Package analysis reads facts out of the intermediate code of one compiled kernel: how a loop was scheduled, which
// memory operations were chosen, how much data and arithmetic one program instance stands for, whether a known
// scheduling pattern was applied.
//
// The rules and the shape of the results are those of tritonparse's ir_analysis at its commit 4e5fbc4, so that its web
// page shows the results; docs/parse.md lists where this package differs.
package analysis
