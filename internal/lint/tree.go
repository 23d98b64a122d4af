// This file implements Check: it parses the Go files of a tree and asks every rule about them.

package lint

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Finding is one place that breaks a rule.
type Finding struct {
	// Path is the file, relative to the root of the tree, and Line the line in it.
	Path string
	Line int
	// Text says what is wrong.
	Text string
}

// String returns "path:line: text".
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

// Check returns every Finding in the Go files below the root of tree, ascending in path and line.
// Folders called testdata and folders whose name begins with a dot are left out. An error means
// that a file could not be read or parsed.
func Check(tree fs.FS) ([]Finding, error) {
	t := &files{set: token.NewFileSet()}
	if err := t.read(tree); err != nil {
		return nil, err
	}
	for _, f := range t.list {
		t.checkShape(f)
		t.checkWords(f)
		if f.test {
			continue
		}
		t.checkDocumented(f)
		t.checkImports(f)
		if f.computes() {
			t.checkPure(f)
		}
	}
	t.checkApart()
	t.checkPackageComments()
	t.checkIndex()
	slices.SortFunc(t.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return t.findings, nil
}

// files is a tree of parsed files and what was found in them.
type files struct {
	set      *token.FileSet
	list     []*file
	findings []Finding
	// modules are the folders below the root with a go.mod of their own.
	modules []string
}

// file is one parsed Go file.
type file struct {
	path, dir string
	test      bool
	// nested says that it belongs to a module below the root, which may import what it likes.
	nested bool
	syntax *ast.File
}

func (t *files) read(tree fs.FS) error {
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case base == "go.mod" && name != base:
			t.modules = append(t.modules, path.Dir(name))
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			return t.parse(tree, name)
		}
		return nil
	})
	for _, f := range t.list {
		f.nested = slices.ContainsFunc(t.modules, func(module string) bool { return within(f.dir, module) })
	}
	return err
}

func (t *files) parse(tree fs.FS, name string) error {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if !ast.IsGenerated(syntax) {
		t.list = append(t.list, &file{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), syntax: syntax,
		})
	}
	return nil
}

// add records a Finding at a place in a file.
func (t *files) add(f *file, pos token.Pos, format string, args ...any) {
	t.findings = append(t.findings, Finding{f.path, t.set.Position(pos).Line, fmt.Sprintf(format, args...)})
}

// within reports whether dir is folder or lies below it. Every folder lies within "".
func within(dir, folder string) bool {
	return folder == "" || dir == folder || strings.HasPrefix(dir, folder+"/")
}
