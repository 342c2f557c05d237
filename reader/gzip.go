package reader

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// gzipFetcher reads gzip members (RFC 1952). A member of up to maxHeld bytes of text is checked before it is delivered;
// a larger one is delivered as it is decoded.
type gzipFetcher struct {
	in     *input
	br     *bufio.Reader // over in; its type has a fast path in package flate
	zr     *gzip.Reader
	open   bool         // inside a member of which text was delivered
	off    int64        // where that member begins
	size   int64        // bytes of its text so far
	bad    *failure     // where the next fetch has to look for the next whole member
	text   *textFetcher // not nil while reading text that was appended without compression
	part   []byte       // what could be decoded of a torn member
	broken error        // the failure to read that ended it all
}

func newGzipFetcher(in *input) *gzipFetcher {
	in.setMark()
	return &gzipFetcher{in: in, br: bufio.NewReaderSize(in, 64<<10)}
}

func (g *gzipFetcher) fetch(b *block) error {
	if g.text != nil {
		err := g.text.fetch(b)
		if err != io.EOF {
			return err
		}
		g.text = nil
		g.br.Reset(g.in)
	}
	switch {
	case g.broken != nil:
		return g.broken
	case g.bad != nil:
		f := g.bad
		g.bad = nil
		return g.resync(b, f)
	case g.open:
		return g.more(b)
	}
	for len(b.text) < blockTarget && len(b.frames) < maxFrames {
		if len(b.frames) > 0 && g.in.seek == nil {
			return nil // the rest of the next member may be long in coming
		}
		switch more, err := g.member(b); {
		case err != nil:
			if len(b.frames) == 0 {
				return err
			}
			if err != io.EOF {
				g.broken = err
			}
			return nil
		case g.bad != nil && len(b.frames) == 0:
			f := g.bad
			g.bad = nil
			return g.resync(b, f)
		case !more:
			return nil
		}
	}
	return nil
}

// offset returns the offset of the next byte that the decoder has not consumed.
func (g *gzipFetcher) offset() int64 { return g.in.offset() - int64(g.br.Buffered()) }

// member decodes the next member into b, or its beginning if it is large. It reports whether b can take another one.
// A bad member leaves b as it was and sets g.bad.
func (g *gzipFetcher) member(b *block) (more bool, err error) {
	// Zero bytes between members and behind the last one are padding, as for gzip itself.
	for {
		p, err := g.br.Peek(1)
		if len(p) == 0 {
			return false, err
		}
		if p[0] != 0 {
			break
		}
		g.br.Discard(1)
	}
	off := g.offset()
	g.in.mark = off
	if f, err := g.header(off); f != nil || err != nil {
		g.bad = f
		return false, err
	}
	start := len(b.text)
	for {
		b.text = grow(b.text, 64<<10)
		n, err := g.zr.Read(b.text[len(b.text):cap(b.text)])
		b.text = b.text[:len(b.text)+n]
		size := len(b.text) - start
		switch {
		case err == io.EOF:
			b.frames = append(b.frames, frameRef{
				span: span{offset: off, size: g.offset() - off}, end: len(b.text),
			})
			return true, nil
		case err != nil:
			f, err := g.failure(off, err)
			if f != nil && f.torn {
				g.part = append(g.part[:0], b.text[start:]...)
			}
			b.text = b.text[:start]
			g.bad = f
			return false, err
		case size >= maxHeld:
			g.open, g.off, g.size = true, off, int64(size)
			return false, nil
		}
	}
}

// header begins a member.
func (g *gzipFetcher) header(off int64) (*failure, error) {
	var err error
	if g.zr == nil {
		g.zr, err = gzip.NewReader(g.br)
	} else {
		err = g.zr.Reset(g.br)
	}
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		head := err
		f, err := g.failure(off, err)
		if f != nil {
			f.expected = "a gzip member"
			if f.torn {
				// Fewer bytes than a header has are torn only if they are the beginning of one.
				if _, err := g.in.rewind(off); err != nil {
					return nil, err
				}
				p, err := g.in.peek(3)
				if err != nil {
					return nil, err
				}
				f.torn = frame.IsGzip(p)
			}
			if errors.Is(head, gzip.ErrHeader) {
				f.err = nil
			}
		}
		g.zr = nil // a reader whose header failed has no decompressor
		return f, err
	}
	g.zr.Multistream(false)
	return nil, nil
}

// failure says what an error of the decoder means for the member at off. A failure to read is returned as it is.
func (g *gzipFetcher) failure(off int64, err error) (*failure, error) {
	if raw := g.in.failure(); raw != nil && g.br.Buffered() == 0 {
		return nil, raw
	}
	f := &failure{off: off, expected: "a whole gzip member", err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		f.torn, f.expected, f.err = true, "a gzip member", nil
	}
	return f, nil
}

// more continues a member of which text was delivered.
func (g *gzipFetcher) more(b *block) error {
	b.text = grow(b.text, blockTarget)
	for len(b.text) < blockTarget {
		n, err := g.zr.Read(b.text[len(b.text):blockTarget])
		b.text = b.text[:len(b.text)+n]
		g.size += int64(n)
		if err == nil {
			if g.in.live && n > 0 {
				return nil
			}
			continue
		}
		g.open = false
		if err == io.EOF {
			b.frames = append(b.frames, frameRef{
				span: span{offset: g.off, size: g.offset() - g.off}, end: len(b.text),
			})
			return nil
		}
		f, raw := g.failure(g.off, err)
		if raw != nil {
			return raw
		}
		if !f.torn && !errors.Is(err, gzip.ErrChecksum) {
			b.text = b.text[:0] // what a decoder makes of damage just before it notices
		}
		return g.endOpen(b, f)
	}
	return nil
}

// endOpen reports the failure of a member of which text was delivered and finds the next one.
func (g *gzipFetcher) endOpen(b *block, f *failure) error {
	stopped := g.offset()
	r := resync{in: g.in, width: 4, match: frame.IndexGzip, try: g.try}
	found, err := r.run(&failure{off: max(f.off, stopped-readSize)})
	if err != nil {
		return err
	}
	to := g.in.offset()
	g.br.Reset(g.in)
	if f.torn && !found {
		b.gap = torn(g.in, f, to)
		return nil
	}
	b.gap = damage(g.in, f, to)
	return nil
}

// resync finds the next whole member behind f and makes b the report of what was skipped. If there is none and the file
// ended inside the member, what could be decoded of it is b's text.
func (g *gzipFetcher) resync(b *block, f *failure) error {
	defer func() { g.br.Reset(g.in) }()
	text, err := appendedText(g.in, f)
	if err != nil {
		return err
	}
	r := resync{in: g.in, width: 4, match: frame.IndexGzip, try: g.try}
	found, err := r.run(f)
	if err != nil {
		return err
	}
	to := g.in.offset()
	switch {
	case text:
		b.gap = &DamageError{Path: g.in.path, Offset: f.off, Expected: f.expected, Err: errAppendedText}
		g.text = &textFetcher{in: g.in, until: to}
		_, err = g.in.rewind(f.off)
		return err
	case found:
		b.gap = damage(g.in, f, to)
		return nil
	}
	if f.torn {
		if f.torn, err = g.reallyTorn(f.off, to); err != nil {
			return err
		}
	}
	if !f.torn {
		b.gap = damage(g.in, f, to)
		return nil
	}
	b.text = append(b.text[:0], g.part...)
	b.gap = torn(g.in, f, to)
	return nil
}

// reallyTorn tells a member that was cut from one in which a changed bit made the decoder run past its end: that one
// still ends with its length. The chance to take a cut for a change is 1 in 2^15, and costs the lines of one member.
func (g *gzipFetcher) reallyTorn(off, end int64) (bool, error) {
	if end-off < 18 || len(g.part) == 0 {
		return true, nil
	}
	at, err := g.in.rewind(end - 4)
	if err != nil || at != end-4 {
		return true, err
	}
	p, err := g.in.peek(4)
	if err != nil || len(p) < 4 {
		return true, err
	}
	size := int64(binary.LittleEndian.Uint32(p))
	_, err = g.in.rewind(end)
	// Of a member that lacks its last byte the four bytes are 256 times its length or more: outside the slack.
	slack := min(64<<10, int64(len(g.part)))
	diff := size - int64(len(g.part))
	return diff < -slack || diff > slack, err
}

// try reports whether a whole member begins at the input's position, or so much of one that it is taken for one.
func (g *gzipFetcher) try() (bool, int64, error) {
	off := g.in.offset()
	g.br.Reset(g.in)
	if f, err := g.header(off); f != nil || err != nil {
		return false, 18, err
	}
	var sink [16 << 10]byte
	size := int64(0)
	for size < maxHeld {
		n, err := g.zr.Read(sink[:])
		size += int64(n)
		if err == io.EOF {
			return true, size, nil
		}
		if err != nil {
			_, raw := g.failure(off, err)
			return false, size + g.offset() - off, raw
		}
	}
	return true, size, nil
}

func (g *gzipFetcher) decode(*block)      {}
func (g *gzipFetcher) restart(f *failure) { g.bad = f }
func (g *gzipFetcher) close()             {}
