// Package timepattern has the spellings of times that CLP archives know: it finds the one of a text, and prints times by it.
//
// A pattern consists of literal bytes and of specifiers, a backslash and a letter: \Y-\m-\dT\H:\M:\S.\3Z. If it stands in double
// quotes, what it prints is a JSON string, otherwise a number. Times are nanoseconds since 1970.
//
// Source: y-scope/clp, components/core/src/clp_s/timestamp_parser.
package timepattern
