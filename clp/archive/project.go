package archive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// projection is the keys that records are to have.
type projection struct {
	root  *projected
	nodes []bool // of the schema tree, that are kept: those of the keys, and what is inside them
}

// projected is a key of a projection: all of it, or only what is inside it.
type projected struct {
	all     bool
	members map[string]*projected
}

// Project has records show only some keys, and those columns decoded that hold them. A key is a path in the syntax of KQL: a.b
// is b inside a, a\.b is a key with a dot. Of an object and of an array, everything inside is shown. Records without the
// keys are empty objects. Damage of what is not shown is not noticed. Project must come before the first Next, and once. What
// AppendAuto appends stays.
//
// A query that confirms records by their JSON sees only these keys.
func (r *Reader) Project(keys ...string) error {
	if r.err != nil {
		return r.err
	}
	if r.started || r.project != nil {
		return errors.New("archive: Project comes too late")
	}
	p := &projection{root: &projected{members: map[string]*projected{}}}
	for _, key := range keys {
		words, err := splitKey(key)
		if err != nil {
			return err
		}
		at := p.root
		for _, word := range words {
			if at.all {
				break
			}
			next := at.members[word]
			if next == nil {
				next = &projected{members: map[string]*projected{}}
				at.members[word] = next
			}
			at = next
		}
		at.all = true
	}
	if err := r.pool.take(int64(len(r.tree.nodes)) * 9); err != nil {
		return err
	}
	p.nodes = make([]bool, len(r.tree.nodes))
	inside := make([]*projected, len(r.tree.nodes)) // what is asked of a node, if it is not kept
	for id, n := range r.tree.nodes {
		switch {
		case int32(id) == r.tree.object:
			inside[id] = p.root
		case r.tree.autos[id]:
			p.nodes[id] = true
		case n.Parent < 0:
		case p.nodes[n.Parent]:
			p.nodes[id] = true
		case inside[n.Parent] != nil:
			if k := inside[n.Parent].members[n.Key]; k != nil && k.all {
				p.nodes[id] = true
			} else if k != nil && n.Type == Object {
				inside[id] = k
			}
		}
	}
	r.project = p
	return nil
}

// keeps reports whether a node is shown. p may be nil, which is everything.
func (p *projection) keeps(id int32) bool { return p == nil || p.nodes[id] }

// tokens leaves out of a shape what is not shown. Objects of which nothing is shown are left out, too.
func (p *projection) tokens(t *tree, tokens []uint32) []uint32 {
	if p == nil {
		return tokens
	}
	var out, open []uint32 // the objects around a token; the first shown of them are in out
	shown := 0
	for _, token := range tokens {
		id := int32(token >> 1)
		for len(open) > 0 && int32(open[len(open)-1]>>1) != t.nodes[id].Parent {
			open = open[:len(open)-1]
		}
		shown = min(shown, len(open))
		if token&tokenBegin != 0 {
			open = append(open, token)
		} else if p.nodes[id] {
			out = append(append(out, open[shown:]...), token)
			shown = len(open)
		}
	}
	return out
}

// appendLine appends what is shown of a record that was kept as it was written: valid JSON.
func (p *projection) appendLine(dst, line []byte) []byte {
	dst, _ = appendObject(dst, line, jsontext.SkipSpace(line, 0), p.root)
	return dst
}

// appendObject appends the members of the object at b[i] that are shown, and returns the index behind the object.
func appendObject(dst, b []byte, i int, p *projected) ([]byte, int) {
	dst = append(dst, '{')
	first := true
	for i = jsontext.SkipSpace(b, i+1); b[i] != '}'; i = jsontext.SkipSpace(b, i) {
		if b[i] == ',' {
			i = jsontext.SkipSpace(b, i+1)
		}
		end := jsontext.StringEnd(b, i+1)
		key := b[i:end]
		i = jsontext.SkipSpace(b, jsontext.SkipSpace(b, end)+1)
		begin := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		dst = append(append(dst, key...), ':')
		value := len(dst)
		switch m := p.members[string(jsontext.AppendUnescaped(nil, key[1:len(key)-1]))]; {
		case m != nil && m.all:
			end = jsontext.ValueEnd(b, i)
			dst = append(dst, b[i:end]...)
		case m != nil && b[i] == '{':
			if dst, end = appendObject(dst, b, i, m); len(dst) == value+len("{}") {
				dst = dst[:begin]
			}
		default:
			end = jsontext.ValueEnd(b, i)
			dst = dst[:begin]
		}
		i = end
		first = first && len(dst) == begin
	}
	return append(dst, '}'), i + 1
}

// splitKey takes a path apart: words with dots between, and backslashes before bytes that mean something in a query.
func splitKey(key string) ([]string, error) {
	var words []string
	var b strings.Builder
	begin := true
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case c == '\\':
			if i++; i == len(key) || strings.IndexByte(escapedInKey, key[i]) < 0 {
				return nil, fmt.Errorf("archive: key %q: backslash before something that needs none", key)
			}
			b.WriteByte(key[i])
		case c == '.':
			if b.Len() == 0 {
				return nil, fmt.Errorf("archive: key %q: empty word", key)
			}
			words = append(words, b.String())
			b.Reset()
		case begin && strings.IndexByte("@$!#", c) >= 0:
			return nil, fmt.Errorf("archive: key %q: only keys of the records can be chosen", key)
		case c == '*' && b.Len() == 0 && (i+1 == len(key) || key[i+1] == '.'):
			return nil, fmt.Errorf("archive: key %q: keys with * cannot be chosen", key)
		default:
			b.WriteByte(c)
		}
		begin = false
	}
	if b.Len() == 0 {
		return nil, fmt.Errorf("archive: key %q: empty word", key)
	}
	return append(words, b.String()), nil
}

const escapedInKey = `\.*@$!#"?(){}:<>`
