package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
	"github.com/tracehandler/tracehandler/reader"
)

// archiveStat is what stat says of one CLP archive besides what is in its events. Sizes are in bytes.
type archiveStat struct {
	Path       string        `json:"path"`
	Version    string        `json:"version"`
	Events     int64         `json:"events"`
	Streams    int           `json:"streams"`
	Variables  int           `json:"variables"`   // entries of the dictionary
	LogTypes   int           `json:"log_types"`   // likewise
	ArrayTypes int           `json:"array_types"` // likewise
	TimeKey    string        `json:"time_key,omitempty"`
	Sections   []sectionStat `json:"sections"`
	Schemas    []schemaStat  `json:"schemas"`
	Keys       []keyStat     `json:"keys"`
}

type sectionStat struct {
	Name   string `json:"name"`
	Stored int64  `json:"stored_bytes"`
}

// schemaStat is the events that have the same keys of the same types.
type schemaStat struct {
	ID     int32    `json:"id"`
	Events int64    `json:"events"`
	Plain  int64    `json:"plain_bytes"` // of its columns
	Keys   []string `json:"keys"`
}

// keyStat is what the columns of a key take. Its texts are in the dictionaries, which keys share.
type keyStat struct {
	Key    string `json:"key"`
	Type   string `json:"type"`
	Events int64  `json:"events"`
	Plain  int64  `json:"plain_bytes"`
	Stored int64  `json:"stored_bytes"`
	Exact  bool   `json:"exact"` // otherwise stored is the key's share of what is compressed together
}

// archiveStats describes the archives that reading path reads; nothing if it is no archive.
func archiveStats(cmd *cobra.Command, path string, t *troubles) (list []archiveStat) {
	if path == stdin {
		return nil
	}
	parts, err := reader.Parts(path)
	if err != nil && !reader.IsArchiveDir(path) {
		return nil // who reads it says so
	}
	for _, part := range append(parts, path) {
		in, err := open(cmd, part)
		if err != nil {
			t.add(err)
			continue
		}
		if a := in.Archive(); a != nil {
			s, err := statOf(part, a)
			if err != nil {
				t.add(fmt.Errorf("%s: %w", part, err))
			}
			s.TimeKey = in.TimeKey()
			list = append(list, s)
		}
		_ = in.Close() // nothing was written
	}
	return list
}

// statOf describes an archive. After an error it says what it could find out.
func statOf(path string, a *archive.Reader) (archiveStat, error) {
	info := a.Info()
	s := archiveStat{Path: path, Version: info.Version.String(), Events: info.Records, Streams: info.Streams}
	for _, sec := range a.Sections() {
		s.Sections = append(s.Sections, sectionStat{sec.Name, sec.Bytes})
	}
	keys, err := a.Keys()
	names := map[int32]string{}
	for _, k := range keys {
		names[k.Node] = k.Path
		s.Keys = append(s.Keys, keyStat{k.Path, k.Type.String(), k.Records, k.Bytes, k.Packed, k.Exact})
	}
	slices.SortStableFunc(s.Keys, func(a, b keyStat) int { return cmp.Compare(b.Stored, a.Stored) })
	for t := range a.Tables() {
		schema := schemaStat{ID: t.Schema, Events: t.Records, Plain: t.Bytes}
		for _, id := range t.Columns {
			if a.Nodes()[id].Type != archive.DeltaInteger {
				schema.Keys = append(schema.Keys, names[id])
			}
		}
		s.Schemas = append(s.Schemas, schema)
	}
	slices.SortStableFunc(s.Schemas, func(a, b schemaStat) int { return cmp.Compare(b.Events, a.Events) })
	for _, d := range []struct {
		to   *int
		dict archive.Dictionary
	}{{&s.Variables, a.Variables()}, {&s.LogTypes, a.LogTypes()}, {&s.ArrayTypes, a.ArrayTypes()}} {
		n, lerr := d.dict.Len()
		if *d.to = n; err == nil {
			err = lerr
		}
	}
	return s, err
}

// write prints the description for people, at most top keys and schemas, all if it is 0.
func (s *archiveStat) write(out io.Writer, top int, color bool) error {
	_, err := fmt.Fprintf(out, "\n%s: version %s, %s, %s in %s; %s, %s, %s\n\n", shown(s.Path), s.Version, plural(len(s.Schemas), "schema"), plural(s.Events, "event"),
		plural(s.Streams, "stream"), plural(s.Variables, "variable"), plural(s.LogTypes, "log type"), plural(s.ArrayTypes, "log type of array"))
	if err != nil {
		return err
	}
	total := int64(0)
	for _, sec := range s.Sections {
		total += sec.Stored
	}
	t := table.New("section", "stored>", "share>")
	for _, sec := range s.Sections {
		t.Row(sec.Name, bytesText(sec.Stored), share(sec.Stored, max(total, 1)))
	}
	if err := t.Write(out, color); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	t = table.New("key", "type", "events>", "columns>", "stored>", "share>")
	for _, k := range s.Keys[:shownOf(len(s.Keys), top)] {
		t.Row(k.Key, k.Type, number(k.Events), bytesText(k.Plain), about(k.Exact, bytesText(k.Stored)), share(k.Stored, max(total, 1)))
	}
	if err := t.Write(out, color); err != nil {
		return err
	}
	if err := more(out, len(s.Keys), top, "key"); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	t = table.New("schema>", "events>", "share>", "keys")
	for _, sc := range s.Schemas[:shownOf(len(s.Schemas), top)] {
		keys := strings.Join(sc.Keys[:min(len(sc.Keys), 12)], " ")
		if n := len(sc.Keys) - 12; n > 0 {
			keys += fmt.Sprintf(" … %d more", n)
		}
		t.Row(fmt.Sprint(sc.ID), number(sc.Events), share(sc.Events, max(s.Events, 1)), keys)
	}
	if err := t.Write(out, color); err != nil {
		return err
	}
	return more(out, len(s.Schemas), top, "schema")
}

// shownOf returns how many of n are shown.
func shownOf(n, top int) int {
	if top == 0 {
		return n
	}
	return min(n, top)
}

// more says that not all were shown.
func more(out io.Writer, n, top int, what string) error {
	if left := n - shownOf(n, top); left > 0 {
		_, err := fmt.Fprintf(out, "… and %s; --top 0 shows all\n", plural(left, "more "+what))
		return err
	}
	return nil
}
