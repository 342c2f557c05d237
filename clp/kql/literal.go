package kql

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// literalType is what the text of a value looks like; whether it was quoted does not matter.
type literalType uint8

const (
	typeString literalType = iota
	typeInteger
	typeFloat
	typeBool
	typeNull
	typeExists // *
	typeTime   // timestamp(…)
)

// literal is a value that is looked for.
type literal struct {
	typ     literalType
	integer int64 // also of a time, in nanoseconds since 1970
	float   float64
	truth   bool

	pattern *encoding.Query // that texts must match
	text    []byte          // without wildcards, if plain is set
	plain   bool            // without wildcards
	space   bool            // contains a space
}

// floatText is what strtod reads, without the hexadecimal, the infinite and what is no number.
var floatText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// parseLiteral reads a value.
func parseLiteral(l lexeme, o *Options) (literal, error) {
	s, at := l.content()
	var text, pattern []byte // what it says if it is plain, and for encoding.ParseQuery
	v := literal{plain: true}
	char := func(c byte) {
		text = append(text, c)
		if c == '*' || c == '?' || c == '\\' {
			pattern = append(pattern, '\\')
		}
		pattern = append(pattern, c)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '*' || c == '?' {
			v.plain = false
			pattern = append(pattern, c)
			continue
		}
		if c != '\\' {
			char(c)
			continue
		}
		if i++; i == len(s) {
			return v, &SyntaxError{at + i - 1, "nothing behind the last backslash", `a backslash is written \\`}
		}
		switch c := s[i]; c {
		case '\\', '*', '?', '"', '{', '}', '(', ')', '<', '>', '@', '$', '!', '#':
			char(c)
		case 't', 'r', 'n', 'b', 'f':
			char(control(c))
		case 'u':
			r, ok := hex4(s[i:])
			if !ok || 0xD800 <= r && r < 0xE000 {
				return v, &SyntaxError{at + i - 1, `\u without the four digits of a character`, "write the character itself"}
			}
			for _, b := range []byte(string(r)) {
				char(b)
			}
			i += 4
		default:
			return v, &SyntaxError{at + i - 1, fmt.Sprintf(`\%c is no escape in a value`, c), fmt.Sprintf("in quotes, %c stands for itself", c)}
		}
	}
	v.text = text
	v.space = strings.Contains(string(text), " ")
	v.classify(string(text), string(pattern))
	if o.Contains && v.typ == typeString {
		pattern = append(append([]byte{'*'}, pattern...), '*')
		v.plain = false
	}
	var err error
	v.pattern, err = encoding.ParseQuery(string(pattern), o.Fold)
	return v, err
}

func control(c byte) byte {
	return "\t\r\n\b\f"[strings.IndexByte("trnbf", c)]
}

func (v *literal) classify(text, pattern string) {
	if !v.plain {
		if strings.Trim(pattern, "*") == "" {
			v.typ = typeExists
		}
		return
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		v.typ, v.integer, v.float = typeInteger, i, float64(i)
		return
	}
	switch {
	case floatText.MatchString(text):
		v.typ = typeFloat
		v.float, _ = strconv.ParseFloat(text, 64) // beyond the range it is infinite
	case text == "true" || text == "false":
		v.typ, v.truth = typeBool, text == "true"
	case text == "null":
		v.typ = typeNull
	}
}

// isNumber reports whether < and > make sense.
func (v *literal) isNumber() bool {
	return v.typ == typeInteger || v.typ == typeFloat || v.typ == typeTime
}

type operator uint8

const (
	equal operator = iota
	less
	lessEqual
	greater
	greaterEqual
)

// holds reports whether the operator holds of two values that compare so: -1, 0, 1.
func (op operator) holds(order int) bool {
	switch op {
	case equal:
		return order == 0
	case less:
		return order < 0
	case lessEqual:
		return order <= 0
	case greater:
		return order > 0
	}
	return order >= 0
}

// floats compares two floats.
func (op operator) floats(a, b float64) bool {
	switch {
	case a < b:
		return op.holds(-1)
	case a > b:
		return op.holds(1)
	}
	return a == b && op.holds(0)
}

// intFloat compares an integer with a float exactly.
func (op operator) intFloat(a int64, b float64) bool {
	switch {
	case b >= math.MaxInt64: // 2⁶³
		return op.holds(-1)
	case b < math.MinInt64:
		return op.holds(1)
	}
	whole := int64(b)
	switch {
	case a < whole:
		return op.holds(-1)
	case a > whole:
		return op.holds(1)
	case b > float64(whole):
		return op.holds(-1)
	case b < float64(whole):
		return op.holds(1)
	}
	return op.holds(0)
}
