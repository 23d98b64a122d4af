// This file implements Check: it asks every rule about the Go files of a tree.

package lint

import (
	"cmp"
	"go/token"
	"io/fs"
	"slices"
)

// Check returns every Finding in the Go files below the root of tree, ascending in path and line.
// Folders called testdata and folders whose name begins with a dot are left out. An error means
// that a file could not be read or parsed.
func Check(tree fs.FS) ([]Finding, error) {
	// One set of positions serves all files, so that a finding can be told by any of their nodes.
	t := &files{set: token.NewFileSet()}
	// 1. All files are read first, since some rules compare one file with another.
	if err := t.read(tree); err != nil {
		return nil, err
	}
	// 2. Each file is asked about what it has alone.
	for _, f := range t.list {
		// Length and words concern tests too; what follows concerns only what is built into programs.
		t.checkShape(f)
		t.checkWords(f)
		if f.test {
			continue
		}
		t.checkDocumented(f)
		t.checkRename(f)
		t.checkImports(f)
		// Computing is a matter of the folder and not of the file, so that a file cannot excuse itself.
		if f.computes() {
			t.checkPure(f)
		}
	}
	// 3. These rules need all files at once.
	t.checkApart()
	t.checkPackageComments()
	if doc := t.rootComment(); doc != nil {
		t.checkGlossary(doc)
		t.checkIndex(doc)
	}
	// Rules take turns above, and their findings would come rule by rule. Text is the last resort, for two
	// faults of one line.
	slices.SortFunc(t.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return t.findings, nil
}
