package kql_test

import (
	"fmt"
	"os"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

func ExampleQuery_Search() {
	file, err := os.Open("../archive/testdata/vectors/02-nested.clp")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	r, err := archive.Open(file, info.Size(), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()

	q, err := kql.Parse(`user: {name: Ann* OR age > 31}`, nil)
	if err != nil {
		panic(err)
	}
	for record, err := range q.Search(r) {
		if err != nil {
			panic(err)
		}
		line, err := record.AppendJSON(nil)
		fmt.Println(string(line), err)
	}
	// Output:
	// {"id":17,"user":{"name":"Ann Lee","age":31,"tags":["x","y"]},"ctx":{"user":{"name":"other","age":31}}} <nil>
	// {"id":18,"user":{"name":"bob","age":31.5}} <nil>
}

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
