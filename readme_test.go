// This file holds the texts beside the code to the code: the table of packages, links, and commands.

package apportion_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repository returns the Markdown files of the repository, and the folders with a package that others can import.
func repository(t *testing.T) (texts, packages []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "out"):
			return fs.SkipDir
		case strings.HasSuffix(base, ".md"):
			texts = append(texts, name)
		case base == "doc.go" && !strings.Contains("/"+name, "/internal/") && !strings.HasPrefix(name, "examples/"):
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
			if err == nil && file.Name.Name != "main" && name != base {
				packages = append(packages, path.Dir(filepath.ToSlash(name)))
			}
			return err
		}
		return nil
	})
	if err != nil || len(texts) < 10 || len(packages) < 20 {
		t.Fatalf("%d texts, %d packages: %v", len(texts), len(packages), err)
	}
	return texts, packages
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every package that others can import has a place in the table of the README, and what has one is there.
func TestPackagesInReadme(t *testing.T) {
	_, packages := repository(t)
	_, table, _ := strings.Cut(read(t, "README.md"), "| package | answers |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, name := range packages {
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("README.md has no row for %s", name)
		}
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(cells[0], -1) {
			name := strings.Trim(quoted, "`")
			if _, err := os.Stat(name); err != nil && name != "apportion" {
				t.Errorf("README.md has a row for %s, which is not there", name)
			}
		}
	}
}

// link matches the target of a link in Markdown that lies in the repository.
var link = regexp.MustCompile(`\]\(([^)#\s:]+)[)#]`)

func TestLinks(t *testing.T) {
	texts, _ := repository(t)
	for _, name := range texts {
		for _, match := range link.FindAllStringSubmatch(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), match[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// command matches "go run -C FOLDER PROGRAM", "go run PROGRAM" and the same with go build.
var command = regexp.MustCompile("go (?:run|build) (?:-C ([a-z/]+) )?(?:-o \\S+ )?(\\.[a-z/.]*)[ `\n]")

// What the texts tell to run is there; programs without a folder are relative to the root, or to the folder
// of the text.
func TestCommands(t *testing.T) {
	texts, _ := repository(t)
	found := 0
	for _, name := range texts {
		for _, match := range command.FindAllStringSubmatch(read(t, name), -1) {
			found++
			program := filepath.Join(match[1], match[2])
			_, err := os.Stat(filepath.Join(program, "main.go"))
			if _, beside := os.Stat(filepath.Join(filepath.Dir(name), program)); err != nil && (match[1] != "" || beside != nil) {
				t.Errorf("%s: %q: there is no program in %s", name, strings.TrimSpace(match[0]), program)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d commands", found)
	}
}
