// Package kql is the query language of CLP, a subset of Kibana's: it finds the events of a log that say something.
//
//	q, err := kql.Parse(`level: ERROR AND request: {method: POST AND bytes > 100000}`, nil)
//	q.Match(e) // e is an event.Event
//
// # The language
//
//	key: value              the value of key is this; * stands for any text, ? for one byte, \ makes the next byte literal
//	key: *                  key is there
//	key > 5                 also < <= >=, of numbers and times
//	key: timestamp("2026-01-02T03:04:05Z")           a time; a second argument says how it is spelt
//	key: (a b c)            any of them; (AND a b c) all, (NOT a b c) none
//	key: {a: 1 OR b: 2}     key.a: 1 OR key.b: 2
//	value                   any key has this value, *: value
//	NOT q   q AND q   q OR q   (q)
//
// A key is a path: a.b.c, with \. for a dot in a name. A * in it stands for any number of levels, none included. Names count
// as they are spelt; values too, unless Options.Fold is set. Quotes make no difference but for spaces and signs: "5" is 5.
//
// # What surprises
//
// These rules are the reference's (https://github.com/y-scope/clp, clp-s), so that a query finds the same everywhere:
//
//   - A value matches the whole text, not a part: write *text*, or set Options.Contains.
//   - AND and OR bind equally, from left to right: a: 1 OR b: 2 AND c: 3 is (a: 1 OR b: 2) AND c: 3. NOT binds tighter.
//   - NOT key: value holds only where key has a value of a type that could match. NOT key: * is where key is missing.
//   - A text without a space matches numbers in strings as they are spelt: 5 finds 5, 5.0 and "5", not "05".
//   - Arrays are transparent: key: 1 finds {"key":[0,[1]]}, and key.a: 1 finds {"key":[{"a":1}]}. The parts of a: {b: 0 AND
//     c: 0} may hold in different elements. A * in a key does not look into objects inside arrays, unless it is all of it.
//   - A key with the empty name needs no word in a path.
//
// Where the reference does something else than it documents, and the result makes no sense, this package does what is
// documented: < and > compare elements of arrays, ? is one byte everywhere, NOT and null look into arrays, NOT of all keys
// is where no key matches, and bytes are found whatever they are.
//
// # Archives
//
// [Query.Search] asks an archive, and decodes only what the query touches: schemas, then dictionaries, then columns. It
// finds what matching the records one by one finds. It takes for granted that the archive's texts are split into log
// types and variables by the rules of package encoding, as all known writers do; so does the reference. [Query.Through] is for
// archives whose records are events only together with what a logging library added.
package kql
