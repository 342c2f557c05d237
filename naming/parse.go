package naming

import (
	"strconv"
	"strings"
)

// PartialSuffix ends the name of a trace that is still being written, or that a crash left behind.
const PartialSuffix = ".partial"

// Fields is what the name of a trace file says about its writer.
type Fields struct {
	// Prefix and User are what stands before the tokens, without the "_" that ends User. If DefaultPrefix occurs in the
	// name, Prefix ends with its first occurrence and User follows it. Otherwise the two cannot be told apart: Prefix has
	// it all and User is empty.
	Prefix, User string

	Rank Rank   // NoRank if absent, "none", or too large for an int
	PID  int    // -1 if absent, or too large for an int
	Host string // empty if absent
}

// Parse reads the name of a trace file, without its directory. Whatever the name does not say is absent in the result;
// every name has a result.
//
// The rules are those of tritonparse's parse_trace_filename_metadata: after the suffix, "_host_H_", "_pid_N_" and
// "_rank_N_" are taken off the end in this order, so that look-alikes inside the user's name never win. Besides its
// suffixes (.gz or .zst, then .bin.ndjson, .ndjson or .clp), a ".partial" and the time stamp of a rotated file are taken
// off. Digits are ASCII digits.
func Parse(base string) Fields {
	f := Fields{Rank: NoRank, PID: -1}
	rest := strings.TrimSuffix(base, PartialSuffix)
	if live, _, ok := ParseRotated(rest); ok {
		rest = live
	}
	rest = trimTraceSuffix(rest)

	if head, host, ok := cutToken(rest, "_host_", isHostByte); ok {
		f.Host, rest = host, head
	}
	if head, digits, ok := cutToken(rest, "_pid_", isDigit); ok {
		f.PID, rest = atoi(digits), head
	}
	if head, digits, ok := cutToken(rest, "_rank_", isDigit); ok {
		f.Rank, rest = Rank(atoi(digits)), head
	} else if head, ok := strings.CutSuffix(rest, "_rank_none_"); ok {
		rest = head + "_"
	}
	rest = strings.TrimSuffix(rest, "_")
	f.Prefix = rest
	if i := strings.Index(rest, DefaultPrefix); i >= 0 {
		i += len(DefaultPrefix)
		f.Prefix, f.User = rest[:i], rest[i:]
	}
	return f
}

// trimTraceSuffix takes off one outer compression suffix, then one suffix of a trace.
func trimTraceSuffix(name string) string {
	for _, s := range [...]string{".gz", ".zst"} {
		if t, ok := strings.CutSuffix(name, s); ok {
			name = t
			break
		}
	}
	for _, s := range [...]string{".bin.ndjson", ".ndjson", ".clp"} {
		if t, ok := strings.CutSuffix(name, s); ok {
			return t
		}
	}
	return name
}

// cutToken matches ^(.*)TOKEN(VALUE)_$ with a greedy head, where VALUE is one or more bytes that want accepts. It
// returns the head with a "_" added, ready for the next token.
func cutToken(s, token string, want func(byte) bool) (head, value string, ok bool) {
	t, ok := strings.CutSuffix(s, "_")
	if !ok {
		return "", "", false
	}
	// Values hold no "_" and tokens begin and end with one, so that only the last token can match.
	i := strings.LastIndex(t, token)
	if i < 0 || i+len(token) == len(t) {
		return "", "", false
	}
	value = t[i+len(token):]
	for j := range len(value) {
		if !want(value[j]) {
			return "", "", false
		}
	}
	return t[:i] + "_", value, true
}

// atoi returns -1, which is NoRank and "no pid", for numbers that do not fit.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHostByte(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-'
}
