// This file checks that public values survive JSON, and that no public type is forgotten.

package jsontest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

const module = "github.com/apportion/apportion"

// same compares all fields, also those that are not exported. A list without elements equals none.
var same = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateNaNs(),
	cmp.Exporter(func(reflect.Type) bool { return true }),
}

// again returns what JSON makes of a value.
func again(v any) (any, []byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, nil, err
	}
	read := reflect.New(reflect.TypeOf(v))
	err = json.Unmarshal(text, read.Interface())
	return read.Elem().Interface(), text, err
}

// What is written is read back. Infinities and NaN survive as well, or are refused: nothing is changed in silence. Types
// that may hold infinite answers do not refuse.
func TestPropRoundTrip(t *testing.T) {
	for _, rt := range survivors {
		for _, numbers := range []string{"finite", "infinite"} {
			t.Run(rt.String()+"/"+numbers, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					d := &drawer{t: t, infinite: numbers == "infinite"}
					want := d.value(rt).Interface()
					got, text, err := again(want)
					var unsupported *json.UnsupportedValueError
					if d.infinite && errors.As(err, &unsupported) && !slices.Contains(infinite, rt) {
						return
					}
					must.Do(t, err, want, text)
					must.Equal(t, cmp.Diff(want, got, same), "", text)
				})
			})
		}
	}
}

// An enumeration is text, and its texts differ.
func TestEnumerations(t *testing.T) {
	for _, rt := range survivors {
		if kind := rt.Kind(); kind >= reflect.Int && kind <= reflect.Uint64 && values(rt) == nil && !slices.Contains(numbers, rt.String()) {
			t.Errorf("%v has no texts", rt)
		}
		seen := make(map[string]bool)
		for _, v := range values(rt) {
			text, err := json.Marshal(v.Interface())
			if err != nil || text[0] != '"' || seen[string(text)] {
				t.Errorf("%v %d is written as %s, %v", rt, v.Interface(), text, err)
			}
			seen[string(text)] = true
		}
	}
}

// Every exported type of the library that has a value to write is a survivor or has a reason not to be.
func TestNoTypeForgotten(t *testing.T) {
	listed := make(map[string]bool)
	for _, rt := range survivors {
		name, _, _ := strings.Cut(rt.Name(), "[")
		listed[strings.TrimPrefix(strings.TrimPrefix(rt.PkgPath(), module), "/")+"."+name] = true
	}
	exported := exportedTypes(t)
	for _, name := range exported {
		switch reason, isExempt := exempt[name]; {
		case !listed[name] && !isExempt:
			t.Errorf("%s is neither among the survivors nor exempt", name)
		case listed[name] && isExempt:
			t.Errorf("%s survives and is exempt: %s", name, reason)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exempt)) {
		if !slices.Contains(exported, name) {
			t.Errorf("%s is exempt and does not exist, or needs no reason", name)
		}
	}
}

// exportedTypes returns the exported types of the library, as "folder.Name". Interfaces, functions and
// structures without exported fields hold nothing to write and are left out.
func exportedTypes(t *testing.T) []string {
	var names []string
	root := os.DirFS("../..")
	must.Do(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir
			}
			if base := path.Base(name); base == "internal" || base == "examples" || base == "testdata" ||
				strings.HasSuffix(base, "test") || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := strings.TrimPrefix(path.Dir(name), ".")
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok && spec.Name.IsExported() && !spec.Assign.IsValid() && holdsData(spec.Type) {
				names = append(names, folder+"."+spec.Name.Name)
			}
			_, inFunction := node.(*ast.FuncDecl)
			return !inFunction
		})
		return nil
	}))
	return names
}

// holdsData reports whether values of a type hold something to write.
func holdsData(expr ast.Expr) bool {
	switch e := expr.(type) {
	case *ast.InterfaceType, *ast.FuncType:
		return false
	case *ast.StructType:
		for _, field := range e.Fields.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
				return true
			}
		}
		return false
	}
	return true
}

// Answers that may be infinite say so in JSON too.
func TestInfiniteAnswers(t *testing.T) {
	inf := math.Inf(1)
	for _, want := range []any{
		alloc.Decision{Status: alloc.Decided, Bound: inf, Gap: inf},
		solver.Solution{Bound: inf},
		milp.Solution{Status: milp.Infeasible, Objective: math.NaN(), Bound: -inf},
		primaldual.Certificate{Bound: 3, Ratio: inf},
	} {
		got, text, err := again(want)
		if diff := cmp.Diff(want, got, same); diff != "" || err != nil {
			t.Errorf("%T: %v, %s (-written +read):\n%s", want, err, text, diff)
		}
	}
}
