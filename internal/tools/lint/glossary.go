// This file implements the rules on words: those of the glossary in the root package comment mean
// something, and private words for what the field has a word for are refused.

package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// privateWords maps words that only their author knows to the field's word.
// The list grows when a reviewer has to ask what a word means; a word that is no longer used stays on it.
var privateWords = map[string]string{
	"lodger":   "resident",
	"keepable": "fixed or pinned",
	"toll":     "dual surcharge",
	"heed":     "respect or honour",
	"hungry":   "in need of repair",
	"mend":     "repair",
	"kick":     "perturbation",
	"plant":    "root node or seed",
}

// foreignNames are names of other modules, which are not ours to choose.
var foreignNames = map[string]bool{"MendPeer": true}

// checkWords refuses private words in the names that a file declares or uses and in its comments.
func (t *files) checkWords(f *file) {
	// Uses are told of as well as declarations: a name of another package gets no second home here.
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		if id, ok := node.(*ast.Ident); ok && !foreignNames[id.Name] {
			// A name is refused by any of its words, so that a private word cannot hide in a longer name.
			for _, word := range wordsOf(id.Name) {
				if better, private := private(word); private {
					t.add(f, id.Pos(), "the name %s has the private word %q: say %s", id.Name, word, better)
				}
			}
		}
		return true
	})
	for _, group := range f.syntax.Comments {
		for _, line := range group.List {
			// Comments are taken word by word as well. A word in a string is data, and nobody's business
			// here.
			for _, word := range wordsOf(line.Text) {
				// To plant a bug is what CONTRIBUTING.md calls it.
				if better, private := private(word); private && !strings.HasPrefix(word, "plant") {
					t.add(f, line.Pos(), "the comment has the private word %q: say %s", word, better)
				}
			}
		}
	}
}

// private returns the field's word for a private one, which may end in s, ed or ing.
func private(word string) (better string, ok bool) {
	for _, ending := range []string{"", "s", "ed", "ing"} {
		// Endings are cut off as they are: a word that changes its stem, as one that doubles a letter,
		// passes.
		if stem, cut := strings.CutSuffix(word, ending); cut && privateWords[stem] != "" {
			// Bugs are planted, and rules of this package are tested by plants.
			return privateWords[stem], !strings.HasPrefix(word, "planted")
		}
	}
	return "", false
}

// wordsOf returns the words of a text in lower case; a name of several words is taken apart.
func wordsOf(text string) []string {
	var words []string
	// start is where the word under way begins.
	start := 0
	// Runes and not bytes, since comments quote names of authors.
	runes := []rune(text)
	cut := func(end int) {
		if start < end {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		// Digits and signs end a word and belong to none.
		case !unicode.IsLetter(r):
			cut(i)
			start = i + 1
		// A hump begins a word; capitals in a row, as in HTTP, stay together.
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			cut(i)
		}
	}
	// The last word has nothing behind it that would end it.
	cut(len(runes))
	return words
}

// linked finds a link of the glossary to a name of another package of this module.
var linked = regexp.MustCompile(`\[` + module + `/([a-z0-9/]+)\.([A-Z]\w*)\]`)

// checkGlossary checks that the root package comment links to types that exist.
func (t *files) checkGlossary(doc *file) {
	for _, line := range doc.syntax.Doc.List {
		// Links to the root's own names have no path, and are not looked at.
		for _, link := range linked.FindAllStringSubmatch(line.Text, -1) {
			// A test's declaration cannot be linked to.
			declares := func(f *file) bool {
				return f.dir == link[1] && !f.test && slices.Contains(declarations(f.syntax), link[2])
			}
			if !slices.ContainsFunc(t.list, declares) {
				t.add(doc, line.Pos(), "the glossary names %s.%s, which does not exist", link[1], link[2])
			}
		}
	}
}
