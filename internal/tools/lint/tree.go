// This file holds a tree of parsed Go files and what rules found in them.

package lint

import (
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

// files is a tree of parsed files and what was found in them.
type files struct {
	// set knows the lines of all files; list has the files in the order of their paths.
	set      *token.FileSet
	list     []*file
	findings []Finding
	// modules are the folders below the root with a go.mod of their own.
	modules []string
}

// file is one parsed Go file.
type file struct {
	// path is relative to the root of the tree, with slashes on every system, and dir is its folder.
	path, dir string
	test      bool
	// nested says that it belongs to a module below the root, which may import what it likes.
	nested bool
	syntax *ast.File
}

// read parses all Go files and notes the folders that are modules of their own. Folders of test data hold
// files that are no Go on purpose.
func (t *files) read(tree fs.FS) error {
	// WalkDir goes in the order of names, so that every run finds the same in the same order.
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		// A folder that cannot be read ends it all: a rule that saw half of the files would say nothing.
		case err != nil:
			return err
		// The root itself is called "." and is no hidden folder.
		case entry.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		// The go.mod of the root itself is not below it.
		case base == "go.mod" && name != base:
			t.modules = append(t.modules, path.Dir(name))
		case !entry.IsDir() && strings.HasSuffix(name, ".go"):
			return t.parse(tree, name)
		}
		return nil
	})
	// A go.mod may come behind files of its own folder, so this waits until all have been read.
	for _, f := range t.list {
		f.nested = slices.ContainsFunc(t.modules, func(module string) bool { return within(f.dir, module) })
	}
	return err
}

// parse adds one file to the tree, unless a program has written it.
func (t *files) parse(tree fs.FS, name string) error {
	// Comments are kept, since half of the rules look at them.
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	// What a program writes is held to no rule of style; the program is.
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
	// With the slash, so that allocate does not lie within alloc.
	return folder == "" || dir == folder || strings.HasPrefix(dir, folder+"/")
}

// rootComment returns the root's doc.go, or nil, which is a fault.
func (t *files) rootComment() *file {
	at := slices.IndexFunc(t.list, func(f *file) bool { return f.path == "doc.go" })
	if at < 0 || t.list[at].syntax.Doc == nil {
		t.findings = append(t.findings, Finding{"doc.go", 1, "the root package has no comment with an index"})
		return nil
	}
	return t.list[at]
}

// declarations returns the names that a file declares at its top level.
func declarations(syntax *ast.File) []string {
	var names []string
	// Only the top level: what a function declares cannot be pointed at.
	for _, decl := range syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, symbol(d))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				// An import is a spec as well, and declares nothing that could be looked for.
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
