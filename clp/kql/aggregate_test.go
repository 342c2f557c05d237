package kql

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of a test are there wherever it runs

	"github.com/tracehandler/tracehandler/event"
)

// aggregate adds lines to an aggregation.
func aggregate(t testing.TB, o *AggregateOptions, lines ...string) []Group {
	t.Helper()
	a, err := NewAggregation(o)
	check(t, err)
	for _, l := range lines {
		check(t, a.Add(&Input{Event: event.Lazy([]byte(l))}))
	}
	return a.Groups()
}

func TestGroups(t *testing.T) {
	lines := []string{
		`{"time":"2026-01-01T00:00:59Z","level":"INFO","h":{"s":200}}`,
		`{"time":"2026-01-01T00:01:00Z","level":"INFO","h":{"s":200.0}}`,
		`{"time":"2026-01-01T00:01:59.999Z","level":"WARN","h":{"s":"200"}}`,
		`{"level":"WARN","h":{"s":null}}`,
		`{"time":"1969-12-31T23:59:59Z","h":{"s":[1,{"a":2}]}}`,
		`{"time":"2026-01-01T00:01:30Z","level":"INFO","h":{"s":2e2}}`,
	}
	for _, c := range []struct {
		o    AggregateOptions
		want string
	}{
		{AggregateOptions{}, "6"},
		{AggregateOptions{By: []string{"level"}}, `"INFO"=3 "WARN"=2 =1`},
		{AggregateOptions{By: []string{"h.s"}}, `200=3 "200"=1 [1,{"a":2}]=1 null=1`},
		{AggregateOptions{By: []string{"level", "h.s"}}, `"INFO",200=3 ,[1,{"a":2}]=1 "WARN","200"=1 "WARN",null=1`},
		{AggregateOptions{Every: time.Minute}, `-1m=1 29453760m=1 29453761m=3 =1`},
		{AggregateOptions{Every: time.Minute, By: []string{"level"}}, `-1m=1 29453760m"INFO"=1 29453761m"INFO"=2 29453761m"WARN"=1 "WARN"=1`},
		{AggregateOptions{Every: time.Minute, TimeKey: "time"}, `-1m=1 29453760m=1 29453761m=3 =1`},
		{AggregateOptions{Every: time.Minute, TimeKey: "h.s"}, `3m=2 =4`},
		{AggregateOptions{By: []string{"no\\.thing"}}, `=6`},
		{AggregateOptions{By: []string{"@level", "$level"}}, `,=6`},
	} {
		var got []string
		for _, g := range aggregate(t, &c.o, lines...) {
			s := ""
			if g.Timed {
				s = fmt.Sprint(g.Start.Unix()/60, "m")
			}
			for i, v := range g.Values {
				if i > 0 {
					s += ","
				}
				s += string(v)
			}
			if c.o.By != nil || c.o.Every > 0 {
				s += "="
			}
			got = append(got, fmt.Sprint(s, g.Count))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.o, s, c.want)
		}
	}
	if g := aggregate(t, nil); len(g) != 0 {
		t.Errorf("groups of nothing: %v", g)
	}
	for _, o := range []AggregateOptions{{By: []string{"a.*"}}, {Distinct: []string{""}}, {Stats: []string{"a..b"}}, {TimeKey: "*"}} {
		var syntax *SyntaxError
		if _, err := NewAggregation(&o); !errors.As(err, &syntax) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []AggregateOptions{{Every: -1}, {Percentiles: []float64{101}}, {Percentiles: []float64{math.NaN()}}, {Memory: -1}} {
		if _, err := NewAggregation(&o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestEveryLocation counts by the days and hours of a place, one whose clocks skip an hour on 2026-03-29 and repeat one on 2026-10-25.
func TestEveryLocation(t *testing.T) {
	zone := func(name string) *time.Location {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return loc
	}
	zurich, kathmandu := zone("Europe/Zurich"), zone("Asia/Kathmandu")
	const hour, day = time.Hour, 24 * time.Hour
	for _, c := range []struct {
		loc   *time.Location
		every time.Duration
		at    string // when events happened
		want  string // when stretches begin in the location, and how many events they have
	}{
		{nil, day, "2026-03-28T22:59:59Z 2026-03-28T23:00:00Z", "03-28T00:00Z=2"},
		{zurich, day, "2026-03-28T22:59:59Z 2026-03-28T23:00:00Z 2026-03-29T21:59:59Z 2026-03-29T22:00:00Z", "03-28T00:00+01:00=1 03-29T00:00+01:00=2 03-30T00:00+02:00=1"},
		{zurich, day, "2026-10-24T22:00:00Z 2026-10-25T22:59:59Z 2026-10-25T23:00:00Z", "10-25T00:00+02:00=2 10-26T00:00+01:00=1"},
		{zurich, hour, "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z", "10-25T02:00+02:00=1 10-25T02:00+01:00=1"},
		{zurich, 2 * day, "2026-03-27T23:00:00Z 2026-03-29T21:00:00Z 2026-03-29T22:00:00Z", "03-28T00:00+01:00=2 03-30T00:00+02:00=1"},
		{kathmandu, day, "2026-03-28T18:14:59Z 2026-03-28T18:15:00Z", "03-28T00:00+05:45=1 03-29T00:00+05:45=1"},
		{kathmandu, hour, "2026-03-28T18:14:59Z 2026-03-28T18:15:00Z 1960-01-01T00:00:00Z", "01-01T05:00+05:30=1 03-28T23:00+05:45=1 03-29T00:00+05:45=1"},
	} {
		var lines, got []string
		for at := range strings.FieldsSeq(c.at) {
			lines = append(lines, `{"time":"`+at+`"}`)
		}
		for _, g := range aggregate(t, &AggregateOptions{Every: c.every, Location: c.loc}, lines...) {
			at := g.Start.UTC()
			if c.loc != nil {
				at = at.In(c.loc)
			}
			got = append(got, fmt.Sprintf("%s=%d", at.Format("01-02T15:04Z07:00"), g.Count))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.loc, c.every, got, c.want)
		}
	}
}

func TestStats(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"f":%g,"mixed":%s}`, i+1, float64(i)/4, []string{`"x"`, `7`, `null`, `[1]`, `-2.5`}[i%5]))
	}
	lines = append(lines, `{"n":"101"}`, `{"n":1e999}`, `{"big":9223372036854775807}`, `{"big":9223372036854775806}`)
	g := aggregate(t, &AggregateOptions{Stats: []string{"n", "f", "mixed", "none", "big"}, Percentiles: []float64{0, 1, 50, 99, 100}}, lines...)[0]
	want := []string{
		"100 1 100 50.5 [1 1 50 99 100] true", "100 0 24.75 12.375 [0 0 12.25 24.5 24.75] true",
		"40 -2.5 7 2.25 [-2.5 -2.5 -2.5 7 7] true", "0   0 [] true", "2 9223372036854775806 9223372036854775807 9.223372036854776e+18",
	}
	for i, s := range g.Stats {
		if got := fmt.Sprint(s.Count, s.Min, s.Max, s.Mean, s.Percentiles, s.Exact); got != want[i] && !strings.HasPrefix(fmt.Sprint(s.Count, " ", s.Min, " ", s.Max, " ", s.Mean, " ", s.Percentiles, " ", s.Exact), want[i]) {
			t.Errorf("%d: got %v %v %v %v %v %v, want %s", i, s.Count, s.Min, s.Max, s.Mean, s.Percentiles, s.Exact, want[i])
		}
	}
}

// TestSketches holds sketches against their bounds.
func TestSketches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"lognormal": func() float64 { return math.Exp(random.NormFloat64() * 3) },
		"signs":     func() float64 { return math.Trunc(random.NormFloat64() * 1000) },
		"tiny":      func() float64 { return random.Float64() * 1e-300 },
		"huge":      func() float64 { return math.MaxFloat64 * random.Float64() },
	} {
		var m measure
		var all []float64
		for range 3 * ExactSamples {
			f := draw()
			all = append(all, f)
			m.add(numeric{float: f}, false)
		}
		slices.Sort(all)
		percentiles := []float64{0, 0.1, 1, 25, 50, 75, 90, 99, 99.99, 100}
		got := m.result(percentiles)
		if got.Exact || m.samples != nil || len(m.above)+len(m.below) > 40_000 {
			t.Errorf("%s: %d buckets", name, len(m.above))
		}
		for i, p := range percentiles {
			want := all[max(int(math.Ceil(p/100*float64(len(all))))-1, 0)]
			if e := math.Abs(got.Percentiles[i] - want); !(e <= sketchError*1.0001*math.Abs(want)) {
				t.Errorf("%s: p%v is %v, want %v", name, p, got.Percentiles[i], want)
			}
		}
	}
	for _, n := range []int{ExactDistinct, ExactDistinct + 1, 1_000_000} {
		var d distinctCounter
		var b []byte
		for i := range n {
			b = strconv.AppendInt(b[:0], int64(i)*7, 10)
			d.add(b, false)
			d.add(b, false)
		}
		r := d.result()
		if r.Exact != (n <= ExactDistinct) || math.Abs(float64(r.Count)/float64(n)-1) > 0.025 || r.Exact && (r.Count != int64(n) || r.Values[1] != "7") {
			t.Errorf("%d values: %d, %v", n, r.Count, r.Exact)
		}
	}
	var d distinctCounter
	for i := range 10 * sketchSize {
		d.add([]byte(strconv.Itoa(i%1000)), true)
	}
	if r := d.result(); math.Abs(float64(r.Count)-1000) > 20 {
		t.Errorf("%d of 1000 values", r.Count)
	}
}

// TestAggregateMemory fills the memory: first sketches are made, then it is an error.
func TestAggregateMemory(t *testing.T) {
	a, err := NewAggregation(&AggregateOptions{Memory: 1 << 20, Distinct: []string{"id"}, Stats: []string{"n"}})
	check(t, err)
	for i := range 100_000 {
		check(t, a.Add(&Input{Event: event.Lazy(fmt.Appendf(nil, `{"id":"id %d","n":%d}`, i, i))}))
	}
	g := a.Groups()[0]
	if g.Distinct[0].Exact || g.Stats[0].Exact || a.held > 1<<20 || g.Distinct[0].Count < 97_000 || g.Distinct[0].Count > 103_000 {
		t.Errorf("%d held, %d values, %+v", a.held, g.Distinct[0].Count, g.Stats)
	}
	if p := g.Stats[0].Percentiles[0]; math.Abs(p-50_000) > 300 {
		t.Errorf("the middle is %v", p)
	}

	a, err = NewAggregation(&AggregateOptions{Memory: 1 << 20, By: []string{"id"}})
	check(t, err)
	for i := range 100_000 {
		if err = a.Add(&Input{Event: event.Lazy(fmt.Appendf(nil, `{"id":%d}`, i))}); err != nil {
			break
		}
	}
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Groups < 1000 || limit.Groups != len(a.Groups()) {
		t.Errorf("%v", err)
	}
	check(t, a.Add(&Input{Event: event.Lazy([]byte(`{"id":7}`))})) // a group that is there goes on
}

// TestAggregateVectors asks the aggregation queries of the vectors, and for an archive that is not there.
func TestAggregateVectors(t *testing.T) {
	const dir = "testdata/aggregate"
	data, err := os.ReadFile(filepath.Join(dir, "queries.json"))
	check(t, err)
	var list struct {
		Queries []struct {
			vectorQuery
			Hash string `json:"hits_sha256"`
		}
	}
	check(t, json.Unmarshal(data, &list))
	if len(list.Queries) != 11 {
		t.Errorf("%d queries", len(list.Queries))
	}
	for _, v := range list.Queries {
		path := filepath.Join(dir, v.Archive)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(vectorDir, v.Archive)
		}
		if _, err := os.Stat(path); (err != nil) != (v.Exit != 0) {
			t.Errorf("%s: %v", v.Archive, err)
		}
		if v.Exit != 0 {
			continue // the archive that is not there: opening it fails, as that of any file
		}
		c := load(t, filepath.Dir(path), v.Archive)
		o := AggregateOptions{TimeKey: c.key}
		what := ""
		for i, arg := range v.Args {
			switch what = arg; arg {
			case "--count-by-time":
				ms, err := strconv.Atoi(v.Args[i+1])
				check(t, err)
				o.Every = time.Duration(ms) * time.Millisecond
			case "--unique":
				o.Distinct = []string{v.Args[i+1]}
			case "--min", "--max":
				o.Stats = []string{v.Args[i+1]}
			default:
				continue
			}
			break
		}
		q, err := Parse(v.Query, &Options{TimeKey: c.key})
		check(t, err)
		a, err := NewAggregation(&o)
		check(t, err)
		for i := range c.inputs {
			if q.MatchInput(&c.inputs[i]) {
				check(t, a.Add(&c.inputs[i]))
			}
		}
		var got, want []string
		for _, g := range a.Groups() {
			switch what {
			case "--count-by-time":
				got = append(got, fmt.Sprint(g.Start.UnixMilli(), g.Count))
			case "--unique":
				for _, u := range g.Distinct[0].Values {
					got = append(got, string(u))
				}
			case "--min":
				got = append(got, string(g.Stats[0].Min))
			case "--max":
				if g.Stats[0].Count > 0 {
					got = append(got, string(g.Stats[0].Max))
				}
			}
		}
		for _, h := range v.Hits {
			var s string
			switch what {
			case "--count-by-time":
				s = fmt.Sprint(int64(h["timestamp"].(float64)), int64(h["count"].(float64)))
			default:
				b, err := json.Marshal(h[map[string]string{"--unique": "value", "--min": "min", "--max": "max"}[what]])
				check(t, err)
				s = string(b)
			}
			want = append(want, s)
		}
		if v.Hits == nil && what == "--count-by-time" {
			var text []string // in the form that the vectors have the hash of
			for _, g := range a.Groups() {
				text = append(text, fmt.Sprintf(`{"archive_id":%q,"count":%d,"timestamp":%d}`+"\n", v.Archive, g.Count, g.Start.UnixMilli()))
			}
			slices.Sort(text)
			if sum := sha256.Sum256([]byte(strings.Join(text, ""))); hex.EncodeToString(sum[:]) != v.Hash {
				t.Errorf("%s | %s %v: other counts: %v", v.Archive, v.Query, v.Args, got)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(got) != v.Count || v.Hits != nil && !slices.Equal(got, want) {
			t.Errorf("%s | %s %v:\n got %v\nwant %v", v.Archive, v.Query, v.Args, got, want)
		}
	}
}

func BenchmarkAggregate(b *testing.B) {
	var lines []event.Event
	for i := range 1000 {
		lines = append(lines, event.Lazy(fmt.Appendf(nil, `{"time":"2026-01-01T00:%02d:59Z","level":"%s","took":%d.5}`, i%60, []string{"INFO", "WARN"}[i%2], i)))
	}
	a, err := NewAggregation(&AggregateOptions{By: []string{"level"}, Every: time.Minute, Stats: []string{"took"}})
	check(b, err)
	b.ReportAllocs()
	for i := range b.N {
		check(b, a.Add(&Input{Event: lines[i%1000]}))
	}
}
