// This file prints the table of measures, one row a package.

// Shape measures the packages of a module by what the rules of CONTRIBUTING.md ask: lines of code and
// tests, comments, exported names, lengths of functions, and references that run backward. It judges
// nothing.
//
//	go run -C internal/tools ./shape ../..
//
// A reference is a pair of files of one package of which the first names something that the second
// declares. It runs backward where the files, put into the order that has the fewest such pairs, are
// read from top to bottom and the second has been passed already: a reader must go back.
package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: shape FOLDER [PATTERN...]")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

// run measures the packages of the module in dir that match patterns, all where there are none.
func run(w io.Writer, dir string, patterns []string) error {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	measured, err := load(dir, patterns)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "code\ttests\ttests/code\tcomments\texported\tfunctions p50\tp95\tmax\tlongest file\treferences\tbackward\t  package\t")
	var all measure
	for _, m := range measured {
		m.row(table)
		all.add(&m)
	}
	all.name = "all"
	all.row(table)
	return table.Flush()
}

// row writes the measures of one package.
func (m *measure) row(w io.Writer) {
	fmt.Fprintf(w, "%d\t%d\t%.2f\t%.0f%%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\t\n", m.code, m.tests, ratio(m.tests, m.code),
		100*ratio(m.comments, m.code), m.exported, m.quantile(50), m.quantile(95), m.quantile(100),
		m.longest, m.references, m.backward, m.name)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
