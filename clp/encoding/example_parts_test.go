package encoding_test

import (
	"bytes"
	"fmt"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// A message taken apart by hand: constant text, and variables of three kinds.
func ExampleNextVariable() {
	text := "took 12 items on node_7"
	m := encoding.Message{Width: encoding.FourByte}
	for at := 0; at < len(text); {
		start, end, _ := encoding.NextVariable(text, at)
		m.Logtype = encoding.AppendConstant(m.Logtype, text[at:start])
		if start < end {
			kind, bits := encoding.EncodeVariable(m.Width, text[start:end])
			m.Logtype = append(m.Logtype, kind.Placeholder())
			switch kind {
			case encoding.Dict:
				m.AddWord([]byte(text[start:end]))
			case encoding.Int:
				fmt.Println(string(encoding.AppendInt(nil, bits)))
				fallthrough
			default:
				m.Encoded = append(m.Encoded, bits)
			}
		}
		at = end
	}
	fmt.Printf("%q %d %d\n", m.Logtype, m.Encoded, m.Words())
	back, err := encoding.DecodeMessage(nil, &m)
	fmt.Println(string(back), err)
	// Output:
	// 12
	// "took \x11 items on \x12" [12] 1
	// took 12 items on node_7 <nil>
}

// What a pattern tells of the messages that match it, before one of them is decoded.
func ExampleQuery_Variables() {
	q, err := encoding.ParseQuery("* 12 items on *", false)
	if err != nil {
		panic(err)
	}
	for _, v := range q.Variables(encoding.EightByte) {
		fmt.Println(v.Kind == encoding.Int, v.Bits)
	}
	fmt.Printf("%q %q\n", q.Runs(), q.Fragment())

	var m encoding.Message
	encoding.EncodeMessage(&m, encoding.EightByte, "took 12 items on node_7")
	any, err := encoding.ParseQuery("took*", false)
	if err != nil {
		panic(err)
	}
	fmt.Println(any.MustMatchLogtype(m.Logtype), q.MustMatchLogtype(m.Logtype))
	narrowed := q.Narrow(func(run []byte) bool { return bytes.Contains([]byte("node_7"), run) })
	fmt.Println(narrowed.MayMatchLogtype(m.Logtype))
	run, _ := q.Run()
	fmt.Println(run.Read([]byte("took 12 items")) && run.Read([]byte(" on node_7")) && run.Matches())
	// Output:
	// true 12
	// ["12" "items" "on"] " 12 items on "
	// true false
	// true
	// true
}
