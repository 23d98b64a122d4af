// This file implements the rule on the index "paper -> file -> name" in the root package comment.

package lint

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// checkIndex looks for the rows in the root's doc.go: every row must point at something, and there
// must be one for each folder of packages that compute.
func (t *files) checkIndex() {
	at := slices.IndexFunc(t.list, func(f *file) bool { return f.path == "doc.go" })
	if at < 0 || t.list[at].syntax.Doc == nil {
		t.findings = append(t.findings, Finding{"doc.go", 1, "the root package has no comment with an index"})
		return
	}
	doc := t.list[at]
	var indexed []string // the folders of the files that rows name
	for _, line := range doc.syntax.Doc.List {
		if row, ok := strings.CutPrefix(line.Text, "//\t["); ok {
			if file, ok := t.checkRow(doc, line, "["+row); ok {
				indexed = append(indexed, path.Dir(file))
			}
		}
	}
	for _, folder := range computing {
		exists := slices.ContainsFunc(t.list, func(f *file) bool { return !f.test && f.computes() && within(f.dir, folder) })
		if exists && !slices.ContainsFunc(indexed, func(dir string) bool { return within(dir, folder) }) {
			t.add(doc, doc.syntax.Doc.Pos(), "the index has no row for %s", folder)
		}
	}
}

// checkRow checks one row and returns the file that it names.
func (t *files) checkRow(doc *file, line *ast.Comment, row string) (name string, ok bool) {
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
	declared := declarations(t.list[at].syntax)
	for _, name := range strings.Split(cells[2], ", ") {
		if !slices.Contains(declared, name) {
			t.add(doc, line.Pos(), "the index names %s, which %s does not declare", name, cells[1])
		}
	}
	return cells[1], true
}

// declarations returns the names that a file declares at its top level.
func declarations(syntax *ast.File) []string {
	var names []string
	for _, decl := range syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, symbol(d))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}
