// This file tests what a crash leaves of a Mem.

package vfstest_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// TestCrash lists what may be left of a file that replaces another: without all syncs in order, not
// always the one or the other.
func TestCrash(t *testing.T) {
	const old, replaced = "a=old ", "a=new! "
	for _, test := range []struct {
		name              string
		syncFile, syncDir bool
		want              []string // nothing else, and each at least once
	}{
		{"all", true, true, []string{replaced}},
		{"no sync of the directory", true, false, []string{old, replaced, "a=old t=new! ", "a=new! t=new! "}},
		{"no sync of the file", false, true, []string{"a= ", "a=n ", "a=ne ", "a=new ", replaced, "a=\x00\x00\x00\x00 ", "a=n\x00\x00\x00 ", "a=ne\x00\x00 ", "a=new\x00 "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			mem := vfstest.NewMem()
			vfstest.WriteFile(t, mem, "a", "old", true)
			must.Do(t, mem.SyncDir("."))
			vfstest.WriteFile(t, mem, "t", "new!", test.syncFile)
			must.Do(t, errors.Join(mem.SyncDir("."), mem.Rename("t", "a")))
			if test.syncDir {
				must.Do(t, mem.SyncDir("."))
			}
			met := make(map[string]bool)
			for seed := range 500 {
				met[vfstest.Tree(mem.Crash(rand.New(rand.NewPCG(uint64(seed), 1))), ".")] = true
			}
			for _, want := range test.want {
				if !met[want] {
					t.Errorf("%q is never left", want)
				}
				delete(met, want)
			}
			for other := range met {
				t.Errorf("%q is left", other)
			}
			must.Equal(t, vfstest.Tree(mem, "."), replaced, "without a crash")
		})
	}
}

// A second name is an entry of its own: synced or not, a crash takes it or leaves it, with all that was synced of the
// file.
func TestLinkAndCrash(t *testing.T) {
	for synced, want := range map[string]string{"": "a/ ", "a": "a/ a/x=content ", ".": "a/ y=content ", "a .": "a/ a/x=content y=content "} {
		m := vfstest.NewMem()
		must.Do(t, errors.Join(m.Mkdir("a"), m.SyncDir(".")))
		vfstest.WriteFile(t, m, "a/x", "content", true)
		must.Do(t, m.Link("a/x", "y"))
		for _, dir := range strings.Fields(synced) {
			must.Do(t, m.SyncDir(dir))
		}
		must.Equal(t, vfstest.Tree(m.Crash(nil), "."), want, synced, "synced")
	}
}
