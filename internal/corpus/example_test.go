package corpus_test

import (
	"fmt"
	"os"

	"github.com/tracehandler/tracehandler/internal/corpus"
)

func ExampleNew() {
	for r := range corpus.New(corpus.Service, 1, 0).Records(3) {
		fmt.Println(r.Level, r.Message)
	}
	// Output:
	// INFO Connection from 192.168.12.220:18147 closed after 5.118s, 623330 bytes sent, 8813 received
	// INFO Job thumbnail-35013 finished in 39098 ms (attempt 1 of 3)
	// INFO Connection from 192.168.6.58:17684 closed after 0.099s, 328697 bytes sent, 3374 received
}

func ExampleWriteNDJSON() {
	n, err := corpus.WriteNDJSON(os.Stdout, corpus.Spans, 1, 1)
	fmt.Println(n, err)
	// Output:
	// {"time":"2026-03-02T08:00:00.00004541Z","level":"INFO","msg":"span","worker":0,"seq":0,"trace_id":"cad76b1d7658a1ddcdc774534c85ab9e","span_id":"5c905a8facd4f094","parent_id":"65b9e5397ad7e1fe","name":"render","kind":"server","start":"2026-03-02T07:59:59.999206169Z","took":793831,"status":"ok","links":1,"sampled":0.29}
	// 320 <nil>
}
