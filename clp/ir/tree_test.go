package ir

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTree compares the tree with a map, through insertions and takings back.
func TestTree(t *testing.T) {
	type triple struct {
		parent int32
		key    string
		typ    nodeType
	}
	r := rand.New(rand.NewPCG(1, 1))
	tr := newTree()
	model := map[triple]int32{}
	var order []triple
	objects := []int32{0}
	for range 20_000 {
		if r.IntN(300) == 0 {
			keep := max(0, len(order)-r.IntN(400))
			for _, k := range order[keep:] {
				delete(model, k)
			}
			order = order[:keep]
			tr.truncate(int32(keep) + 1)
			for len(objects) > 1 && objects[len(objects)-1] > int32(keep) {
				objects = objects[:len(objects)-1]
			}
		}
		k := triple{objects[r.IntN(len(objects))], fmt.Sprint("k", r.IntN(3000)), nodeInt + nodeType(r.IntN(6))}
		if r.IntN(500) == 0 {
			k.key = fmt.Sprintf("%0*d", keyChunk+r.IntN(10), 7)
		}
		if got := tr.lookup(k.parent, []byte(k.key), k.typ); got != model[k] {
			t.Fatalf("lookup %v: %d, want %d", k, got, model[k])
		} else if got != 0 {
			continue
		}
		id := tr.insert(k.parent, []byte(k.key), k.typ)
		if id != int32(len(order)+1) {
			t.Fatalf("new ID %d after %d insertions", id, len(order))
		}
		model[k] = id
		order = append(order, k)
		if k.typ == nodeObject {
			objects = append(objects, id)
		}
	}
	for k, id := range model {
		if got := tr.lookup(k.parent, []byte(k.key), k.typ); got != id || string(tr.key(tr.node(id))) != k.key {
			t.Fatalf("lookup %v: %d, want %d", k, got, id)
		}
	}
	if len(model) < 3000 || tr.count != int32(len(order)+1) {
		t.Errorf("%d nodes, model %d", tr.count, len(model))
	}
}

func TestTreeEventNumbersWrap(t *testing.T) {
	tr := newTree()
	id := tr.insert(0, []byte("a"), nodeInt)
	tr.begin()
	check(t, tr.touch(id, 0))
	tr.event = 1<<32 - 1
	tr.node(id).stamp = 1 // an event long ago
	tr.begin()
	if err := tr.touch(id, 0); err != nil {
		t.Errorf("mark of an old event counts: %v", err)
	}
}
