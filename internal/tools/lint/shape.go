// This file implements the rules on single declarations: comments on what is exported, lengths of
// functions.

package lint

import (
	"go/ast"
	"go/token"
	"slices"
)

// The limits of CONTRIBUTING.md: what is longer is two functions, who needs more arguments needs a struct.
const (
	// maxLines bounds a function, which should fit on a page.
	maxLines = 80
	// maxParameters bounds what a caller must keep apart.
	maxParameters = 5
)

// checkShape refuses dot imports, which hide where a name comes from, functions that are too long, and those
// that take too many parameters. Tests are held to it as well.
func (t *files) checkShape(f *file) {
	for _, spec := range f.syntax.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			t.add(f, spec.Pos(), "imports %s with a dot", spec.Path.Value)
		}
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		// The signature and the closing brace count, comments above the function do not.
		lines := t.set.Position(fn.End()).Line - t.set.Position(fn.Pos()).Line + 1
		if lines > maxLines {
			t.add(f, fn.Pos(), "%s is %d lines long, more than %d", fn.Name.Name, lines, maxLines)
		}
		// NumFields counts names and not types: f(a, b int) has two parameters.
		if n := fn.Type.Params.NumFields(); n > maxParameters {
			t.add(f, fn.Pos(), "%s takes %d parameters, more than %d", fn.Name.Name, n, maxParameters)
		}
	}
}

// checkDocumented leaves out commands, whose names nobody can import. One comment may stand over a
// group of constants or variables.
func (t *files) checkDocumented(f *file) {
	if f.syntax.Name.Name == "main" {
		return
	}
	for _, decl := range f.syntax.Decls {
		// Only what a reader of the documentation sees is asked for; the rest is a matter of taste.
		switch d := decl.(type) {
		case *ast.FuncDecl:
			// A method of an unexported type is found by nobody who reads the documentation.
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || token.IsExported(receiver(d))) {
				t.add(f, d.Pos(), "exported %s has no comment", symbol(d))
			}
		case *ast.GenDecl:
			// Constants, variables and types; imports have no name of their own and pass.
			for _, spec := range d.Specs {
				t.checkSpec(f, d, spec)
			}
		}
	}
}

// checkSpec refuses an exported type without a comment of its own, and an exported constant or variable that
// has none and stands in no group that has one.
func (t *files) checkSpec(f *file, decl *ast.GenDecl, spec ast.Spec) {
	// A declaration in parentheses has one comment for all that is in it.
	grouped := decl.Lparen.IsValid()
	switch s := spec.(type) {
	case *ast.TypeSpec:
		// The comment of a group says what its types have in common, not what each is for.
		if s.Name.IsExported() && s.Doc == nil && (grouped || decl.Doc == nil) {
			t.add(f, s.Pos(), "exported type %s has no comment", s.Name.Name)
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil || decl.Doc != nil {
			return
		}
		// One finding for each line is enough: one comment removes it.
		if i := slices.IndexFunc(s.Names, (*ast.Ident).IsExported); i >= 0 {
			t.add(f, s.Pos(), "exported %s has no comment", s.Names[i].Name)
		}
	}
}

// checkPackageComments wants one package comment in each folder, in whichever file.
func (t *files) checkPackageComments() {
	// documented knows folders, since any file of a package may have its comment, an external test too.
	documented := make(map[string]bool)
	for _, f := range t.list {
		documented[f.dir] = documented[f.dir] || f.syntax.Doc != nil
	}
	for _, f := range t.list {
		if !f.test && !documented[f.dir] {
			documented[f.dir] = true // once for each package
			t.add(f, f.syntax.Package, "package %s has no comment", f.syntax.Name.Name)
		}
	}
}

// symbol returns the name of a function as the index writes it: Func or Type.Method.
func symbol(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

// receiver returns the name of the type that a method belongs to, or "".
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	expr := fn.Recv.List[0].Type
	for {
		// A receiver is a name, behind a star, or with its type parameters, in any order of these.
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
