// Package table sets rows of text in columns.
//
//	t := table.New("file", "events>", "bytes>")
//	t.Row("a.ndjson", "12", "3 456")
//	err := t.Write(w, true)
package table

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a list of rows of equal length. The zero Table is not useful; see [New].
type Table struct {
	right []bool
	rows  [][]string
}

// New returns a table with these headings. A heading that ends in ">" sets its column to the right.
func New(headings ...string) *Table {
	t := &Table{}
	for i, h := range headings {
		headings[i] = strings.TrimSuffix(h, ">")
		t.right = append(t.right, headings[i] != h)
	}
	t.rows = append(t.rows, headings)
	return t
}

// Row adds a row. Missing cells are empty; more cells than headings are a mistake and panic.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.right))
	if copy(row, cells) < len(cells) {
		panic("table: more cells than headings")
	}
	t.rows = append(t.rows, row)
}

// Write writes the table, columns two spaces apart, its headings dim where colour is wanted.
func (t *Table) Write(w io.Writer, color bool) error {
	width := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for n, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if t.right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if n == 0 && color {
			text = "\x1b[2m" + text + "\x1b[0m"
		}
		out.WriteString(text + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
