package kql_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

func ExampleParse() {
	q, err := kql.Parse(`level: (WARN ERROR) AND request: {method: POST AND bytes > 1000}`, nil)
	if err != nil {
		panic(err)
	}
	for _, line := range []string{
		`{"level":"ERROR","request":{"method":"POST","bytes":4096}}`,
		`{"level":"ERROR","request":{"method":"POST","bytes":10}}`,
	} {
		fmt.Println(q.Match(event.Lazy([]byte(line))))
	}

	_, err = kql.Parse(`level = ERROR`, nil)
	fmt.Println(err)
	// Output:
	// true
	// false
	// kql: "=" where AND, OR or the end should come (byte 6); equality is written with a colon, key: value
}
