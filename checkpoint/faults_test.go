// This file checks that every test which FAULTS.md names exists.

package checkpoint_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

func TestFaults(t *testing.T) {
	text := must.Have(os.ReadFile("FAULTS.md"))(t)
	name := regexp.MustCompile("`([a-z./]+)`|\\b([Tt]est[A-Z]\\w*)")
	sources := map[string]string{}
	rows := 0
	for _, row := range strings.Split(string(text), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 6 || strings.HasPrefix(row, "|---") || strings.Contains(row, "| fault |") {
			continue
		}
		rows++
		folder, named := "", 0
		// The last cell names folders, and tests in the folder that was named before them.
		for _, found := range name.FindAllStringSubmatch(cells[4], -1) {
			if found[1] != "" {
				folder = found[1]
				continue
			}
			if sources[folder] == "" {
				sources[folder] = testsOf(t, folder)
			}
			named++
			if !strings.Contains(sources[folder], "func "+found[2]+"(t *testing.T") {
				t.Errorf("%s: package %s has no %s", cells[1], folder, found[2])
			}
		}
		if named == 0 {
			t.Errorf("%s: no test", cells[1])
		}
	}
	if rows < 30 {
		t.Errorf("only %d faults", rows)
	}
}

func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	var all strings.Builder
	for _, file := range files {
		source := must.Have(os.ReadFile(file))(t)
		all.Write(source)
	}
	return all.String()
}
