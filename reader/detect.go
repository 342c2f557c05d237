package reader

import (
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// detect finds out what in holds, through all layers of compression, and makes the source of r.
func (r *Reader) detect(outer *input) error {
	reports := new([]error)
	for in := outer; ; {
		m, err := magic(in)
		if err != nil {
			return err
		}
		if open := sources[m]; open != nil {
			r.src, err = open(in, &r.o)
			return err
		}
		f := newFetcher(in, m, &r.o)
		if m == format.Text && !in.live {
			found, lost, err := lostMagic(in, &r.o)
			if err != nil {
				return err
			}
			if lost != nil {
				m, f = found, lost
			}
		}
		if m == format.Text {
			return r.lines(outer, f, nil, reports)
		}
		if len(r.layers) == maxDepth {
			return fmt.Errorf("reader: %s: compressed more than %d times", r.path, maxDepth)
		}
		r.layers = append(r.layers, m)
		r.outer = append(r.outer, f)
		blocks, err := firstBlocks(f)
		if err != nil {
			return err
		}
		if format.Detect(blocks[len(blocks)-1].text) == format.Text {
			r.outer = r.outer[:len(r.outer)-1] // the source closes it
			return r.lines(outer, f, blocks, reports)
		}
		in = &input{path: r.path, mark: -1, live: in.live, src: &layer{f: f, blocks: blocks, reports: reports}}
	}
}

// lines makes r read lines from f, of which blocks were fetched already.
func (r *Reader) lines(outer *input, f fetcher, blocks []*block, reports *[]error) error {
	s := newLineSource(outer, f, r.o, len(r.layers) == 0, reports)
	s.p.queue = blocks
	r.src = s
	return s.prime()
}

// magic looks at no more of in than it must: the bytes may be long in coming.
func magic(in *input) (format.Magic, error) {
	for n := 1; ; n = min(2*n, format.HeadSize) {
		b, err := in.peek(n)
		if err != nil {
			return format.Text, err
		}
		m := format.Detect(b)
		if len(b) == 1 && n > 1 && b[0] == 0x1f {
			return format.GzipMagic, nil // all there is: the beginning of a member, not white space
		}
		if m != format.Text || len(b) < n || n == format.HeadSize || !maybeMagic(b) {
			return m, nil
		}
	}
}

// maybeMagic reports whether longer input that begins with b may be something else than text.
func maybeMagic(b []byte) bool {
	if len(b) >= 4 {
		return false
	}
	switch c := b[0]; {
	case c == 0x1f, c == 0x28, c == 0xfd, c&0xf0 == 0x50:
		return true
	}
	return false
}

// lostMagic looks into something that is not text for a whole frame or member: the file's very beginning may be damaged.
// The fetcher it returns reports what stands before that frame. It is nil if there is none in the first maxHeld bytes.
func lostMagic(in *input, o *Options) (format.Magic, fetcher, error) {
	head, err := in.peek(512)
	if err != nil || !isBinary(head) {
		return format.Text, nil, err
	}
	start := in.offset()
	in.setMark()
	all, err := in.peek(maxHeld)
	if err != nil {
		return format.Text, nil, err
	}
	size := int64(len(all))
	z := newZstdFetcher(in, o)
	g := newGzipFetcher(in)
	zr := resync{in: in, width: 4, match: frame.IndexZstd, try: z.try, until: start + size}
	gr := resync{in: in, width: 4, match: frame.IndexGzip, try: g.try, until: start + size}
	for _, c := range []struct {
		m format.Magic
		r *resync
	}{{format.ZstdMagic, &zr}, {format.GzipMagic, &gr}} {
		f := &failure{off: start, expected: "text, or the beginning of a gzip member or zstd frame"}
		found, err := c.r.run(f)
		if err != nil {
			z.close()
			return format.Text, nil, err
		}
		if !found {
			continue
		}
		f.next = in.offset()
		if _, err := in.rewind(start); err != nil {
			return format.Text, nil, err
		}
		if c.m == format.ZstdMagic {
			z.bad = f
			return c.m, z, nil
		}
		z.close()
		g.br.Reset(in)
		g.bad = f
		return c.m, g, nil
	}
	z.close()
	_, err = in.rewind(start)
	return format.Text, nil, err
}

// isBinary reports whether head has bytes that text has not.
func isBinary(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f' && c != 0x1b {
			return true
		}
	}
	return jsontext.ValidPrefix(head) < len(head)-3 // a character may be cut at the end
}

// firstBlocks returns blocks from f up to the first that has text, or to the end, but no more than a few. There is always
// one; all are decoded. A single one without text and gap is the end.
func firstBlocks(f fetcher) ([]*block, error) {
	var blocks []*block
	for {
		b := newBlock()
		err := f.fetch(b)
		if err == io.EOF && len(blocks) > 0 {
			return blocks, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		f.decode(b)
		if b.fail != nil {
			f.restart(b.fail)
			b.fail = nil
		}
		blocks = append(blocks, b)
		if len(b.text) > 0 || err == io.EOF || len(blocks) == 16 {
			return blocks, nil
		}
	}
}

// layer makes the text of a fetcher the input of the layer inside it. Damage is kept as reports.
type layer struct {
	f       fetcher
	blocks  []*block // fetched; blocks[0] is being read
	at      int      // in blocks[0].text
	reports *[]error
}

// Read implements io.Reader.
func (l *layer) Read(p []byte) (int, error) {
	for {
		if len(l.blocks) == 0 {
			blocks, err := firstBlocks(l.f)
			if err != nil {
				return 0, err
			}
			if len(blocks) == 1 && len(blocks[0].text) == 0 && blocks[0].gap == nil {
				return 0, io.EOF
			}
			l.blocks, l.at = blocks, 0
		}
		b := l.blocks[0]
		if n := copy(p, b.text[l.at:]); n > 0 {
			l.at += n
			return n, nil
		}
		if b.gap != nil {
			*l.reports = append(*l.reports, b.gap)
		}
		l.blocks, l.at = l.blocks[1:], 0
	}
}
