// This file implements the rule that files are written and renamed in one place, checkpoint/vfs: a
// rename without the syncs around it loses the file in a crash, and nobody notices before.

package lint

import (
	"go/ast"
	"slices"
)

// renaming are the files that rename by themselves, and why.
// A file on this list must not grow: what it renames is said behind it.
var renaming = []string{
	"checkpoint/command/resume.go", // a file that is locked while it has no name yet
	"checkpoint/store/load.go",     // a directory that is loaded again after a crash
}

// checkRename reports uses of os.Rename. Tests, which it is not asked about, may rename what they like.
func (t *files) checkRename(f *file) {
	if slices.Contains(renaming, f.path) {
		return
	}
	packages := importNames(f.syntax)
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Rename" {
			return true
		}
		// A local variable called os has no path in packages.
		if id, ok := selector.X.(*ast.Ident); ok && packages[id.Name] == "os" {
			t.add(f, selector.Pos(), "uses os.Rename, which checkpoint/vfs is for")
		}
		return true
	})
}
