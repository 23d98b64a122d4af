// This file looks whether what is planted can still be, and whether it is said of each what finds it.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestBugs(t *testing.T) {
	known, found := map[string]bool{}, string(must.Have(os.ReadFile("FOUND.md"))(t))
	for i, b := range must.Have(bugs())(t) {
		text := string(must.Have(os.ReadFile(filepath.Join("../../../checkpoint", b.file)))(t))
		if n := strings.Count(text, b.from); n != 1 || b.from == b.to || known[b.what] {
			t.Errorf("bug %d, %s: %q stands %d times in %s", i, b.what, b.from, n, b.file)
		}
		if !strings.Contains(found, "| "+b.what+" | "+b.file+" | ") {
			t.Errorf("bug %d, %s, has no row in FOUND.md", i, b.what)
		}
		known[b.what] = true
	}
}
