// Package analyze turns profiler traces into an answer: where the GPUs' time went, which kernels to work on, and why.
//
//	res, err := analyze.Run(ctx, "profiles/", analyze.Options{})
//	if err != nil { … }                                     // nothing could be read at all
//	err = res.Write("report/")                              // kernel_candidates.json, analysis.md, tables as CSV
//
// There is one path and no choice of route. It uses what the traces hold and says how much that was: Result.Level is 0
// when launches, ops, shapes and stacks were there, and rises to 5 when only names and times of kernels were, and to 7
// when there were no kernels. Damaged input is analysed as far as it goes, and Result.Degraded says so.
//
// The parts are packages of their own, each the one owner of its subject: chrometrace (reading), kineto (the model), link
// (who launched what), timeline and interval (where time went), tables (sums), category (what kernels are called), source
// (where they are defined), roofline (what they need at least), candidate (the ranking), report (analysis.md), input
// (which files).
package analyze
