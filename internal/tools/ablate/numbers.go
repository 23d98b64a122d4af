// This file finds the named numbers of a package.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// number is one constant of a package.
type number struct {
	name, text string
	// path is the file that declares it, source its text, and from where the literal begins there.
	path   string
	source []byte
	from   int
	whole  bool
}

// numbersOf returns the constants of the files in a folder, tests apart, in the order of files and lines. What is computed
// from others is left out: it changes with them.
func numbersOf(folder string) ([]number, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []number
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		// The compiler knows the files that it replaces by their whole paths.
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, source, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.CONST {
				for _, spec := range decl.Specs {
					all = append(all, literals(spec.(*ast.ValueSpec), fset, path, source)...)
				}
			}
		}
	}
	return all, nil
}

// literals returns the constants of one line that are given as numbers.
func literals(spec *ast.ValueSpec, fset *token.FileSet, path string, source []byte) (all []number) {
	for i, value := range spec.Values {
		lit, ok := value.(*ast.BasicLit)
		if !ok || i >= len(spec.Names) || lit.Kind != token.INT && lit.Kind != token.FLOAT {
			continue
		}
		all = append(all, number{
			name: spec.Names[i].Name, text: lit.Value, path: path, source: source,
			from: fset.Position(lit.Pos()).Offset, whole: lit.Kind == token.INT,
		})
	}
	return all
}

// others returns what to put in the place of the number: half of it and twice it. Whole numbers stay whole and at least 1, so
// that 1 has no half.
func (n *number) others() (texts []string) {
	if n.whole {
		value, err := strconv.ParseInt(n.text, 0, 62)
		if err != nil || value < 1 {
			return nil // 0 has neither, and what is larger is no number that steers
		}
		if value > 1 {
			texts = append(texts, strconv.FormatInt(value/2, 10))
		}
		return append(texts, strconv.FormatInt(2*value, 10))
	}
	value, err := strconv.ParseFloat(n.text, 64)
	if err != nil || value == 0 {
		return nil
	}
	return []string{strconv.FormatFloat(value/2, 'g', -1, 64), strconv.FormatFloat(2*value, 'g', -1, 64)}
}

// replaced are the texts of files, by path, that the compiler is to see in their place.
type replaced map[string][]byte

// with returns the file of the number with another text in its place.
func (n *number) with(text string) replaced {
	changed := append([]byte(nil), n.source[:n.from]...)
	changed = append(append(changed, text...), n.source[n.from+len(n.text):]...)
	return replaced{n.path: changed}
}
