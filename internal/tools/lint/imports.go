// This file implements the rules on imports: which modules the library needs, and which of its
// folders may import which.

package lint

import (
	"slices"
	"strconv"
	"strings"
)

// module is the path under which importers know the library.
// It stands in go.mod as well, which is not read: a tree that is checked need not be this repository.
const module = "github.com/apportion/apportion"

// allowedModules are the modules that a program gets into its build by importing this library.
// Each of them is one more that importers must trust, so that this list grows by a decision only.
var allowedModules = []string{"gonum.org/v1/gonum", "golang.org/x/exp", "google.golang.org/protobuf"}

// ground are the folders on which every package stands.
var ground = []string{"internal/exact", "internal/check", "internal/enum", "internal/number", "internal/invariant"}

// layers says what the files of a folder may import of this module: the root, their own folder and
// the folders listed, each with all that lies below, and everyone may import the shared ground. The
// first folder that a file lies in counts; a folder that is not here may import everything.
var layers = []struct {
	folder string
	below  []string
}{
	// The root is vocabulary, and stands below everything else.
	{".", nil},
	// drf answers its question alone.
	{"drf", nil},
	// The simulator plays all policies, and is looked for before placement, below which it lies.
	{"placement/sim", []string{"alloc", "drf", "growth", "placement", "primaldual"}},
	{"placement", nil},
	{"growth", []string{"placement"}},
	// The bridge, and the controller that stands on it, alone know allocations and checkpoints, so that neither knows the
	// other.
	{"checkpoint/bridge", []string{"alloc", "checkpoint"}},
	{"checkpoint/controller", []string{"alloc", "checkpoint", "drf", "placement/sim"}},
	{"checkpoint/page", []string{"alloc", "checkpoint", "placement/sim"}},
	{"checkpoint", []string{"internal/regular"}},
	// The layer of linear programs serves alloc and primaldual, and knows neither.
	{"alloc/milp", nil},
	{"alloc", []string{"drf", "placement"}},
	{"primaldual", []string{"alloc/milp", "placement"}},
	// The shared ground stands on nothing but the root.
	{"internal/exact", nil},
	{"internal/check", nil},
	{"internal/enum", nil},
	{"internal/number", nil},
	{"internal/invariant", nil},
}

// checkImports refuses imports that a file of its folder may not have. Modules of their own may import what
// they like from outside.
func (t *files) checkImports(f *file) {
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		// The slash at the end makes the root itself, which has no folder, begin like the others.
		own, isOwn := strings.CutPrefix(name+"/", module+"/")
		switch {
		// Examples show what a stranger may do, who can import nothing below internal: the library has to be enough.
		case within(f.dir, "examples") && !f.test && within(own, "internal"):
			t.add(f, spec.Pos(), "an example imports %s, which nobody else may", name)
		// Modules of their own fetch what they like: nobody gets it by importing the library.
		case f.nested:
		case isOwn:
			if !mayImport(f.dir, strings.TrimSuffix(own, "/")) {
				t.add(f, spec.Pos(), "%s may not import %s", f.dir, name)
			}
		// Helpers below internal stand in for test files, which may import anything.
		case helpsOurTests(f.dir):
		case !isStandard(name) && !slices.ContainsFunc(allowedModules, func(m string) bool { return within(name, m) }):
			t.add(f, spec.Pos(), "imports %s, which is not on the list of modules", name)
		}
	}
}

// mayImport reports whether the files of dir may import this module's package in the folder own;
// "" is the root. Helpers for tests may import the oracles too.
func mayImport(dir, own string) bool {
	// No program is built from helpers for tests, so what is below them cannot get into one.
	if helpsTests(dir) && (within(own, "internal/oracle") || within(own, "internal/vfstest")) {
		return true
	}
	// The first match counts, so that a folder with a layer of its own must stand before the one around
	// it.
	for _, layer := range layers {
		if within(dir, layer.folder) {
			inside := func(folder string) bool { return within(own, folder) }
			// Own folder, ground and list: everything else is upward or sideways, and refused.
			return own == "" || inside(layer.folder) || slices.ContainsFunc(ground, inside) || slices.ContainsFunc(layer.below, inside)
		}
	}
	return true
}

// helpsOurTests reports whether dir holds helpers for tests that nobody outside can import: no program
// gets what they need into its build.
func helpsOurTests(dir string) bool {
	return helpsTests(dir) && strings.Contains("/"+dir, "/internal/")
}

// isStandard reports whether a path is one of the standard library: its first element has no dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}
