// Package errorfs is a file system for tests.
package errorfs
