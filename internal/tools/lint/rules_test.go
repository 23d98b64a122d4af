// This file tests what the rules stand on, each by itself: names, paths, words, and what a tree is made of.

package lint

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// parsed returns the syntax of a text.
func parsed(t *testing.T, text string) *ast.File {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return syntax
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		dir, folder string
		want        bool
	}{
		{"alloc", "alloc", true}, {"alloc/milp/bb", "alloc", true}, {"allocate", "alloc", false}, {"alloc", "alloc/milp", false},
		{"x/alloc", "alloc", false}, {"drf", "", true}, {".", "", true}, {".", ".", true}, {"drf", ".", false},
	} {
		if got := within(test.dir, test.folder); got != test.want {
			t.Errorf("within(%q, %q) is %t", test.dir, test.folder, got)
		}
	}
}

// Layers are looked for from the first on: a folder below another one with a layer of its own stands before it.
func TestMayImport(t *testing.T) {
	for _, test := range []struct {
		dir, own string
		want     bool
	}{
		{"drf", "", true}, {"drf", "drf/inner", true}, {"drf", "internal/exact", true}, {"drf", "placement", false},
		{"alloc/solver", "drf", true}, {"alloc/mip", "alloc/milp", true}, {"alloc/milp", "alloc", false}, {"alloc", "growth", false},
		{"placement", "alloc", false}, {"placement/sim", "alloc", true}, {"placement/sim/policies", "primaldual", true}, {"placement/sim", "checkpoint", false},
		{"growth/specon", "placement", true}, {"primaldual", "alloc/milp/bb", true}, {"primaldual", "alloc", false},
		{"checkpoint/bridge", "alloc", true}, {"checkpoint/driver", "alloc", false}, {"checkpoint", "internal/regular", true},
		{".", "drf", false}, {".", "internal/check", true}, {"internal/exact", "internal/regular", false},
		{"examples/quickstart", "checkpoint", true}, {"internal/jsontest", "alloc", true},
		// Helpers for tests reach the oracles, wherever they lie, and nothing else upward.
		{"drf/drftest", "internal/oracle/drforacle", true}, {"drf", "internal/oracle/drforacle", false}, {"drf/drftest", "alloc", false},
	} {
		if got := mayImport(test.dir, test.own); got != test.want {
			t.Errorf("%s imports %q: %t", test.dir, test.own, got)
		}
	}
	// A row that an earlier one hides would never be asked.
	for i, layer := range layers {
		for _, before := range layers[:i] {
			if within(layer.folder, before.folder) {
				t.Errorf("the layer of %s is hidden by that of %s", layer.folder, before.folder)
			}
		}
	}
}

// What is named in the lists of folders exists: a list that outlives a folder would protect nothing.
func TestListsNameFolders(t *testing.T) {
	names := slices.Concat(computing, effectful, ground, renaming)
	for _, layer := range layers {
		names = append(names, layer.folder)
		names = append(names, layer.below...)
	}
	for _, rule := range apart {
		names = append(names, rule.folder)
	}
	for _, name := range names {
		if _, err := os.Stat("../../../" + name); err != nil {
			t.Error(err)
		}
	}
}

func TestComputes(t *testing.T) {
	for dir, want := range map[string]bool{
		"drf": true, "alloc/milp": true, "alloc/milp/bb": false, "alloc/milp/milptest": false, "checkpoint": true, "checkpoint/vfs": false,
		"placement/sim": true, "placement/sim/simtest": false, "internal/tools/lint": false, ".": false, "examples": false,
	} {
		if got := (&file{dir: dir}).computes(); got != want {
			t.Errorf("%s: %t, want %t", dir, got, want)
		}
	}
	if (&file{dir: "drf", nested: true}).computes() {
		t.Error("a module of its own is held to what the library is held to")
	}
}

func TestIsStandard(t *testing.T) {
	for name, want := range map[string]bool{"fmt": true, "math/rand/v2": true, "C": true, "gonum.org/v1/gonum": false, "example.com": false} {
		if got := isStandard(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A name is one word for each hump, a text one for each run of letters; digits belong to no word.
func TestWordsOf(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  nil,
		"keepableRooms":     {"keepable", "rooms"},
		"NewHTTPServer":     {"new", "httpserver"},
		"x1y2":              {"x", "y"},
		"// f kicks, then":  {"f", "kicks", "then"},
		"snake_case":        {"snake", "case"},
		"Größe überall":     {"größe", "überall"},
		"LimitsOfScarceGPU": {"limits", "of", "scarce", "gpu"},
	} {
		if diff := cmp.Diff(want, wordsOf(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestPrivate(t *testing.T) {
	for word, want := range map[string]bool{
		"toll": true, "tolls": true, "heeded": true, "mending": true, "kicks": true, "plant": true, "plants": true, "planted": false,
		"tollbooth": false, "amend": false, "mended": true, "": false, "s": false, "ing": false,
	} {
		better, got := private(word)
		if got != want || got && better == "" {
			t.Errorf("%q: %t, %q", word, got, better)
		}
	}
}

// Names of imports are those of the file, whatever the package calls itself.
func TestImportNames(t *testing.T) {
	got := importNames(parsed(t, `package a
import ("math/rand/v2"; clock "time"; _ "embed"; "go/ast")`))
	want := map[string]string{"rand": "math/rand/v2", "clock": "time", "_": "embed", "ast": "go/ast"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestHasEffect(t *testing.T) {
	for _, test := range []struct {
		name, symbol string
		want         bool
	}{
		{"time", "Now", true}, {"time", "Duration", false}, {"math/rand/v2", "IntN", true}, {"math/rand/v2", "NewPCG", false},
		{"math/rand", "Seed", true}, {"math/rand", "Rand", false}, {"fmt", "Println", true}, {"fmt", "Sprint", false},
		{"os", "Exit", false}, {"", "Now", false}, // os is told of at its import; "" is no package
	} {
		if got := hasEffect(test.name, test.symbol); got != test.want {
			t.Errorf("%s.%s: %t", test.name, test.symbol, got)
		}
	}
}

// A file declares types, constants, variables, functions, and methods by their type, generic or not.
func TestDeclarations(t *testing.T) {
	got := declarations(parsed(t, `package a
import "fmt"
type ( T int; G[A any] struct{}; H[A, B any] struct{} )
const One, two = 1, 2
var v = fmt.Sprint()
func F() {}
func (T) M() {}
func (t *T) p() {}
func (*G[A]) M() {}
func (h H[A, B]) M() { type local int }
func (*(T)) odd() {}`))
	want := []string{"T", "G", "H", "One", "two", "v", "F", "T.M", "T.p", "G.M", "H.M", ".odd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The files of a tree are all Go files but those of test data, hidden folders and generators; a go.mod below
// the root makes a module of its folder and of all below it.
func TestRead(t *testing.T) {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod": "module m\n", "a.go": "package a\n", "sub/b_test.go": "package b\n", "sub/deep/c.go": "package c\n",
		"mod/go.mod": "module n\n", "mod/d.go": "package d\n", "mod/in/e.go": "package e\n", "model/f.go": "package f\n",
		"testdata/x.go": "no Go", "sub/.hidden/x.go": "no Go", "sub/x.txt": "no Go",
		"gen.go": "// Code generated by x. DO NOT EDIT.\n\npackage a\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	files := &files{set: token.NewFileSet()}
	if err := files.read(tree); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files.list {
		text := f.dir + ":" + f.path
		if f.test {
			text += " test"
		}
		if f.nested {
			text += " nested"
		}
		got = append(got, text)
	}
	want := []string{".:a.go", "mod:mod/d.go nested", "mod/in:mod/in/e.go nested", "model:model/f.go", "sub:sub/b_test.go test", "sub/deep:sub/deep/c.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// broken is a tree in which one file cannot be read.
type broken struct{ fs.FS }

func (b broken) Open(name string) (fs.File, error) {
	if name == "drf/fill.go" {
		return nil, fs.ErrPermission
	}
	return b.FS.Open(name)
}

func TestUnreadableFile(t *testing.T) {
	if findings, err := Check(broken{tree(nil)}); !errors.Is(err, fs.ErrPermission) || findings != nil {
		t.Errorf("error %v, findings %v", err, findings)
	}
}

// Findings come in the order of paths and lines, whichever rule found them.
func TestFindingsAreSorted(t *testing.T) {
	findings, err := Check(tree(map[string]string{
		"drf/b.go": "package drf\n\nfunc B() { go B() }\n\ntype T int\n",
		"drf/a.go": "package drf\n\nimport \"os\"\n\nvar A = os.Args\n",
	}))
	want := []string{
		"drf/a.go:3: imports os in a package that only computes",
		"drf/a.go:5: exported A has no comment",
		"drf/b.go:3: exported B has no comment",
		"drf/b.go:3: starts a goroutine in a package that only computes",
		"drf/b.go:5: exported type T has no comment",
	}
	if diff := cmp.Diff(want, texts(findings)); diff != "" || err != nil {
		t.Errorf("error %v, findings (-want +got):\n%s", err, diff)
	}
}
