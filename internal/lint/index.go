// This file implements the rule on the index "paper -> file -> name" in the root package comment.

package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkIndex looks for the rows in the root's doc.go: every row must point at something and have a
// key of its own, and there must be one for each folder of packages that compute and for each file
// that implements an algorithm.
func (t *files) checkIndex(doc *file) {
	// indexed are the files that rows name, in any order and perhaps several times.
	indexed := t.checkRows(doc)
	// A folder that is not there yet, or holds tests only, needs no row.
	for _, folder := range computing {
		exists := slices.ContainsFunc(t.list, func(f *file) bool { return !f.test && f.computes() && within(f.dir, folder) })
		// One row suffices here. Which algorithms must have one is asked below, file by file.
		if exists && !slices.ContainsFunc(indexed, func(name string) bool { return within(path.Dir(name), folder) }) {
			t.add(doc, doc.syntax.Doc.Pos(), "the index has no row for %s", folder)
		}
	}
	keys := references(doc)
	for _, f := range t.list {
		// A file may implement several algorithms: one row is enough to find it.
		if key := f.implements(keys); key != "" && !slices.Contains(indexed, f.path) {
			t.add(f, f.syntax.Comments[0].Pos(), "implements an algorithm of %s, for which the index has no row", key)
		}
	}
}

// checkRows checks all rows and returns the files that they name.
func (t *files) checkRows(doc *file) (indexed []string) {
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
		// Only rows of the right form are compared, since the key of another is not certain.
		if seen[key] {
			t.add(doc, line.Pos(), "the index has the key [%s] twice", key)
		}
		seen[key] = true
	}
	return indexed
}

// citation finds the key of a paper or book in a text: "[Dorm" or "[Irwin04".
var citation = regexp.MustCompile(`\[([A-Z][A-Za-z]*[0-9]*)[^\]]*\]`)

// references returns the keys that the root package comment explains.
func references(doc *file) (keys []string) {
	for _, line := range doc.syntax.Doc.List {
		// A reference is an item of a list that begins with its key; links to types begin elsewhere.
		if entry, ok := strings.CutPrefix(line.Text, "//   - ["); ok {
			// Only the key is kept; title and year are for readers.
			key, _, _ := strings.Cut(entry, "]")
			keys = append(keys, key)
		}
	}
	return keys
}

// implements returns the key of the paper or book whose algorithm f says that it implements, or "".
// Commands, twins for tests and other modules need no row.
func (f *file) implements(keys []string) string {
	// A twin is the same algorithm once more, and its row would compete with the real one.
	if f.test || f.nested || f.syntax.Name.Name == "main" || within(f.dir, "internal/oracle") || len(f.syntax.Comments) == 0 {
		return ""
	}
	// The first comment of a file is the detached one that says what it implements.
	text := f.syntax.Comments[0].Text()
	if !strings.HasPrefix(text, "This file implements ") {
		return ""
	}
	for _, found := range citation.FindAllStringSubmatch(text, -1) {
		// Brackets also link to types. A key is one that the root explains, or one that ends in a year.
		if key := found[1]; slices.Contains(keys, key) || key[len(key)-1] <= '9' {
			return key
		}
	}
	return ""
}

// checkRow checks one row and returns the file that it names.
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
