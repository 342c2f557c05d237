// Package html renders an analysis as one HTML file for people: a timeline of streams and threads with zoom and search, a
// flame view of ops by GPU time, candidates, kernels, categories, collectives. The file needs no network and no server.
//
//	err := html.Write(w, &html.Page{Title: "resnet", …})
//
// The page's data is JSON inside the page. Names are text wherever they appear, never markup.
package html

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed page.html
var template string

// Page is what the report shows. Times are nanoseconds unless said otherwise.
type Page struct {
	Title       string      `json:"title"`
	Notes       []string    `json:"notes"`
	Banners     []string    `json:"banners"`
	Tiles       [][2]string `json:"tiles"`
	Timeline    []Share     `json:"timeline"`
	Categories  []Share     `json:"categories"`
	Span        int64       `json:"span"`
	Names       []string    `json:"names"`
	Kinds       []string    `json:"kinds"`
	Lanes       []Lane      `json:"lanes"`
	Flame       *Node       `json:"flame"`
	Candidates  [][]any     `json:"candidates"` // rank, name, category, GPU %, ms, calls, bound, % of peak, priority, shapes, source
	Kernels     [][]any     `json:"kernels"`    // name, category, count, ms, mean us, min us, max us, %
	CollHead    []string    `json:"collectiveHead"`
	Collectives [][]any     `json:"collectives"`
	Stragglers  [][]any     `json:"stragglers"`
	Warnings    [][]any     `json:"warnings"`
}

// Share is a named part of a whole.
type Share struct {
	Name string
	NS   int64
}

// MarshalJSON writes a pair.
func (s Share) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.Name, s.NS}) }

// Lane is one row of the timeline: per event, by start, the distance to the start before, duration, index into Names,
// index into Kinds, and depth.
type Lane struct {
	Label  string  `json:"label"`
	Events []int64 `json:"ev"`
	last   int64
}

// Add appends an event that starts at ts, not before the one added last.
func (l *Lane) Add(ts, dur int64, name, kind, depth int) {
	l.Events = append(l.Events, ts-l.last, dur, int64(name), int64(kind), int64(depth))
	l.last = ts
}

// Node is a box of the flame view.
type Node struct {
	Name     int
	NS       int64
	Kind     int
	Children []*Node
}

// MarshalJSON writes an array, for there are many nodes.
func (n *Node) MarshalJSON() ([]byte, error) {
	children := n.Children
	if children == nil {
		children = []*Node{}
	}
	return json.Marshal([]any{n.Name, n.NS, n.Kind, children})
}

// Child is the child with a name, which it adds if it is not there.
func (n *Node) Child(name, kind int) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	c := &Node{Name: name, Kind: kind}
	n.Children = append(n.Children, c)
	return c
}

// Index numbers strings.
type Index struct {
	List []string
	at   map[string]int
}

// Of is the number of s.
func (x *Index) Of(s string) int {
	if n, ok := x.at[s]; ok {
		return n
	}
	if x.at == nil {
		x.at = map[string]int{}
	}
	n := len(x.List)
	x.List = append(x.List, s)
	x.at[s] = n
	return n
}

// Write writes the page. encoding/json escapes <, > and &, so that no name can end the script element.
func Write(w io.Writer, page *Page) error {
	p := *page
	for _, rows := range []*[][]any{&p.Candidates, &p.Kernels, &p.Collectives, &p.Stragglers, &p.Warnings} {
		if *rows == nil {
			*rows = [][]any{} // null is no list to the page
		}
	}
	for _, list := range []*[]string{&p.Notes, &p.Banners, &p.Names, &p.Kinds, &p.CollHead} {
		if *list == nil {
			*list = []string{}
		}
	}
	for _, shares := range []*[]Share{&p.Timeline, &p.Categories} {
		if *shares == nil {
			*shares = []Share{}
		}
	}
	if p.Tiles == nil {
		p.Tiles = [][2]string{}
	}
	if p.Lanes == nil {
		p.Lanes = []Lane{}
	}
	for i := range p.Lanes {
		if p.Lanes[i].Events == nil {
			p.Lanes = slices.Clone(p.Lanes)
			p.Lanes[i].Events = []int64{}
		}
	}
	if p.Flame == nil {
		p.Flame = &Node{}
	}
	data, err := json.Marshal(&p)
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	head, tail, ok := strings.Cut(template, "/*DATA*/")
	if !ok {
		return fmt.Errorf("html: the page has no place for its data")
	}
	for _, part := range []string{head, string(data), tail} {
		if _, err := io.WriteString(w, part); err != nil {
			return fmt.Errorf("html: %w", err)
		}
	}
	return nil
}
