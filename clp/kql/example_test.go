package kql_test

import (
	"bytes"
	"fmt"
	"log/slog"
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

func ExampleAggregation() {
	a, err := kql.NewAggregation(&kql.AggregateOptions{By: []string{"http.route"}, Stats: []string{"took_ms"}, Percentiles: []float64{50}})
	if err != nil {
		panic(err)
	}
	for _, line := range []string{
		`{"http":{"route":"/a"},"took_ms":12}`, `{"http":{"route":"/a"},"took_ms":30.5}`, `{"http":{"route":"/a"},"took_ms":900}`, `{"msg":"started"}`,
	} {
		if err := a.Add(&kql.Input{Event: event.Lazy([]byte(line))}); err != nil {
			panic(err)
		}
	}
	for _, g := range a.Groups() {
		fmt.Println(g.Count, g.Values[0].Text(), g.Values[0].Missing(), g.Stats[0].Count, g.Stats[0].Max, g.Stats[0].Percentiles)
	}
	// Output:
	// 3 /a false 3 900 [30.5]
	// 1  true 0  []
}

func ExamplePath() {
	fmt.Println(kql.Path(`http.status\.code`))
	_, err := kql.Path("a.*")
	fmt.Println(err != nil)
	// Output:
	// [http status.code] <nil>
	// true
}

func ExampleNamespacePath() {
	namespace, names, err := kql.NamespacePath(`@level.name`)
	fmt.Println(string(namespace), names, err)
	// Output: @ [level name] <nil>
}

// The events are the records with the level that the logging library gave them.
func ExampleQuery_Through() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	for _, level := range []string{"INFO", "WARN"} {
		if err := w.WriteAuto([]byte(`{"message":"ready"}`), []byte(`{"level":"`+level+`"}`)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	q, err := kql.Parse("level: WARN", nil)
	if err != nil {
		panic(err)
	}
	n, err := q.Through(&kql.View{Keys: []string{"level"}, Line: func(dst, user, auto []byte) []byte {
		level, _ := event.Lazy(auto).Get("level")
		message, _ := event.Lazy(user).Get("message")
		return event.New(slog.String("level", level.String()), slog.String("message", message.String())).AppendJSON(dst)
	}}).Count(r)
	fmt.Println(n, err)
	// Output: 1 <nil>
}

func ExampleQuery_SearchNames() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		if err := w.Write(fmt.Appendf(nil, `{"id":%d,"took":%d,"http":{"route":"/v1/%d","status":200}}`, i, 10*i, i)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()

	q, err := kql.Parse(`took > 5`, nil)
	if err != nil {
		panic(err)
	}
	for record, err := range q.SearchNames(r, "http", "id") {
		if err != nil {
			panic(err)
		}
		line, err := record.JSON()
		fmt.Println(string(line), err)
	}
	// Output:
	// {"id":1,"http":{"route":"/v1/1","status":200}} <nil>
	// {"id":2,"http":{"route":"/v1/2","status":200}} <nil>
}
