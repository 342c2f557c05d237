// Package table sets rows of text in columns, as all tables of the command look.
//
//	t := table.New("file", "events>", "bytes>")
//	t.Row("a.ndjson", "12", "3 456")
//	err := t.Write(w, true)
package table

import (
	"io"
	"strings"

	"github.com/fatih/color"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
)

// Table is a list of rows. The zero Table is not useful; see [New].
type Table struct{ w table.Writer }

// New returns a table with these headings. A heading that ends in ">" sets its column to the right.
func New(headings ...string) *Table {
	t := &Table{table.NewWriter()}
	t.w.SetStyle(table.Style{Options: table.OptionsNoBordersAndSeparators, Box: table.BoxStyle{PaddingRight: "  "}})
	t.w.SuppressTrailingSpaces()
	var columns []table.ColumnConfig
	var header table.Row
	for i, h := range headings {
		align := text.AlignLeft
		heading, right := strings.CutSuffix(h, ">")
		if right {
			align = text.AlignRight
		}
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
		header = append(header, heading)
	}
	t.w.SetColumnConfigs(columns)
	t.w.AppendHeader(header)
	return t
}

// Row adds a row. Missing cells are empty. Controls in them are escaped.
func (t *Table) Row(cells ...string) {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = screen.Text(cell)
	}
	t.w.AppendRow(row)
}

// Write writes the table, columns two spaces apart, its headings dim where colour is wanted.
func (t *Table) Write(w io.Writer, wanted bool) error {
	headings, rows, more := strings.Cut(t.w.Render(), "\n")
	out := screen.NewStyle(wanted, color.Faint).Paint(headings) + "\n"
	if more {
		out += rows + "\n"
	}
	_, err := io.WriteString(w, out)
	return err
}
