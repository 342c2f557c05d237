package chrometrace

// heads remembers how the latest kinds of events began: the bytes from '{' to the end of the second member, where these two are
// the phase and the category. A trace has a dozen such beginnings and a million events; one that begins as another did is
// read on from there.
type heads [8]head

type head struct {
	text     string
	phase    byte
	cat, end int // where the category stands in text
}

// maxHead is the length in bytes of a head that is worth remembering.
const maxHead = 128

// recall sets the phase and the category if b begins with a head, and returns the index behind it; else 0. What is often
// found moves to the front.
func (hs *heads) recall(b []byte, ev *Event) int {
	for k := range hs {
		h := &hs[k]
		n := len(h.text)
		if n == 0 {
			return 0
		}
		if len(b) <= n || string(b[:n]) != h.text {
			continue
		}
		ev.Phase, ev.Category = h.phase, b[h.cat:h.end]
		if k > 0 {
			hs[k], hs[k-1] = hs[k-1], hs[k]
		}
		return n
	}
	return 0
}

// remember keeps b, which ends behind ev's category, or behind its phase if that comes second, unless it is known.
func (hs *heads) remember(b []byte, ev *Event) {
	if len(b) > maxHead || len(ev.Category) == 0 {
		return
	}
	for k := range hs {
		if hs[k].text == string(b) {
			return
		}
	}
	at := cap(b) - cap(ev.Category) // both are spans of one buffer
	copy(hs[1:], hs[:len(hs)-1])
	hs[0] = head{string(b), ev.Phase, at, at + len(ev.Category)}
}
