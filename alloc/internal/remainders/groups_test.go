// This file tests groups against lists that are made anew for each question.

package remainders

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes and goes, each group has the servers with its key, and names the next of them.
func TestPropGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 20).Draw(t, "servers")
		g, keys := New(servers/2), make([]string, servers)
		g.Extend(servers)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			j := rapid.IntRange(0, servers-1).Draw(t, "j")
			g.Remove(j)
			if keys[j] = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key"); keys[j] != "" {
				g.Put(j, []byte(keys[j]))
			}
			if g.Grouped(j) != (keys[j] != "") {
				t.Fatalf("%d is grouped: %v", j, g.Grouped(j))
			}
			check(t, g, keys)
		}
	})
}

// check compares the groups with the keys of all servers, empty for one in no group.
func check(t *rapid.T, g *Groups, keys []string) {
	var met []string
	for _, at := range g.Live() {
		key := keys[g.Next(at, 0)]
		if key == "" || slices.Contains(met, key) {
			t.Fatalf("two groups of %q", key)
		}
		of := 0
		for _, k := range keys {
			if k == key {
				of++
			}
		}
		if g.Count(at) != of {
			t.Fatalf("%d servers of %q, want %d", g.Count(at), key, of)
		}
		// No server is listed twice, and most that are listed are there.
		servers := slices.Clone(g.groups[at].servers)
		if n := g.groups[at].count; len(servers) > 2*n || !slices.IsSorted(servers) || len(slices.Compact(servers)) < len(g.groups[at].servers) {
			t.Fatalf("%d of %v are there", n, g.groups[at].servers)
		}
		met = append(met, key)
		for from := range keys {
			want := slices.Index(keys[from:], key) + from
			if want < from {
				want = slices.Index(keys, key)
			}
			if got := g.Next(at, from); got != want {
				t.Fatalf("%q from %d on: %d, want %d of %q", key, from, got, want, keys)
			}
		}
	}
	for j, key := range keys {
		if key != "" && !slices.Contains(met, key) {
			t.Fatalf("%d of %q is in no live group", j, keys)
		}
	}
}

// Where each server is alone groups are not few.
func TestFew(t *testing.T) {
	g := New(12)
	for j := range 12 {
		g.Put(j, []byte{byte(j / 3)})
	}
	if !g.Few() {
		t.Error("4 groups of 12 servers")
	}
	for j := range 12 {
		g.Remove(j)
		g.Put(j, []byte{byte(j)})
	}
	if g.Few() {
		t.Error("12 groups of 12 servers")
	}
}
