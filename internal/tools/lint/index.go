// This file implements the rule on the index "paper -> file -> name" in the root package comment.

package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// checkIndex checks the rows in the root's doc.go and its references, and that every file that implements an algorithm has a
// row.
func (t *files) checkIndex(doc *file) {
	keys := t.checkReferences(doc)
	indexed := t.checkRows(doc, keys)
	for _, f := range t.list {
		// The first comment of a file is the detached one that says what it implements.
		if len(f.syntax.Comments) == 0 || f.syntax.Comments[0] == f.syntax.Doc {
			continue
		}
		opening := f.syntax.Comments[0]
		cited := citation.FindAllStringSubmatch(opening.Text(), -1)
		for _, found := range cited {
			if !slices.Contains(keys, found[1]) {
				t.add(f, opening.Pos(), "cites [%s], which is not among the references", found[1])
			}
		}
		if len(cited) > 0 && f.implements() && !slices.Contains(indexed, f.path) {
			t.add(f, opening.Pos(), "implements an algorithm of %s, for which the index has no row", cited[0][1])
		}
	}
}

// checkRows checks all rows and returns the files that they name. The key of a row begins with that of a reference, or ends
// in "no paper" or in a question mark.
func (t *files) checkRows(doc *file, keys []string) (indexed []string) {
	// Two rows of one key would be two answers to one question.
	seen := make(map[string]bool)
	for _, line := range doc.syntax.Doc.List {
		// A row is a preformatted line that begins with a bracket; other preformatted text is left alone.
		row, ok := strings.CutPrefix(line.Text, "//\t[")
		if !ok {
			continue
		}
		name, ok := t.checkRow(doc, line, "["+row)
		if !ok {
			continue
		}
		indexed = append(indexed, name)
		key, _, _ := strings.Cut(row, "]")
		if seen[key] {
			t.add(doc, line.Pos(), "the index has the key [%s] twice", key)
		}
		seen[key] = true
		paper := !strings.HasSuffix(key, ", no paper") && !strings.HasSuffix(key, "?")
		if found := citation.FindStringSubmatch("[" + row); paper && (found == nil || !slices.Contains(keys, found[1])) {
			t.add(doc, line.Pos(), "the key [%s] of the index begins with no reference", key)
		}
	}
	return indexed
}

var (
	// citation finds the key of a paper or book in a text: "[Dorm" or "[Irwin04".
	citation = regexp.MustCompile(`\[([A-Z][A-Za-z]*[0-9]*)[^\]]*\]`)
	// reference finds the items of the root's list that begin with a key.
	reference = regexp.MustCompile(`(?m)^  - \[(\w+)\] (.*\n(?:    .*\n)*)`)
)

// checkReferences returns the keys of the list of references, in which a key and a paper may be once.
func (t *files) checkReferences(doc *file) (keys []string) {
	papers := make(map[string]string)
	for _, entry := range reference.FindAllStringSubmatch(doc.syntax.Doc.Text(), -1) {
		// Initials end in periods as well, so that the longest sentence of an entry is its title.
		title := slices.MaxFunc(strings.Split(strings.Join(strings.Fields(entry[2]), " "), ". "),
			func(a, b string) int { return len(a) - len(b) })
		if other := papers[title]; other != "" {
			t.add(doc, doc.syntax.Doc.Pos(), "the references have %q as [%s] and as [%s]", title, other, entry[1])
		}
		if slices.Contains(keys, entry[1]) {
			t.add(doc, doc.syntax.Doc.Pos(), "the references have the key [%s] twice", entry[1])
		}
		papers[title] = entry[1]
		keys = append(keys, entry[1])
	}
	return keys
}

// implements reports whether f says that it implements something. Tests, commands, twins, which would compete with the
// real ones, and other modules need no row.
func (f *file) implements() bool {
	return !f.test && !f.nested && f.syntax.Name.Name != "main" && !within(f.dir, "internal/oracle") &&
		strings.HasPrefix(f.syntax.Comments[0].Text(), "This file implements ")
}

func (t *files) checkRow(doc *file, line *ast.Comment, row string) (name string, ok bool) {
	// gofmt leaves tabs within a preformatted line alone, so they separate cells safely.
	cells := strings.Split(row, "\t")
	if len(cells) != 3 || !strings.HasSuffix(cells[0], "]") {
		t.add(doc, line.Pos(), "index row %q has not the form \"[paper §]<tab>file<tab>names\"", row)
		return "", false
	}
	at := slices.IndexFunc(t.list, func(f *file) bool { return f.path == cells[1] })
	if at < 0 {
		t.add(doc, line.Pos(), "the index names %s, which does not exist", cells[1])
		return "", false
	}
	// Names are looked for in the very file: a row that points beside it would send its reader there.
	declared := declarations(t.list[at].syntax)
	// A method is written as Type.Method, so that two types may have methods of one name.
	for _, name := range strings.Split(cells[2], ", ") {
		if !slices.Contains(declared, name) {
			t.add(doc, line.Pos(), "the index names %s, which %s does not declare", name, cells[1])
		}
	}
	return cells[1], true
}
