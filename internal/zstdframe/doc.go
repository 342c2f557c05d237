// Package zstdframe makes zstd frames (RFC 8878) in two ways that general compressors do not have: [Words] is for columns of words of
// eight bytes, [Best] takes all the time that a frame needs to be small. Any decoder reads the frames.
//
// [Bare] takes from a frame what its reader can do without. Both find sequences, literals and the match behind them, in their own way, and have in common how a block is made of these: see block.
package zstdframe
