package slogkv

import (
	"encoding/json"

	"github.com/tracehandler/tracehandler/clp/ir"
)

// Journal says of a stream that it is the journal of a CLP archive that is still to be made of it. It stands in the
// user-defined metadata, beside what says that the stream follows this mapping:
//
//	{"tracehandler":{"mapping":1,"archive":{"id":"5f0c…","level":3,"time":"ts"}}}
type Journal struct {
	ID      string `json:"id"`              // of this journal, different from all others; the archive has it too
	Level   int    `json:"level,omitempty"` // of the archive's compression; 0 for the default
	TimeKey string `json:"time,omitempty"`  // that has the time of events, in the syntax of a query's key; empty for that of log/slog
}

// user is the user-defined metadata of a stream.
type user struct {
	Tracehandler struct {
		Mapping int      `json:"mapping"`
		Archive *Journal `json:"archive,omitempty"`
	} `json:"tracehandler"`
}

// metadataOf returns the user-defined metadata of a stream with this mapping, which is the journal j unless j is nil.
func metadataOf(j *Journal) ([]byte, error) {
	var u user
	u.Tracehandler.Mapping = 1
	u.Tracehandler.Archive = j
	return json.Marshal(u)
}

// readUser reads user-defined metadata; ok is false if it is not that of a stream with this mapping.
func readUser(m *ir.Metadata) (u user, ok bool) {
	return u, json.Unmarshal(m.User, &u) == nil && u.Tracehandler.Mapping == 1
}

// JournalOf returns what the metadata of a stream say of the archive that is to be made of it, and false if the stream
// is one for good.
func JournalOf(m *ir.Metadata) (Journal, bool) {
	u, ok := readUser(m)
	if !ok || u.Tracehandler.Archive == nil || u.Tracehandler.Archive.ID == "" {
		return Journal{}, false
	}
	return *u.Tracehandler.Archive, true
}
