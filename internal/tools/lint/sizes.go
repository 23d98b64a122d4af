// This file implements Measure: how much there is to read, to learn and to fetch.

package lint

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Measure returns the sizes that ceilings.txt bounds, by name. Lines are those of Go files that no program has written: a line of
// code has a token, a line of comment has a comment and no token. A public package is one of the library that is neither a
// program nor internal.
func Measure(tree fs.FS) (map[string]int, error) {
	t := &files{set: token.NewFileSet()}
	if err := t.read(tree); err != nil {
		return nil, err
	}
	sizes := map[string]int{}
	for _, f := range t.list {
		source, err := fs.ReadFile(tree, f.path)
		if err != nil {
			return nil, err
		}
		code, comments := countLines(source)
		if f.test {
			sizes["lines of tests"] += code
			continue
		}
		sizes["lines of code"] += code
		sizes["lines of comments"] += comments
		if !f.nested {
			sizes["lines of code of the library"] += code
		}
	}
	t.countNames(sizes)
	return sizes, nil
}

// countLines returns how many lines of a source have a token, and how many have a comment alone.
func countLines(source []byte) (code, comments int) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, source, nil, scanner.ScanComments)
	// kind has true for lines of code and false for lines of comment; code prevails.
	kind := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			for _, isCode := range kind {
				if isCode {
					code++
				} else {
					comments++
				}
			}
			return code, comments
		// The scanner inserts semicolons at the end of lines.
		case tok == token.SEMICOLON && text == "\n":
			continue
		}
		for i := range 1 + strings.Count(strings.TrimRight(text, "\n"), "\n") {
			kind[file.Line(pos)+i] = kind[file.Line(pos)+i] || tok != token.COMMENT
		}
	}
}

// countNames counts public packages, their exported types and functions, constants and variables, and those of the types and
// functions that no file outside the package names: neither another package, nor a test of the package that stands outside it.
func (t *files) countNames(sizes map[string]int) {
	packages, named := map[string]bool{}, t.namedOutside()
	for _, f := range t.list {
		if f.test || f.nested || f.syntax.Name.Name == "main" || strings.Contains("/"+f.dir+"/", "/internal/") {
			continue
		}
		packages[f.dir] = true
		importPath := path.Join(module, f.dir)
		for _, decl := range f.syntax.Decls {
			for name, isValue := range exported(decl) {
				sizes["exported names"]++
				if !isValue && !named[importPath+"."+name] {
					sizes["types and functions that only their package names"]++
				}
			}
		}
	}
	sizes["public packages"] = len(packages)
}

// exported returns the exported names that a declaration adds to its package, without methods, and which of them are values.
func exported(decl ast.Decl) map[string]bool {
	names := map[string]bool{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			names[d.Name.Name] = false
		}
	case *ast.GenDecl:
		for _, name := range declarations(&ast.File{Decls: []ast.Decl{d}}) {
			if token.IsExported(name) {
				names[name] = d.Tok != token.TYPE
			}
		}
	}
	return names
}

// namedOutside returns all that files name of other packages, as path.Name.
func (t *files) namedOutside() map[string]bool {
	named := map[string]bool{}
	for _, f := range t.list {
		paths := map[string]string{}
		for _, spec := range f.syntax.Imports {
			importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
			name := path.Base(importPath)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			paths[name] = importPath
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok {
					named[paths[of.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
	return named
}
