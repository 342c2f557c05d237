package encoding_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

func ExampleEncodeMessage() {
	var m encoding.Message
	encoding.EncodeMessage(&m, encoding.EightByte, "took -2.50 s, 12 items on node_7")
	fmt.Printf("%q\n", m.Logtype)
	fmt.Println(m.Encoded[1], string(m.Word(0)))

	text, err := encoding.DecodeMessage(nil, &m)
	fmt.Println(string(text), err)
	// Output:
	// "took \x13 s, \x11 items on \x12"
	// 12 node_7
	// took -2.50 s, 12 items on node_7 <nil>
}

func ExampleQuery() {
	q, err := encoding.ParseQuery("took * items*", false)
	if err != nil {
		panic(err)
	}
	var m encoding.Message
	encoding.EncodeMessage(&m, encoding.EightByte, "took -2.50 s, 12 items on node_7")
	fmt.Println(q.MayMatchLogtype(m.Logtype))
	fmt.Println(q.MatchMessage(&m))
	// Output:
	// true
	// true <nil>
}

// A four-byte variable as the eight-byte encoding has it.
func ExampleWiden() {
	var m encoding.Message
	encoding.EncodeMessage(&m, encoding.FourByte, "took -2.50 s")
	wide := encoding.Widen(encoding.Float, m.Encoded[0])
	text, err := encoding.AppendFloat(nil, encoding.EightByte, wide)
	fmt.Println(string(text), err)
	// Output: -2.50 <nil>
}
