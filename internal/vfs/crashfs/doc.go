// Package crashfs is a file system for tests.
package crashfs
