// This file holds the figures in the READMEs to the records of the runs that they are taken from.

package apportion_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// records are the files, beside a README, with what its commands have printed: complete runs that are the same on every
// machine and which `make records` plays again, golden cases, and what was measured on one machine on one day.
var records = []string{"testdata/record/*", "testdata/cases/*", "testdata/measured/*"}

// otherwise are READMEs that show output which a test of their own compares with what is printed now.
var otherwise = []string{"examples/apportion/README.md", "examples/quickstart/README.md", "examples/kubernetes/README.md"}

// quoted are numbers of papers, versions and settings that a README names and no run of ours has printed.
var quoted = map[string][]string{
	// The versions of Go and of the library; [Dorm] §V, and what dorm/testdata/record/all has beside it; what solvers/testdata/measured and
	// dorm/testdata/measured have, which are records of programs elsewhere.
	"README.md":                            {"1.25", "2.3", "2.55", "1.7", "1.8", "2.7", "2.8", "0.37"},
	"examples/kubernetes/README.md":        {"1.36"},
	"examples/kubernetes/counts/README.md": {"2.1"},
	"examples/nodeagent/README.md":         {"31.9", "0.25", "0.5", "0.75"}, // [Zheng] §6.1.3; the limits that the tests set
	"examples/slurm/README.md":             {"22.05", "0.6", "0.1"},
	"examples/studies/clusters/README.md":  {"0.2", "0.5"},         // thresholds of the play
	"examples/studies/dorm/README.md":      {"1.2816", "5.5"},      // a quantile of the normal distribution; 2.7 x 8 / 43 of 240 cores
	"examples/studies/solvers/README.md":   {"0.73", "0.2", "0.4"}, // testdata/measured/size of the root
	"examples/studies/specon/README.md":    {"6.23", "6.24"},       // figures of [Zheng]
}

// recorded returns all that the records beside a text hold.
func recorded(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range records {
		files := must.Have(filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern))))(t)
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				all.WriteString(read(t, file) + "\n")
			}
		}
	}
	return all.String()
}

// split returns the lines of a text that show output, those of commands left out, and the others. Output stands in a fence of text or
// of a console, or is indented by four places.
func split(text string) (shown, prose []string) {
	fence, within := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		output := within && (fence == "text" || fence == "console") || !within && strings.HasPrefix(line, "    ") && !listed.MatchString(line)
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "```"):
			fence, within = strings.TrimPrefix(trimmed, "```"), !within
		case output && (strings.HasPrefix(trimmed, "$ ") || strings.HasPrefix(trimmed, "go ")):
			// a command
		case output:
			shown = append(shown, trimmed)
		case !within:
			prose = append(prose, line)
		}
	}
	return shown, prose
}

// listed matches an item of a list, which may be indented, too.
var listed = regexp.MustCompile(`^ +([-*]|[0-9]+[.]) `)

// What a README shows as output, line by line, is in a record beside it.
func TestShownFigures(t *testing.T) {
	texts, _ := repository(t)
	checked := 0
	for _, name := range texts {
		if filepath.Base(name) != "README.md" || slices.Contains(otherwise, filepath.ToSlash(name)) {
			continue
		}
		lines := make(map[string]bool)
		for line := range strings.Lines(recorded(t, filepath.Dir(name))) {
			lines[strings.TrimSpace(line)] = true
		}
		shown, _ := split(read(t, name))
		for _, line := range shown {
			// A line without a figure is a heading, or says what a user writes into a file.
			if !figure.MatchString(line) {
				continue
			}
			checked++
			if !lines[line] {
				t.Errorf("%s: no record of %q", name, line)
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d lines", checked)
	}
}

// figure matches a number of its own, which is not part of a name.
var figure = regexp.MustCompile(`(^|[ |(+-])[0-9][0-9,.]*( |$|[)%|])`)

// decimal matches a number with a point; not a version, a section or a name.
var decimal = regexp.MustCompile(`(?:^|[^-\w.§])([0-9]+\.[0-9]+)(?:[^\w.]|[.]?$|[.] )`)

// number matches whatever a record or a program states.
var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// Every decimal that a README names between its tables is one of a record beside it or a constant of the program, as far as
// it is given. So a table that is made anew takes the sentences about it along.
func TestFiguresInSentences(t *testing.T) {
	texts, _ := repository(t)
	checked := 0
	for _, name := range texts {
		if filepath.Base(name) != "README.md" {
			continue
		}
		_, prose := split(read(t, name))
		known := numbers(t, filepath.Dir(name))
		for _, line := range prose {
			if strings.HasPrefix(line, "|") {
				continue // a table of options
			}
			for _, match := range decimal.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				checked++
				if !slices.Contains(quoted[filepath.ToSlash(name)], match[1]) && !within(known, match[1]) {
					t.Errorf("%s names %s, which no record has: %s", name, match[1], line)
				}
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d numbers", checked)
	}
}

// code matches code within a sentence.
var code = regexp.MustCompile("`[^`]*`")

// numbers returns all numbers of the records and of the Go files in a folder, each once.
func numbers(t *testing.T, folder string) []float64 {
	t.Helper()
	text := recorded(t, folder)
	programs := must.Have(filepath.Glob(filepath.Join(folder, "*.go")))(t)
	if folder != "." {
		for _, program := range programs {
			text += read(t, program)
		}
	}
	var all []float64
	for _, found := range number.FindAllString(text, -1) {
		if x, err := strconv.ParseFloat(found, 64); err == nil {
			all = append(all, x)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// within reports whether one of the numbers reads as a decimal does, rounded to as many places.
func within(numbers []float64, decimal string) bool {
	_, fraction, _ := strings.Cut(decimal, ".")
	return slices.ContainsFunc(numbers, func(x float64) bool { return strconv.FormatFloat(x, 'f', len(fraction), 64) == decimal })
}

// What is taken for output, for a figure and for a number of a sentence.
func TestReadingFigures(t *testing.T) {
	shown, prose := split("One 0.5.\n\n    $ run\n    a  3\n    go run x 4\n1. two\n     - three 3\n```text\nb 7 %\n```\n```sh\nc 8\n```\n| d | 9 |\n")
	must.Same(t, shown, []string{"a  3", "b 7 %"}, "shown")
	must.Same(t, prose, []string{"One 0.5.", "", "1. two", "     - three 3", "| d | 9 |"}, "prose")
	for line, want := range map[string]bool{"a 3": true, "3": true, "| 4.5 |": true, "(1,234)": true, "7 %": true, "v1": false, "job-7": true, "none": false} {
		must.Equal(t, figure.MatchString(line), want, line, "has a figure", !want)
	}
	for line, want := range map[string]string{"is 1.50 times": "1.50", "0.5.": "0.5", "v0.1.0": "", "§6.1.3": "", "of 1.2.3": "", "(2.5)": "2.5", "x-0.5": ""} {
		got := ""
		if match := decimal.FindStringSubmatch(line); match != nil {
			got = match[1]
		}
		must.Equal(t, got, want, line, "names")
	}
	if known := []float64{0.373, 2}; !within(known, "0.37") || !within(known, "2.0") || within(known, "0.38") || within(known, "0.3731") {
		t.Error("numbers are compared as far as they are given")
	}
}
