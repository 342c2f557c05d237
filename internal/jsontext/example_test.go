package jsontext_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Walking over the members of an object that is known to be valid.
func ExampleValueEnd() {
	b := []byte(`{"a": [1, {"}": 2}], "b\n": "\u00e9"}`)
	for i := 1; b[i-1] != '}'; i = jsontext.SkipSpace(b, i+1) {
		end := jsontext.StringEnd(b, i+1)
		key := jsontext.AppendText(nil, b[i+1:end-1])
		i = jsontext.SkipSpace(b, end+1) // behind the colon
		end = jsontext.ValueEnd(b, i)
		fmt.Printf("%q %s\n", key, b[i:end])
		i = end
	}
	// Output:
	// "a" [1, {"}": 2}]
	// "b\n" "\u00e9"
}

// What is wrong, and where.
func ExampleScanValue() {
	b := []byte(`{"a":[1,2}`)
	end, fault := jsontext.ScanValue(b, 0, 0)
	fmt.Println(^end, fault.At(b, ^end))
	// Output: 9 expected ',' or ']' after an element, found '}'
}
