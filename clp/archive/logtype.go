package archive

import (
	"github.com/tracehandler/tracehandler/clp/encoding"
)

// logtype is a log type taken apart: text and, behind each piece but the last, a variable.
type logtype struct {
	pieces []piece
	tail   []byte
	err    error
}

type piece struct {
	text []byte
	kind byte // placeholder
}

// logtypes has the log types that were needed so far. It is not safe for concurrent use.
type logtypes struct {
	dict   *dictionary
	escape bool         // the text is the inside of a JSON string
	known  [][]*logtype // by their number, in pieces of 256
	bytes  int
	word   []byte
}

const maxLogtypes = 8 << 20 // bytes of known log types, about

func (l *logtypes) get(id uint64) (*logtype, error) {
	if id>>8 < uint64(len(l.known)) {
		if piece := l.known[id>>8]; piece != nil && piece[id&0xFF] != nil {
			t := piece[id&0xFF]
			return t, t.err
		}
	}
	text, err := l.dict.entry(id, &l.word)
	if err != nil {
		return nil, err
	}
	if l.bytes > maxLogtypes {
		l.known, l.bytes = nil, 0
	}
	for uint64(len(l.known)) <= id>>8 { // id is that of an entry, and has 24 bits
		l.known = append(l.known, nil)
		l.bytes += 24
	}
	if l.known[id>>8] == nil {
		l.known[id>>8] = make([]*logtype, 256)
		l.bytes += 256 * 8
	}
	t := parseLogtype(text, l.escape)
	l.known[id>>8][id&0xFF] = t
	l.bytes += 128 + len(text) + 32*len(t.pieces)
	return t, t.err
}

func parseLogtype(text []byte, escape bool) *logtype {
	t := &logtype{}
	var b []byte
	var ends []int
	plain := func(run []byte) {
		if escape {
			b = appendEscaped(b, run)
		} else {
			b = append(b, run...)
		}
	}
	run := 0 // start of text that stands for itself
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case encoding.IntPlaceholder, encoding.DictPlaceholder, encoding.FloatPlaceholder:
			plain(text[run:i])
			run = i + 1
			ends = append(ends, len(b))
			t.pieces = append(t.pieces, piece{kind: c})
		case encoding.Escape:
			plain(text[run:i])
			run = i + 1
			if i++; i == len(text) {
				t.err = &encoding.DecodeError{Pos: i - 1, Err: encoding.ErrEscape}
				return t
			}
		}
	}
	plain(text[run:])
	from := 0
	for i, end := range ends {
		t.pieces[i].text = b[from:end:end]
		from = end
	}
	t.tail = b[from:]
	return t
}
