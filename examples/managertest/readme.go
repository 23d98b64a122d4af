// This file takes commands and job files out of READMEs, for tests that run them as they are printed.

package managertest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Blocks returns the blocks of a language, as sh, in a file of Markdown, without the indent of the list that they stand in. Values are
// pairs: what a reader would replace by something of the own cluster, and what the test's has; each must be there.
func Blocks(t testing.TB, file, language string, values ...string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^( *)```" + language + "\n(.*?)\n *```$")
	found := fence.FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", file, language)
	}
	var blocks []string
	for _, block := range found {
		body := strings.ReplaceAll("\n"+block[2], "\n"+block[1], "\n")
		blocks = append(blocks, strings.NewReplacer(values...).Replace(body[1:]+"\n"))
	}
	all := string(text)
	for i := 0; i < len(values); i += 2 {
		if !strings.Contains(all, values[i]) {
			t.Errorf("%s does not say %q any more", file, values[i])
		}
	}
	return blocks
}
