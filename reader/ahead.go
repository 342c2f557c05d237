package reader

import "io"

// aheadLayer is a layer whose blocks are decoded ahead of the consumer, and several at a time, while an iteration runs.
type aheadLayer struct {
	p       pipeline
	b       *block // being read
	at      int    // in b.text
	reports *[]error
	restful bool // the stored bytes can be read without waiting
}

// newAheadLayer goes on where l stands.
func newAheadLayer(l *layer) *aheadLayer {
	a := &aheadLayer{p: pipeline{f: l.f, raw: true}, reports: l.reports}
	switch f := l.f.(type) {
	case *zstdFetcher:
		a.restful = f.in.seek != nil && !f.in.live
	case *gzipFetcher:
		a.restful = f.in.seek != nil && !f.in.live
	}
	if len(l.blocks) > 0 {
		a.b, a.at, a.p.queue = l.blocks[0], l.at, l.blocks[1:]
	}
	return a
}

// begin and end stand around an iteration.
func (a *aheadLayer) begin(workers int) {
	if a.restful {
		a.p.start(workers, false)
	}
}

func (a *aheadLayer) end() { a.p.stop() }

// Read implements io.Reader.
func (a *aheadLayer) Read(p []byte) (int, error) {
	for {
		if a.b == nil {
			b, err := a.p.next()
			if err != nil {
				return 0, err
			}
			a.b, a.at = b, 0
		}
		if n := copy(p, a.b.text[a.at:]); n > 0 {
			a.at += n
			return n, nil
		}
		if a.b.gap != nil {
			*a.reports = append(*a.reports, a.b.gap)
		}
		a.p.recycle(a.b)
		a.b = nil
	}
}

var _ io.Reader = (*aheadLayer)(nil)
