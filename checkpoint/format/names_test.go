// This file tests that names which jobs choose are never taken for patterns.

package format_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/internal/must"
)

// odd are names that mean something else as patterns: wrong ones, and such as take their neighbours.
var odd = []string{"[", "[a-z]", "a*", "a?", `\`, `a\`, "{a,b}", "**", "]", "[^", " "}

// A file of an odd name is a checkpoint like any other, and so is a folder, whoever lies beside it.
func TestOddNames(t *testing.T) {
	for name, ending := range map[string]string{"safetensors": "-20.safetensors", "keras": "-20.keras", "distributed": "-20"} {
		w := libraries[name]
		for _, start := range odd {
			called := start + ending
			dir := fstest.MapFS{}
			for file, contents := range library(t, w.library, w.below) {
				if rest, ok := cutFolder(file, w.newest); ok {
					dir[called+rest] = contents
				}
			}
			found, err := w.format.Newest(dir)
			if err != nil || found.Name != called || found.Step != 20 || len(found.Files) != len(dir) || len(found.Skipped) > 0 {
				t.Errorf("%s called %q: %+v, %v", name, called, found, err)
			}
			if verified, err := w.format.Verify(dir, called); err != nil || !cmp.Equal(verified, found) {
				t.Errorf("%s called %q: %+v, %v", name, called, verified, err)
			}
			must.Have(format.Of(w.format, found.Files).Newest(dir))(t, name, "called", called, "named by the job")
		}
	}
}

// cutFolder returns what follows in a name behind a file or folder: nothing, or a slash and more.
func cutFolder(file, folder string) (string, bool) {
	if file == folder {
		return "", true
	}
	if len(file) > len(folder) && file[:len(folder)+1] == folder+"/" {
		return file[len(folder):], true
	}
	return "", false
}

// What a folder of an odd name holds is what counts: one with shards and no table was cut off, whatever it is called, and
// is reported. One with neither is none of the format's, though its name as a pattern takes a folder that has shards.
func TestOddFolders(t *testing.T) {
	shard := &fstest.MapFile{Data: []byte("a shard")}
	for _, start := range odd {
		cut := start + "-30"
		dir := library(t, "dcp", "")
		dir[cut+"/__0_0.distcp"] = shard
		found, err := libraries["distributed"].format.Newest(dir)
		if err != nil || found.Name != "step-20" || len(found.Skipped) != 1 || found.Skipped[0].Name != cut {
			t.Errorf("beside %q: %+v, %v", cut, found, err)
		}
	}
	dir := fstest.MapFS{"ab-30/__0_0.distcp": shard}
	for _, other := range []string{"a*", "a?-30", "[a-z]b-30", "**"} {
		dir[other+"/notes.txt"] = &fstest.MapFile{Data: []byte("no checkpoint")}
	}
	_, err := libraries["distributed"].format.Newest(dir)
	if reasons, ok := err.(interface{ Unwrap() []error }); !ok || len(reasons.Unwrap()) != 2 {
		t.Errorf("one candidate, that of ab-30, is expected: %v", err)
	}
}
