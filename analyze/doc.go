// Package analyze turns a profiler trace into an answer: where the GPU's time went, which kernels to work on, and why.
package analyze
