// This file compares what the example prints with testdata/cases, which are the README's too, and
// with the paper.

package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apportion/apportion/examples/internal/exampletest"
	"github.com/apportion/apportion/internal/must"
)

func TestRun(t *testing.T) { exampletest.Run(t, run) }

func output(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, run(&out))
	return out.String()
}

// Reference: [Dorm] §III-C3, Fig. 5: every application has two containers on slave 1 in the end; two
// of App2 are destroyed there and two of App3 created; App2 is saved before and resumed after.
func TestPaper(t *testing.T) {
	out := output(t)
	for _, want := range []string{
		`app-1 .* 2 +4 +0\n`,
		`app-2 .* 2 \(was 4\) +0 +4\n`,
		`app-3 .* 2 \(was 0\) +0 +0\n`,
		`1 +save +app-2\n2 +destroy +app-2 +2 on slave-1\n3 +create +app-3 +2 on slave-1\n4 +start +app-3 +start.sh\n5 +resume +app-2 +resume.sh\n\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The README shows what the example prints, as its only block of text.
func TestReadme(t *testing.T) {
	readme := must.Have(os.ReadFile("README.md"))(t)
	block := regexp.MustCompile("(?s)```text\n.*?```\n")
	want := block.ReplaceAllLiteralString(string(readme), "```text\n"+output(t)+"```\n")
	if string(readme) == want {
		return
	}
	must.Equal(t, flag.Lookup("rewrite").Value.String(), "true", "README.md does not show what the example prints")
	must.Do(t, os.WriteFile("README.md", []byte(want), 0o644))
}
