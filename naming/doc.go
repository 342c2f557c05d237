// Package naming builds and reads the names of trace files.
package naming
