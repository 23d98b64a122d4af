// This file tests the rules on words: links of the glossary, and private words.

package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrivateWords(t *testing.T) {
	drf := func(code string) map[string]string {
		return map[string]string{"drf/planted.go": "package drf\n\n" + code + "\n"}
	}
	for name, test := range map[string]struct {
		planted map[string]string
		want    []string
	}{
		"private name":             {drf("func keepableRooms() {}"), []string{`drf/planted.go:3: the name keepableRooms has the private word "keepable": say fixed or pinned`}},
		"private plural":           {drf("type hungry struct{ Lodgers int }"), []string{`drf/planted.go:3: the name Lodgers has the private word "lodgers": say resident`, `drf/planted.go:3: the name hungry has the private word "hungry": say in need of repair`}},
		"private noun":             {drf("var plant int"), []string{`drf/planted.go:3: the name plant has the private word "plant": say root node or seed`}},
		"private word in comments": {drf("// f kicked what heeds\n// a toll.\nfunc f() {}"), []string{`drf/planted.go:3: the comment has the private word "heeds": say respect or honour`, `drf/planted.go:3: the comment has the private word "kicked": say perturbation`, `drf/planted.go:4: the comment has the private word "toll": say dual surcharge`}},
		"words that only begin so": {drf("// f recommends tolls' tollbooth, amended and planted bugs.\nfunc plantedFaults() {}"), []string{`drf/planted.go:3: the comment has the private word "tolls": say dual surcharge`}},
		"private word in a test":   {map[string]string{"drf/planted_test.go": "package drf\n\nvar mending int\n"}, []string{`drf/planted_test.go:3: the name mending has the private word "mending": say repair`}},
		"every folder": {map[string]string{"alloc/embedded/a.go": "// Package embedded solves.\npackage embedded\n\nvar lodger int\n"}, []string{
			`alloc/embedded/a.go:4: the name lodger has the private word "lodger": say resident`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			findings, err := Check(tree(test.planted))
			if diff := cmp.Diff(test.want, texts(findings)); diff != "" || err != nil {
				t.Errorf("error %v, findings (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The glossary links to names of other packages, which must exist.
func TestGlossary(t *testing.T) {
	for link, want := range map[string][]string{
		"drf.Claim":        nil,
		"drf.Nothing":      {"doc.go:13: the glossary names drf.Nothing, which does not exist"},
		"alloc.Claim":      {"doc.go:13: the glossary names alloc.Claim, which does not exist"},
		"drf.Undocumented": {"doc.go:13: the glossary names drf.Undocumented, which does not exist"}, // of a test
	} {
		root := strings.Replace(clean["doc.go"], "package apportion", "//\n// # Glossary\n//\n//   - claim: a wish ([github.com/apportion/apportion/"+link+"]).\npackage apportion", 1)
		findings, err := Check(tree(map[string]string{"doc.go": root}))
		if diff := cmp.Diff(want, texts(findings)); diff != "" || err != nil {
			t.Errorf("%s: error %v, findings (-want +got):\n%s", link, err, diff)
		}
	}
}
