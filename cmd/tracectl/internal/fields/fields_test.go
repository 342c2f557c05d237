package fields

import (
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

const line = `{"time":"t","http":{"status":200,"route":"/v1/x","req":{"id":1,"size":2}},"trace_id":"a","span_id":"b","a/b":1,"x.y":2}`

func TestApply(t *testing.T) {
	for _, c := range []struct {
		show, hide []string
		want       string
	}{
		{nil, nil, line},
		{[]string{"http.status", "trace_id"}, nil, `{"http":{"status":200},"trace_id":"a"}`},
		{[]string{"http"}, nil, `{"http":{"status":200,"route":"/v1/x","req":{"id":1,"size":2}}}`},
		{[]string{"http"}, []string{"http.req.size", "http.route"}, `{"http":{"status":200,"req":{"id":1}}}`},
		{nil, []string{"http", "*_id"}, `{"time":"t","a/b":1,"x.y":2}`},
		{[]string{"a*"}, nil, `{"a/b":1}`},
		{[]string{"*.id"}, nil, `{"http":{"req":{"id":1}}}`},
		{[]string{"x.y"}, nil, `{"x.y":2}`},
		{[]string{"none"}, nil, `{}`},
		{nil, []string{"http.req.id", "http.req.size", "time"}, `{"http":{"status":200,"route":"/v1/x"},"trace_id":"a","span_id":"b","a/b":1,"x.y":2}`},
	} {
		e, err := event.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(c.show, c.hide)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Apply(e).AppendJSON(nil)); got != c.want {
			t.Errorf("show %v hide %v:\n got %s\nwant %s", c.show, c.hide, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, p := range []string{"", "[", `a\`} {
		if _, err := Parse([]string{p}, nil); err == nil {
			t.Errorf("pattern %q is accepted", p)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		show, hide []string
		want       []string
		all        bool
	}{
		{nil, nil, nil, true},
		{nil, []string{"a"}, nil, true},
		{[]string{"a", "http.status.x"}, []string{"b"}, []string{"a", "http", "http.status", "http.status.x"}, false},
		{[]string{"a", "http.*"}, nil, nil, true},
	} {
		s, err := Parse(c.show, c.hide)
		if err != nil {
			t.Fatal(err)
		}
		if names, all := s.Names(); all != c.all || !all && !slices.Equal(names, c.want) {
			t.Errorf("show %v hide %v: %q, %v", c.show, c.hide, names, all)
		}
	}
}
