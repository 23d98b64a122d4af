// This file tests the names on random input: folders lead back to nothing but their job, and what is
// accepted as a part is safe as a path.

package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

// pieces make names in which everything meets that escaping, cutting and paths could mistake.
var pieces = []string{"a", "b", "%", "%%", "/", `\`, ".", "..", "%2F", "%2f", "%25", "2F", "ü", "模", "~", " ", strings.Repeat("x", 40)}

func name(rng *rand.Rand) string {
	var text strings.Builder
	for range 1 + rng.IntN(8) {
		text.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return text.String()
}

// What is valid is a folder of some job: escaped again it is itself, unless it was cut.
func TestValidFoldersAreFolders(t *testing.T) {
	rng, valid := rand.New(rand.NewPCG(14, 2)), 0
	for range 20_000 {
		folder := store.Folder(name(rng))
		if !folder.Valid() {
			continue
		}
		valid++
		// The dumb inverse: replace the four escapes that FolderOf writes, the percent sign last.
		job := strings.NewReplacer("%2F", "/", "%5C", `\`, "%2E", ".", "%25", "%").Replace(string(folder))
		must.Equal(t, store.FolderOf(job), folder, "is valid, and job", job, "has the folder")
	}
	if valid < 1000 {
		t.Errorf("only %d names of 20,000 were valid: the test sees too little", valid)
	}
}

// Names at the edges: one byte decides whether a folder is cut, and the rest of a long name still counts.
func TestFoldersAtTheLimit(t *testing.T) {
	for _, unit := range []string{"x", "ü", "/", "x/"} {
		seen := map[store.Folder]int{}
		for n := 1; n <= 2*store.MaxFolderBytes; n++ {
			folder := store.FolderOf(strings.Repeat(unit, n))
			if len(folder) > store.MaxFolderBytes || !folder.Valid() {
				t.Fatalf("%d times %q: %q", n, unit, folder)
			}
			if other, taken := seen[folder]; taken {
				t.Fatalf("%d and %d times %q share %q", n, other, unit, folder)
			}
			seen[folder] = n
			escaped := strings.ReplaceAll(strings.Repeat(unit, n), "/", "%2F")
			must.Equal(t, strings.Contains(string(folder), "%%"), len(escaped) > store.MaxFolderBytes, n, "times", unit, "cut")
		}
	}
}

// What CheckPart accepts stays below the directory that it is joined to, and is one spelling of its path.
func TestPartsStayInside(t *testing.T) {
	rng, accepted := rand.New(rand.NewPCG(14, 3)), 0
	for range 20_000 {
		part := name(rng)
		err := store.CheckPart(part)
		if err != nil && !errors.Is(err, store.ErrName) {
			t.Fatalf("%q: %v", part, err)
		}
		clean := path.Clean(part)
		safe := clean == part && filepath.IsLocal(part) && part != "." && !strings.Contains(part, `\`)
		if err == nil {
			accepted++
		}
		must.Equal(t, err == nil, safe, "part", part, err, "but as a path it", clean)
	}
	if accepted < 1000 {
		t.Errorf("only %d names were accepted", accepted)
	}
}

// The text of a digest is one of 16^64, and every other text is refused and changes nothing.
func TestDigestTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	for range 500 {
		var d, back store.Digest
		for i := range d {
			d[i] = byte(rng.IntN(256))
		}
		text := must.Have(d.MarshalText())(t)
		must.Equal(t, string(text), fmt.Sprintf("%x", d[:]), text)
		if err := back.UnmarshalText(text); err != nil || back != d {
			t.Fatalf("%s became %s, %v", d, back, err)
		}
		at := rng.IntN(len(text))
		for _, bad := range []string{
			string(text[:at]), string(text) + "0", string(text[:at]) + "g" + string(text[at+1:]), strings.ToUpper("a" + string(text[1:])),
			" " + string(text[1:]),
		} {
			if err := back.UnmarshalText([]byte(bad)); err == nil || back != d {
				t.Fatalf("%q: %v, and the digest is %s", bad, err, back)
			}
		}
	}
}
