// This file tests the choice of domains: against trying every set, and by worked numbers.

package domain_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/alloc/internal/domain"
	"github.com/apportion/apportion/internal/oracle/domainoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// tree is one of which each server is a domain of its own of the narrowest level: paths are those of the servers.
func tree(paths [][]string) *domain.Tree {
	return domain.New(len(paths), len(paths[0]), func(server, level int) (string, bool) { return paths[server][level], true })
}

// used counts the domains of each level that parts are in.
func used(t *domain.Tree, leaf int, parts []domain.Part) []int {
	counts := make([]int, leaf+1)
	for level := range counts {
		seen := make(map[int]bool)
		for _, p := range parts {
			seen[t.Above(level, leaf, p.Domain)] = true
		}
		counts[level] = len(seen)
	}
	return counts
}

// holds returns what is wrong with parts as an answer to a wish for n containers; empty: nothing.
func holds(t *domain.Tree, w *domain.Wish, room []int64, n int64, parts []domain.Part) string {
	sum, slice, within := int64(0), make(map[int]int64), make(map[int]bool)
	for _, p := range parts {
		if p.Containers < 1 || p.Containers > room[p.Domain] {
			return fmt.Sprintf("%d containers in domain %d", p.Containers, p.Domain)
		}
		sum += p.Containers
		if w.SliceWithin != domain.None {
			slice[t.Above(w.SliceWithin, w.Leaf(), p.Domain)] += p.Containers
		}
		if w.Within != domain.None {
			within[t.Above(w.Within, w.Leaf(), p.Domain)] = true
		}
	}
	for _, n := range slice {
		if n%w.Slice != 0 {
			return fmt.Sprintf("%d containers, which are no whole slices", n)
		}
	}
	if sum != n || len(within) > 1 {
		return fmt.Sprintf("%d containers in %d domains", sum, len(within))
	}
	return ""
}

// The choice has as few domains as the best of all sets, level by level, and what it demands.
func TestChooseIsBest(t *testing.T) {
	found, refused, sliced, spread := 0, 0, 0, 0
	met := func() bool { return found > 0 && refused > 0 && sliced > 0 && spread > 0 }
	rapidtest.Until(t, "no choice, no refusal, no slices or no two zones", met, func(t *rapid.T) {
		levels := rapid.IntRange(1, 3).Draw(t, "levels")
		paths := make([][]string, rapid.IntRange(1, 9).Draw(t, "domains"))
		room := make([]int64, len(paths))
		for d := range paths {
			for level := range levels - 1 {
				paths[d] = append(paths[d], strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "label")+level))
			}
			paths[d] = append(paths[d], strconv.Itoa(d))
			room[d] = rapid.Int64Range(0, 9).Draw(t, "room")
		}
		w := domain.Wish{Within: domain.None, SliceWithin: domain.None, Slice: 1, Prefer: levels - 1}
		if rapid.Bool().Draw(t, "within") {
			w.Within = rapid.IntRange(0, levels-1).Draw(t, "level")
		}
		if rapid.Bool().Draw(t, "slices") {
			w.SliceWithin, w.Slice = rapid.IntRange(max(0, w.Within), levels-1).Draw(t, "of level"), rapid.Int64Range(1, 5).Draw(t, "slice")
		}
		n := w.Slice * rapid.Int64Range(1, 6).Draw(t, "slices")
		at := tree(paths)
		best := domainoracle.Best(&domainoracle.Question{Paths: paths, Room: room, N: n, Within: w.Within, SliceWithin: w.SliceWithin, Slice: w.Slice})
		parts := at.Choose(&w, room, n, n)
		if (best == nil) != (parts == nil) {
			t.Fatalf("%v in %v, rooms %v, %d containers: chose %v, best %v", w, paths, room, n, parts, best)
		}
		if most, _ := at.Most(&w, room); (most >= n) != (best != nil) {
			t.Fatalf("%v in %v, rooms %v: at most %d containers, of %d the best is %v", w, paths, room, most, n, best)
		}
		if parts == nil {
			refused++
			return
		}
		if wrong := holds(at, &w, room, n, parts); wrong != "" {
			t.Fatalf("%v in %v, rooms %v: %s of %d", w, paths, room, wrong, n)
		}
		if got := used(at, levels-1, parts); !slices.Equal(got, best) {
			t.Fatalf("%v in %v, rooms %v, %d containers: domains %v, fewest %v", w, paths, room, n, got, best)
		}
		found++
		if w.SliceWithin != domain.None && len(parts) > 1 {
			sliced++
		}
		if best[0] > 1 {
			spread++
		}
	})
}

// racks is one level with these rooms.
func racks(room ...int64) (*domain.Tree, []int64) {
	paths := make([][]string, len(room))
	for d := range paths {
		paths[d] = []string{strconv.Itoa(d)}
	}
	return tree(paths), room
}

func TestChooseNumbers(t *testing.T) {
	slices16 := domain.Wish{Within: domain.None, SliceWithin: 0, Slice: 16, Prefer: domain.None}
	within, prefer := domain.Wish{Within: 0, SliceWithin: domain.None, Prefer: domain.None}, domain.Wish{Within: domain.None, SliceWithin: domain.None, Prefer: 0}
	for _, c := range []struct {
		name    string
		wish    domain.Wish
		room    []int64
		n, most int64
		want    string
	}{
		{"a slice of 16 in each rack of 18", slices16, []int64{18, 18, 18, 18}, 48, 48, "[{0 16} {1 16} {2 16}]"},
		{"54 free and no three slices", slices16, []int64{18, 18, 15, 3}, 48, 48, "[]"},
		{"five slices, four racks", slices16, []int64{18, 15, 16, 17, 9, 18}, 80, 80, "[]"},
		{"two slices in one rack", slices16, []int64{16, 16, 35}, 32, 32, "[{2 32}]"},
		{"the tightest rack", within, []int64{9, 16, 12}, 10, 10, "[{2 10}]"},
		{"the rack with room to grow", within, []int64{9, 16, 12}, 4, 20, "[{1 4}]"},
		{"as much room as can be used", within, []int64{9, 16, 12}, 4, 12, "[{2 4}]"},
		{"no rack", within, []int64{9, 9}, 10, 10, "[]"},
		{"the fewest racks with the least room", prefer, []int64{3, 8, 5, 4}, 11, 11, "[{0 3} {1 8}]"},
	} {
		at, room := racks(c.room...)
		if got := fmt.Sprint(at.Choose(&c.wish, room, c.n, c.most)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Equal narrow labels below two wide ones are two domains, and a server without a label is in none from there on.
func TestTreePaths(t *testing.T) {
	labels := [][]string{{"a", "1"}, {"b", "1"}, {"a", "2"}, {"a", ""}, {"", "1"}}
	at := domain.New(len(labels), 2, func(server, level int) (string, bool) { return labels[server][level], labels[server][level] != "" })
	var of []int
	for j := range labels {
		of = append(of, at.Of(0, j), at.Of(1, j))
	}
	if want := []int{0, 0, 1, 1, 0, 2, 0, -1, -1, -1}; !slices.Equal(of, want) {
		t.Errorf("domains %v, want %v", of, want)
	}
	if got := at.Shared(1); !slices.Equal(got, []string{"1"}) || at.Shared(0) != nil {
		t.Errorf("shared labels %q and %q", got, at.Shared(0))
	}
	if got := at.Name(1, 1); got != "b/1" {
		t.Errorf("domain %q", got)
	}
}
