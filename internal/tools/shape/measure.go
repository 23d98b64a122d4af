// This file measures one package: lines, comments, names and functions.

package main

import (
	"cmp"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// measure is what is known of one package, or of all together.
type measure struct {
	name string
	// code and tests are lines of files, comments those lines of code that hold nothing else.
	code, tests, comments int
	// exported counts types, functions, methods, constants and variables with an exported name.
	exported int
	// lengths are the lines of each function, signature and body.
	lengths []int
	// longest is the number of lines of the longest file.
	longest int
	// references counts pairs of files.
	references int
	// order holds the names of the files in the order that has the fewest backward references.
	order []string
	// backward lists the references that run against this order, in the order of the files that name.
	backward []reference
}

// reference is a pair of files of which from names what to declares.
type reference struct {
	from, to string
	// names holds what from uses of to, ascending, methods by their name alone.
	names []string
}

// load measures every package of the module in dir that matches patterns, ascending by path.
func load(dir string, patterns []string) ([]measure, error) {
	config := &packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}
	found, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}
	var measured []measure
	for _, p := range found {
		for _, fault := range p.Errors {
			err = errors.Join(err, fault)
		}
		if len(p.GoFiles) > 0 {
			m, fault := measurePackage(p)
			measured, err = append(measured, m), errors.Join(err, fault)
		}
	}
	slices.SortFunc(measured, func(a, b measure) int { return cmp.Compare(a.name, b.name) })
	return measured, err
}

func measurePackage(p *packages.Package) (measure, error) {
	m := measure{name: p.PkgPath}
	if p.Module != nil {
		m.name = "." + strings.TrimPrefix(p.PkgPath, p.Module.Path)
	}
	for _, f := range p.Syntax {
		if !slices.Contains(p.GoFiles, p.Fset.File(f.FileStart).Name()) {
			continue // cgo wrote it
		}
		lines := p.Fset.Position(f.FileEnd).Line
		m.code += lines
		m.longest = max(m.longest, lines)
		m.comments += commentLines(p.Fset, f)
		m.declarations(p.Fset, f)
	}
	m.refer(p)
	tests, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*_test.go"))
	for _, name := range tests {
		text, fault := os.ReadFile(name)
		m.tests += strings.Count(string(text), "\n")
		err = errors.Join(err, fault)
	}
	return m, err
}

// commentLines returns the lines of f that hold a comment and no code.
func commentLines(fset *token.FileSet, f *ast.File) int {
	coded := make(map[int]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File, *ast.Comment, *ast.CommentGroup:
			return n != nil
		}
		coded[fset.Position(n.Pos()).Line] = true
		return true
	})
	count := 0
	for _, group := range f.Comments {
		for _, comment := range group.List {
			for line := fset.Position(comment.Pos()).Line; line <= fset.Position(comment.End()).Line; line++ {
				if !coded[line] {
					count++
				}
			}
		}
	}
	return count
}

// declarations counts the exported names of f and notes the lengths of its functions.
func (m *measure) declarations(fset *token.FileSet, f *ast.File) {
	count := func(name *ast.Ident) {
		if name.IsExported() {
			m.exported++
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			count(d.Name)
			m.lengths = append(m.lengths, fset.Position(d.End()).Line-fset.Position(d.Pos()).Line+1)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					count(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						count(name)
					}
				}
			}
		}
	}
}

// quantile returns the length below which percent of the functions are, 0 where there is none.
func (m *measure) quantile(percent int) int {
	if len(m.lengths) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.lengths))
	return sorted[min(len(sorted)-1, percent*len(sorted)/100)]
}

// add adds the measures of another package.
func (m *measure) add(o *measure) {
	m.code, m.tests, m.comments = m.code+o.code, m.tests+o.tests, m.comments+o.comments
	m.exported += o.exported
	m.lengths = append(m.lengths, o.lengths...)
	m.longest = max(m.longest, o.longest)
	m.references, m.backward = m.references+o.references, append(m.backward, o.backward...)
}

// refer counts the pairs of files of p of which one names what the other declares, and lists those
// that run backward.
func (m *measure) refer(p *packages.Package) {
	position := make(map[*token.File]int, len(p.Syntax))
	for i, f := range p.Syntax {
		position[p.Fset.File(f.FileStart)] = i
	}
	g := newGraph(len(p.Syntax))
	names := make(map[[2]int][]string)
	for name, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !named(p, object) {
			continue
		}
		from, in := position[p.Fset.File(name.Pos())]
		to, out := position[p.Fset.File(object.Pos())]
		if in && out && from != to {
			g[from][to] = true
			names[[2]int{from, to}] = append(names[[2]int{from, to}], name.Name)
		}
	}
	m.references = g.arcs()
	// The position of the package clause names the file that a person wrote, where cgo rewrote it.
	file := func(i int) string { return filepath.Base(p.Fset.Position(p.Syntax[i].Package).Filename) }
	order := g.order()
	for _, i := range order {
		m.order = append(m.order, file(i))
	}
	for _, arc := range g.backward(order) {
		used := slices.Sorted(slices.Values(names[arc]))
		m.backward = append(m.backward, reference{from: file(arc[0]), to: file(arc[1]), names: slices.Compact(used)})
	}
}

// named reports whether object is declared by a name of the package or is a method or a field of one.
func named(p *packages.Package, object types.Object) bool {
	if object.Parent() == p.Types.Scope() {
		return true
	}
	f, isFunc := object.(*types.Func)
	return isFunc && f.Signature().Recv() != nil
}
