package ir

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// randomEvents makes events of all types and shapes, as JSON in the form of Event.AppendJSON, with the builder calls.
type randomEvents struct {
	r     *rand.Rand
	depth int
}

var randomStrings = []string{"", " ", "word", "two words", "user=alice took 12.50 ms", "C:\\dir 1", "世界 12", "é", "\u0011 \u0012 \u0013", "tab\tand\nnewline",
	"quote\" \\ /", "deadbeef be 007 -0 5. .5", "\u0000 nul", strings.Repeat("long 1.5 ", 40), strings.Repeat("x", 300)}

// object adds members to b and to the JSON text.
func (g *randomEvents) object(b *Builder, json []byte) []byte {
	json = append(json, '{')
	seen := map[string]bool{}
	for range g.r.IntN(5) {
		key := fmt.Sprint("k", g.r.IntN(12))
		if g.r.IntN(20) == 0 {
			key = randomStrings[g.r.IntN(len(randomStrings))]
		}
		if seen[key] {
			continue
		}
		if len(seen) > 0 {
			json = append(json, ',')
		}
		seen[key] = true
		json = append(AppendQuoted(json, []byte(key)), ':')
		json = g.value(b, key, json)
	}
	return append(json, '}')
}

func (g *randomEvents) value(b *Builder, key string, json []byte) []byte {
	kind := g.r.IntN(9)
	if g.depth > 4 {
		kind = g.r.IntN(7)
	}
	switch kind {
	case 0, 1:
		v := g.r.Int64() >> g.r.IntN(64)
		if g.r.IntN(2) == 0 {
			v = -v
		}
		b.Int(key, v)
		return strconv.AppendInt(json, v, 10)
	case 2:
		v := math.Float64frombits(g.r.Uint64())
		if g.r.IntN(2) == 0 {
			v = float64(g.r.IntN(1000)) / 8
		}
		b.Float(key, v)
		return appendNumber(json, v)
	case 3:
		v := g.r.IntN(2) == 0
		b.Bool(key, v)
		return strconv.AppendBool(json, v)
	case 4, 5:
		v := randomStrings[g.r.IntN(len(randomStrings))]
		b.String(key, v)
		return AppendQuoted(json, []byte(v))
	case 6:
		b.Null(key)
		return append(json, "null"...)
	case 7:
		array := [...]string{"[]", `[1,2.5,"x y",null,{"a":[true]}]`, `["世界"]`}[g.r.IntN(3)]
		b.Array(key, []byte(array))
		return append(json, array...)
	}
	b.Open(key)
	g.depth++
	json = g.object(b, json)
	g.depth--
	b.Close()
	return json
}

// event lays out an event in b, and returns it as JSON.
func (g *randomEvents) event(b *Builder) []byte {
	b.Reset()
	json := g.object(b, []byte(`{"auto-generated":`))
	b.User()
	json = append(json, `,"user-generated":`...)
	return append(g.object(b, json), '}')
}
