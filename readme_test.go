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
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
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
	text := must.Have(os.ReadFile(name))(t)
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

// eachMatch calls do with every match of a pattern in the texts of the repository, with the groups of the match.
func eachMatch(t *testing.T, pattern *regexp.Regexp, do func(name string, match []string)) {
	t.Helper()
	texts, _ := repository(t)
	for _, name := range texts {
		for _, match := range pattern.FindAllStringSubmatch(read(t, name), -1) {
			do(name, match)
		}
	}
}

func TestLinks(t *testing.T) {
	eachMatch(t, link, func(name string, match []string) {
		folder := filepath.Dir(name)
		if strings.HasPrefix(match[1], "/") {
			folder = "." // a link from the root of the repository
		}
		must.Have(os.Stat(filepath.Join(folder, match[1])))(t, name)
	})
}

// command matches "go run -C FOLDER PROGRAM", "go run PROGRAM" and the same with go build.
var command = regexp.MustCompile("go (?:run|build) (?:-C ([a-z/]+) )?(?:-o \\S+ )?(\\.[a-z/.]*)[ `\n]")

// What the texts tell to run is there; programs without a folder are relative to the root, or to the folder
// of the text.
func TestCommands(t *testing.T) {
	found := 0
	eachMatch(t, command, func(name string, match []string) {
		found++
		program := filepath.Join(match[1], match[2])
		_, err := os.Stat(filepath.Join(program, "main.go"))
		if _, beside := os.Stat(filepath.Join(filepath.Dir(name), program)); err != nil && (match[1] != "" || beside != nil) {
			t.Errorf("%s: %q: there is no program in %s", name, strings.TrimSpace(match[0]), program)
		}
	})
	if found < 30 {
		t.Errorf("only %d commands", found)
	}
}

// place matches a Go file named in a text, and the function named behind it.
var place = regexp.MustCompile("`([a-z/]+[.]go)`(?:[ \n]+\\(`([A-Za-z]+)`\\))?")

// Go files that the texts name by their path from the root are there, and declare what is named behind them.
func TestPlaces(t *testing.T) {
	found := 0
	eachMatch(t, place, func(name string, match []string) {
		file, declared := match[1], match[2]
		if !strings.Contains(file, "/") {
			return // beside the text, or a word for a kind of file
		}
		source, err := os.ReadFile(filepath.FromSlash(file))
		if _, beside := os.Stat(filepath.Join(filepath.Dir(name), file)); err != nil && beside != nil {
			t.Errorf("%s names %s, which is not there", name, file)
		}
		if err != nil || declared == "" {
			return
		}
		found++
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + declared + `\(`).Match(source) {
			t.Errorf("%s: %s declares no %s", name, file, declared)
		}
	})
	if found < 15 {
		t.Errorf("only %d functions are named", found)
	}
}

// tested matches "go test" with what it is told, to the end of the code or of the line, and "cd FOLDER && " before it.
var tested = regexp.MustCompile("(?:(?m:^)|`)(?:cd ([a-z/]+) && )?go test ([^`\n]*(?:\n +[^`\n]+`)?)")

// Tests and benchmarks that the texts tell to run are there, in the package behind them.
func TestTestCommands(t *testing.T) {
	found := 0
	eachMatch(t, tested, func(name string, match []string) {
		folder, wanted := toldToTest(match[2])
		if wanted == "" || folder == "" {
			return
		}
		found++
		// Folders are relative to the root, or to the folder of the text.
		if !declares(t, filepath.Join(match[1], folder), wanted) && !declares(t, filepath.Join(filepath.Dir(name), match[1], folder), wanted) {
			t.Errorf("%s: %q: no test of this name in %s", name, match[0], folder)
		}
	})
	if found < 8 {
		t.Errorf("only %d commands", found)
	}
}

// toldToTest returns the folder behind "go test", and the pattern of the tests or benchmarks that are to run there; both
// are empty where the arguments do not say so.
func toldToTest(arguments string) (folder, wanted string) {
	words := strings.Fields(strings.Trim(arguments, "`"))
	// What is behind -args is for the test itself.
	if at := slices.Index(words, "-args"); at >= 0 {
		words = words[:at]
	}
	for i, word := range words {
		switch {
		case (word == "-run" || word == "-bench") && i+1 < len(words):
			// Names of subtests are not looked at.
			if pattern, _, _ := strings.Cut(strings.Trim(words[i+1], "'"), "/"); pattern != "NONE" && pattern != "^$" {
				wanted = pattern
			}
		case strings.HasPrefix(word, "."):
			folder = word
		}
	}
	return folder, wanted
}

// declares reports whether the tests of a folder have one whose name matches a pattern, as go test looks for it.
func declares(t *testing.T, folder, pattern string) bool {
	t.Helper()
	files := must.Have(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	for _, file := range files {
		for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)\(`).FindAllStringSubmatch(read(t, file), -1) {
			if ok, err := regexp.MatchString(pattern, match[1]); ok || err != nil {
				return err == nil
			}
		}
	}
	return false
}
