package encoding

// Run holds a text against a Query piece by piece. It is a value: a copy goes its own way.
type Run struct {
	q      *Query
	states uint64
}

// Run begins a text. ok is false if the pattern is longer than 63 elements: use Match, then.
func (q *Query) Run() (r Run, ok bool) { return Run{q, q.start()}, q.whole }

// Read goes on by a piece of the text. It reports whether a match is still possible.
func (r *Run) Read(piece []byte) bool {
	q, s := r.q, r.states
	for _, c := range piece {
		s = q.read(s, c)
	}
	r.states = s
	return s != 0
}

// Matches reports whether the pieces so far match as a whole.
func (r *Run) Matches() bool { return r.states&r.q.final != 0 }

// MustMatchLogtype reports whether every message with this log type matches, whatever its variables: true is certain,
// false is not.
func (q *Query) MustMatchLogtype(logtype []byte) bool {
	if !q.whole {
		return false
	}
	s := q.start()
	for i := 0; i < len(logtype) && s != 0; i++ {
		switch c := logtype[i]; c {
		case IntPlaceholder, FloatPlaceholder, DictPlaceholder:
			s = q.closure(s & q.stars) // a * takes all of it
		case Escape:
			if i++; i == len(logtype) {
				return false
			}
			s = q.read(s, logtype[i])
		default:
			s = q.read(s, c)
		}
	}
	return s&q.final != 0
}

// Variable is a variable of a message.
type Variable struct {
	Kind Kind
	Bits int64  // of an Int or Float, as EncodeVariable has them
	Word []byte // its text; in lower case if the pattern does not tell cases apart
}

// Variables returns variables that all messages have which match: those that the pattern spells out and that no
// wildcard can make longer. Like MayMatchLogtype it takes for granted that messages are split as EncodeMessage does it.
func (q *Query) Variables(w Width) []Variable {
	var list []Variable
	var run []byte
	flush := func(begins, ends bool) {
		for at := 0; at < len(run); {
			from, to, _ := NextVariable(run, at)
			if from == to {
				break
			}
			at = to
			if from == 0 && !begins || to == len(run) && !ends {
				continue
			}
			v := Variable{Word: run[from:to]}
			v.Kind, v.Bits = EncodeVariable(w, v.Word)
			list = append(list, v)
		}
		run = nil
	}
	begins := true
	for _, e := range q.elems {
		if e.kind == 0 {
			run = append(run, e.c)
			continue
		}
		flush(begins, false)
		begins = false
	}
	flush(begins, true)
	return list
}

// Fragment returns the longest run of bytes that every matching text contains, nil if the pattern does not tell cases
// apart.
func (q *Query) Fragment() []byte {
	if q.fold {
		return nil
	}
	var best, run []byte
	for _, e := range q.elems {
		if e.kind != 0 {
			run = nil
			continue
		}
		if run = append(run, e.c); len(run) > len(best) {
			best = run
		}
	}
	return best
}

// Narrowed is a Query with what is known of the variables of messages: a run of token bytes, as NextVariable has them, lies
// in one token of a message, so that it is constant text or part of one variable, never of both.
type Narrowed struct {
	q    *Query
	some [3]uint64 // by Kind: states that a byte of such a variable leaves for the next one
}

// Runs returns the runs of token bytes that the pattern spells out.
func (q *Query) Runs() (runs [][]byte) {
	q.eachRun(func(run []byte, _ uint64) { runs = append(runs, run) })
	return runs
}

// eachRun calls f for the runs in the machine, and the states in which their bytes are read.
func (q *Query) eachRun(f func(run []byte, states uint64)) {
	n := len(q.elems)
	if !q.whole {
		n = machineStates - 2 // behind them is a *
	}
	var run []byte
	var states uint64
	for i := 0; i <= n; i++ {
		if i < n && q.elems[i].kind == 0 && classes[q.elems[i].c]&isToken != 0 {
			run = append(run, q.elems[i].c)
			states |= 1 << i
		} else if run != nil {
			f(run, states)
			run, states = nil, 0
		}
	}
}

// Narrow returns q with what is known: held says whether some dictionary variable contains a run; of numbers, the
// digits tell.
func (q *Query) Narrow(held func(run []byte) bool) *Narrowed {
	n := &Narrowed{q, q.some}
	q.eachRun(func(run []byte, states uint64) {
		number, whole := true, true
		dots := 0
		for i, c := range run {
			digit := classes[c]&isDigit != 0 || c == '-' && i == 0 // a sign begins a token
			if c == '.' {
				dots++
			}
			number = number && (digit || c == '.' && dots == 1)
			whole = whole && digit
		}
		if !whole {
			n.some[Int] &^= states
		}
		if !number {
			n.some[Float] &^= states
		}
		if !held(run) {
			n.some[Dict] &^= states
		}
	})
	return n
}

// MayMatchLogtype is that of Query, and certain in more cases.
func (n *Narrowed) MayMatchLogtype(logtype []byte) bool { return n.q.mayMatch(logtype, &n.some) }
