package parse

import (
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/repeat"
)

// launchWriter writes the lines of a kernel's launches. Each is much like the one before, member by member, so the
// writer tells the compressor what repeats.
type launchWriter struct {
	gen     int // of the stream, when the pieces were written
	members []repeat.Piece
	args    []repeat.Piece
	docs    [4]docPiece
	turn    int
	hash    repeat.Piece
	kind    repeat.Piece
	buf     []byte
}

// docPiece is a member whose value is in the memo.
type docPiece struct {
	doc   *js.Doc
	first byte // what stands before the key
	piece repeat.Piece
}

// append writes a launch with what parsing adds to it.
func (w *launchWriter) append(s *stream, t *repeat.Text, root js.Value, group [16]byte, occurrence int64, kind string) {
	if w.gen != s.gen {
		clear(w.members)
		clear(w.args)
		w.docs, w.hash, w.kind, w.gen = [4]docPiece{}, repeat.Piece{}, repeat.Piece{}, s.gen
	}
	sep := byte('{')
	i := 0
	for m := range root.Each() {
		key, _ := m.KeyPlain()
		switch string(key) {
		case "launch_group_hash", "occurrence_id", "autotune_launch_type":
			continue // of a trace that was parsed before
		}
		if d := m.Sub(); d != nil {
			w.doc(t, d, m, sep)
		} else if string(key) == "extracted_args" && m.Kind() == js.Object {
			w.arguments(t, m, sep)
		} else {
			w.buf = append(append(append(append(w.buf[:0], sep), m.RawKey()...), ':'), m.Raw()...)
			t.Like(piece(&w.members, i), w.buf)
		}
		sep = ','
		i++
	}
	w.buf = append(append(w.buf[:0], sep), `"launch_group_hash":"`...)
	w.buf = append(append(w.buf, group[:]...), `","occurrence_id":`...)
	t.Like(&w.hash, w.buf)
	t.B = strconv.AppendInt(t.B, occurrence, 10)
	if kind == "" {
		t.B = append(t.B, '}', '\n')
		return
	}
	w.buf = append(append(append(w.buf[:0], `,"autotune_launch_type":"`...), kind...), "\"}\n"...)
	t.Like(&w.kind, w.buf)
}

func piece(ps *[]repeat.Piece, i int) *repeat.Piece {
	for i >= len(*ps) {
		*ps = append(*ps, repeat.Piece{})
	}
	return &(*ps)[i]
}

// doc writes a member whose value is in the memo. Of a few such values it is known where they stand.
func (w *launchWriter) doc(t *repeat.Text, d *js.Doc, m js.Value, sep byte) {
	var p *docPiece
	for i := range w.docs {
		if c := &w.docs[i]; c.doc == d && c.first == sep {
			if t.Again(&c.piece) {
				return
			}
			p = c
		}
	}
	if p == nil {
		p = &w.docs[w.turn%len(w.docs)]
		w.turn++
		*p = docPiece{doc: d, first: sep}
	}
	at := len(t.B)
	t.B = append(append(append(append(t.B, sep), m.RawKey()...), ':'), m.Raw()...)
	t.Note(&p.piece, at)
}

func (w *launchWriter) arguments(t *repeat.Text, m js.Value, sep byte) {
	t.B = append(append(append(t.B, sep), m.RawKey()...), ':')
	sep = '{'
	i := 0
	for a := range m.Each() {
		w.buf = append(append(append(append(w.buf[:0], sep), a.RawKey()...), ':'), a.Raw()...)
		t.Like(piece(&w.args, i), w.buf)
		sep = ','
		i++
	}
	if i == 0 {
		t.B = append(t.B, '{')
	}
	t.B = append(t.B, '}')
}
