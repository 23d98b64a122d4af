// This file prints the table of measures, one row a package.

// Shape measures the packages of a module by what the rules of CONTRIBUTING.md ask: lines of code and
// tests, comments, exported names, lengths of functions, and references that run backward. It judges
// nothing.
//
//	go run -C internal/tools ./shape ../..
//	go run -C internal/tools ./shape -v ../.. ./alloc ./drf
//
// A reference is a pair of files of one package of which the first names something that the second
// declares. It runs backward where the files, put into the order that has the fewest such pairs, are
// read from top to bottom and the second has been passed already: a reader must go back. With -v, the
// files of each package with such references are listed in this order, and below them these references
// with the names that the first file uses.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	verbose := flag.Bool("v", false, "list the order of the files and the references that run backward")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "usage: shape [-v] FOLDER [PATTERN...]")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Args()[1:], *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
}

// run measures the packages of the module in dir that match patterns, all where there are none.
// Where verbose is set, it lists the references that run backward below the table.
func run(w io.Writer, dir string, patterns []string, verbose bool) error {
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
	if err := table.Flush(); err != nil || !verbose {
		return err
	}
	for _, m := range measured {
		if len(m.backward) > 0 {
			fmt.Fprintf(w, "\n%s, read in the order %s\n", m.name, strings.Join(m.order, ", "))
		}
		for _, r := range m.backward {
			fmt.Fprintf(w, "  %s -> %s: %s\n", r.from, r.to, strings.Join(r.names, ", "))
		}
	}
	return nil
}

// row writes the measures of one package.
func (m *measure) row(w io.Writer) {
	fmt.Fprintf(w, "%d\t%d\t%.2f\t%.0f%%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\t\n", m.code, m.tests, ratio(m.tests, m.code),
		100*ratio(m.comments, m.code), m.exported, m.quantile(50), m.quantile(95), m.quantile(100),
		m.longest, m.references, len(m.backward), m.name)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
