// Package tools pins the programs that check this repository, so that they are no dependencies of the product.
// Run one with: go -C tools tool staticcheck.
package tools
