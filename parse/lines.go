package parse

import (
	"fmt"

	"github.com/tracehandler/tracehandler/reader"
)

// readLines calls f with the number and text of each line of a trace in any format that is a sequence of lines, and with
// the number and JSON of each event of the others. The text belongs to the reader. Damage goes into the report; the error
// is f's, or what makes the whole file unreadable. notify, if set, is told how many more bytes were read, as stored.
func readLines(path string, rep *RankReport, notify func(int64), f func(number int64, text []byte) error) error {
	r, err := reader.Open(path, &reader.Options{Parallel: 1})
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	defer r.Close()
	stored, n := int64(0), 0
	told := func() {
		if notify != nil {
			now := r.Stats().Stored
			notify(now - stored)
			stored = now
		}
	}
	take := func(number int64, text []byte, err error) error {
		if err != nil {
			if !reader.IsReport(err) {
				return fmt.Errorf("parse: %w", err)
			}
			rep.problem(Problem{Path: path, Msg: err.Error()})
			return nil
		}
		if len(text) > 0 {
			rep.Lines++
			rep.Text += int64(len(text))
		}
		if n++; n&63 == 0 {
			told()
		}
		return f(number, text)
	}
	defer told()
	if k := r.Kind(); k == reader.JSONLines || k == reader.PrefixedLines {
		for line, err := range r.Lines() {
			if err := take(line.Number, line.Text, err); err != nil {
				return err
			}
		}
		return nil
	}
	var buf []byte
	number := int64(0)
	for e, err := range r.Events() {
		buf = buf[:0]
		if err == nil {
			number++
			buf = e.AppendJSON(buf)
		}
		if err := take(number, buf, err); err != nil {
			return err
		}
	}
	return nil
}
