package report

import (
	"fmt"
	"strings"
)

// Doc is a document: a title, quoted lines below it, and sections in order.
type Doc struct {
	Title    string
	Quotes   []string // one paragraph each
	Sections []Section
}

// Section is a heading and what follows it, up to the next heading of any level.
type Section struct {
	Level   int // 2 to 5
	Heading string
	Blocks  []Block
}

// Block is one of: a marker comment, a table, or a paragraph.
type Block struct {
	Marker string
	Table  *Table
	Text   string
}

// Table is a header and rows of as many cells.
type Table struct {
	Header []string
	Rows   [][]string
}

// Add appends a section.
func (d *Doc) Add(s Section) { d.Sections = append(d.Sections, s) }

// Find returns the first section with a heading, or nil.
func (d *Doc) Find(heading string) *Section {
	for i := range d.Sections {
		if d.Sections[i].Heading == heading {
			return &d.Sections[i]
		}
	}
	return nil
}

// Render writes the document as Markdown. What Parse cannot tell from markup is escaped, so that Parse gives d back.
func (d *Doc) Render() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", line(d.Title))
	for _, q := range d.Quotes {
		fmt.Fprintf(&b, "\n> %s\n", line(q))
	}
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "\n%s %s\n", strings.Repeat("#", s.Level), line(s.Heading))
		for _, bl := range s.Blocks {
			if bl.Marker == "" && bl.Table == nil && line(bl.Text) == "" {
				continue
			}
			b.WriteByte('\n')
			switch {
			case bl.Marker != "":
				fmt.Fprintf(&b, "<!-- %s -->\n", strings.ReplaceAll(line(bl.Marker), "-->", "--&gt;"))
			case bl.Table != nil:
				bl.Table.render(&b)
			default:
				text := line(bl.Text)
				if strings.HasPrefix(text, "#") || strings.HasPrefix(text, ">") || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "<!--") || strings.HasPrefix(text, "\\") || text == "---" {
					text = "\\" + text
				}
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}

// line keeps a text on one line.
func line(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", " ", "\n", " ").Replace(s))
}

func (t *Table) render(b *strings.Builder) {
	row := func(cells []string) {
		b.WriteByte('|')
		for _, c := range cells {
			fmt.Fprintf(b, " %s |", strings.NewReplacer("\\", "\\\\", "|", "\\|").Replace(line(c)))
		}
		b.WriteByte('\n')
	}
	row(t.Header)
	b.WriteString("|" + strings.Repeat("---|", len(t.Header)) + "\n")
	for _, r := range t.Rows {
		row(r)
	}
}

// ParseError is a line that is not what Render writes.
type ParseError struct {
	Line int
	Want string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("report: line %d: expected %s", e.Line, e.Want)
}

// Parse reads a document that Render wrote, or another tool in the same format.
func Parse(text string) (*Doc, error) {
	d := &Doc{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	titled := false
	add := func(b Block) bool {
		if len(d.Sections) == 0 {
			return false
		}
		s := &d.Sections[len(d.Sections)-1]
		s.Blocks = append(s.Blocks, b)
		return true
	}
	for i := 0; i < len(lines); i++ {
		l := strings.TrimSpace(lines[i])
		level := len(l) - len(strings.TrimLeft(l, "#"))
		ok := true
		switch {
		case l == "" || l == "---":
		case level == 1 && strings.HasPrefix(l, "# "):
			if titled {
				return nil, &ParseError{i + 1, "one title"}
			}
			d.Title, titled = strings.TrimSpace(l[1:]), true
		case level > 1 && level < 7 && strings.HasPrefix(l[level:], " "):
			d.Add(Section{Level: level, Heading: strings.TrimSpace(l[level:])})
		case strings.HasPrefix(l, ">") && len(d.Sections) == 0:
			d.Quotes = append(d.Quotes, strings.TrimSpace(l[1:]))
		case len(l) >= len("<!---->") && strings.HasPrefix(l, "<!--") && strings.HasSuffix(l, "-->"):
			ok = add(Block{Marker: strings.ReplaceAll(strings.TrimSpace(l[4:len(l)-3]), "--&gt;", "-->")})
		case strings.HasPrefix(l, "|"):
			t := &Table{Header: cells(l)}
			if len(t.Header) == 0 {
				return nil, &ParseError{i + 1, "cells in the table's header"}
			}
			if i++; i >= len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[i]), "|--") && !strings.HasPrefix(strings.TrimSpace(lines[i]), "| --") && !strings.HasPrefix(strings.TrimSpace(lines[i]), "|:-") {
				return nil, &ParseError{i + 1, "a rule below the table's header"}
			}
			for i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "|") {
				i++
				row := cells(strings.TrimSpace(lines[i]))
				if len(row) != len(t.Header) {
					return nil, &ParseError{i + 1, fmt.Sprintf("%d cells", len(t.Header))}
				}
				t.Rows = append(t.Rows, row)
			}
			ok = add(Block{Table: t})
		default:
			if text := strings.TrimSpace(strings.TrimPrefix(l, "\\")); text != "" {
				ok = add(Block{Text: text})
			}
		}
		if !ok {
			return nil, &ParseError{i + 1, "a heading before the text"}
		}
	}
	if !titled {
		return nil, &ParseError{1, "a title"}
	}
	return d, nil
}

// cells splits a table's line at the bars that are not escaped.
func cells(l string) []string {
	l = strings.TrimPrefix(l, "|")
	var out []string
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		switch {
		case l[i] == '\\' && i+1 < len(l) && (l[i+1] == '|' || l[i+1] == '\\'):
			i++
			b.WriteByte(l[i])
		case l[i] == '|':
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteByte(l[i])
		}
	}
	if rest := strings.TrimSpace(b.String()); rest != "" {
		out = append(out, rest)
	}
	return out
}
