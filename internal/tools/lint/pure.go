// This file implements the rule that packages which compute have no effects.

package lint

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// computing are the folders of the packages that compute, and effectful those below them that may
// have effects: back-ends that call solvers outside, and what saves and runs jobs.
var (
	// Everything below these folders computes, unless it is listed as an exception.
	computing = []string{"drf", "alloc", "primaldual", "growth", "placement", "checkpoint"}
	effectful = []string{
		"alloc/milp/bb", "alloc/milp/ortools",
		"checkpoint/agent", "checkpoint/command", "checkpoint/driver", "checkpoint/store", "checkpoint/store/files", "checkpoint/guard", "checkpoint/managed", "checkpoint/managed/managedtest", "examples/managertest/processes", "checkpoint/controller", "checkpoint/internal/flock", "checkpoint/internal/owner", "checkpoint/internal/proc", "checkpoint/internal/abandon", "internal/regular", "checkpoint/journal", "checkpoint/page",
		"checkpoint/vfs", "checkpoint/wire", "checkpoint/workerlog",
	}
)

// computes reports whether f belongs to a package that computes. Helpers for tests do not.
func (f *file) computes() bool {
	// Exceptions lie below what they are exceptions of, so both are asked by folder.
	in := func(folder string) bool { return within(f.dir, folder) }
	return !f.nested && slices.ContainsFunc(computing, in) && !slices.ContainsFunc(effectful, in) &&
		!helpsTests(f.dir)
}

// helpsTests reports whether dir holds helpers for tests: it is called xtest, as net/http/httptest.
func helpsTests(dir string) bool { return strings.HasSuffix(dir, "test") }

// forbidden maps the import path of a package to the names in it that a computing package may not
// use; nil stands for all of them.
var forbidden = map[string][]string{
	// Durations are values and welcome; clocks and timers are not.
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	// Formatting into a string or a writer that somebody passes is no effect.
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	// Of these nothing is without effect that a computation could need.
	"os": nil, "os/exec": nil, "os/signal": nil, "io/ioutil": nil, "syscall": nil,
	"log": nil, "log/slog": nil, "net": nil, "net/http": nil, "crypto/rand": nil, "C": nil, "unsafe": nil,
}

// seeded are the names in math/rand and math/rand/v2 that do not use the global source.
var seeded = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8",
}

// checkPure refuses everything in a file by which a result could depend on more than the input, or by which
// the world would change.
func (t *files) checkPure(f *file) {
	// Names are resolved file by file, since each file may rename an import.
	packages := importNames(f.syntax)
	for _, spec := range f.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		// A nil list forbids the import; an absent package is free.
		if names, ok := forbidden[name]; ok && names == nil {
			t.add(f, spec.Pos(), "imports %s in a package that only computes", name)
		}
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch n := node.(type) {
		// Goroutines make the order of results depend on the machine.
		case *ast.GoStmt:
			t.add(f, n.Pos(), "starts a goroutine in a package that only computes")
		case *ast.CallExpr:
			// The builtins write to the standard error of whoever imports the library.
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				t.add(f, n.Pos(), "calls %s in a package that only computes", id.Name)
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && hasEffect(packages[id.Name], n.Sel.Name) {
				t.add(f, n.Pos(), "uses %s.%s in a package that only computes", id.Name, n.Sel.Name)
			}
		}
		return true
	})
}

// hasEffect reports whether the use of a name of a package is an effect. Packages that are
// forbidden as a whole are reported once, at their import.
func hasEffect(name, symbol string) bool {
	// Methods of a seeded source are no selectors of the package, and pass; functions of the package use the global one.
	if name == "math/rand" || name == "math/rand/v2" {
		// Whatever a later version of Go adds is refused until it is looked at.
		return token.IsExported(symbol) && !slices.Contains(seeded, symbol)
	}
	return slices.Contains(forbidden[name], symbol)
}

// importNames maps the names by which a file knows its imports to their paths. A dot import has
// the name ".", so that nothing finds it; checkShape refuses those.
func importNames(syntax *ast.File) map[string]string {
	names := make(map[string]string, len(syntax.Imports))
	for _, spec := range syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		// Without types the name of a package is a guess: the last element of its path, as for nearly all.
		local := path.Base(name)
		switch {
		case spec.Name != nil:
			local = spec.Name.Name
		// The last element of this path is a version; the package is called rand.
		case name == "math/rand/v2":
			local = "rand"
		}
		names[local] = name
	}
	return names
}
