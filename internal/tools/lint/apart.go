// This file implements the rule on what an importer of a package does not get into its program.

package lint

import (
	"slices"
	"strconv"
	"strings"
)

// apart lists packages by their folders, and what none of the packages that they import, however far
// down, may import.
// The rule is about what is linked: a package two imports away costs an importer as much as one beside it.
var apart = []struct {
	// folder is the root of the walk, never the import paths that must not be met, each with all that lies
	// below.
	folder string
	never  []string
}{
	// A scheduler that takes decisions searches small programs by our own branch and bound, and needs no other solver of them.
	{"alloc", []string{module + "/alloc/milp/ortools", module + "/alloc/mip", "gonum.org/v1/gonum"}},
}

// checkApart adds every import by which a package of apart gets what it must not.
func (t *files) checkApart() {
	for _, rule := range apart {
		// A breadth-first walk over the imports, each folder once: packages may be reached in several ways.
		seen := map[string]bool{}
		// The queue next holds folders that are still to be looked at; it is short, so its head is cut
		// off.
		for next := []string{rule.folder}; len(next) > 0; next = next[1:] {
			// seen ends the walk: Go refuses circles of imports, but a tree that is checked may have one.
			if folder := next[0]; !seen[folder] {
				seen[folder] = true
				next = append(next, t.importedBy(folder, rule.folder, rule.never)...)
			}
		}
	}
}

// importedBy returns the folders of this module that the package in folder imports, and adds its imports
// that the package in root must never get.
// It costs one pass over all files of the tree for each folder, which is fast enough for hundreds of them.
func (t *files) importedBy(folder, root string, never []string) []string {
	var folders []string
	for _, f := range t.list {
		// Tests are not linked into an importer's program, and other modules are fetched by nobody who does not ask.
		if f.test || f.nested || f.dir != folder {
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
			if slices.ContainsFunc(never, func(n string) bool { return within(name, n) }) {
				t.add(f, spec.Pos(), "imports %s, which an importer of %s must not get", name, root)
				// Only our own packages are entered; what others import is a matter of the list of modules.
			} else if own, isOwn := strings.CutPrefix(name, module+"/"); isOwn {
				folders = append(folders, own)
			}
		}
	}
	return folders
}
