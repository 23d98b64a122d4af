// This file prints tables.

package command

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Table sets rows of cells, with tabs between them, in columns that are two blanks apart. What cannot be written is told by Main.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table with its cells to the left.
func NewTable(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// RightTable returns a table with its cells to the right; a tab ends each row.
func RightTable(w io.Writer) Table {
	return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
}

// Row prints a row: its name, a cell for each of n columns, and more cells.
func (t Table) Row(name string, n int, cell func(column int) string, more ...string) {
	fmt.Fprint(t, name)
	for i := range n {
		fmt.Fprint(t, "\t", cell(i))
	}
	for _, text := range more {
		fmt.Fprint(t, "\t", text)
	}
	fmt.Fprintln(t)
}

// End ends the table with an empty line.
func (t Table) End() {
	fmt.Fprintln(t)
	t.Flush()
}

// sink is a writer that remembers its first error, so that nobody else needs to.
type sink struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.Writer.Write(p)
	}
	return n, s.err
}
