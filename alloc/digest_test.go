package alloc

import (
	"testing"

	"pgregory.net/rapid"
)

// The digest of an allocation is that of a map made into JSON.
func TestPropAllocationDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-c"\\<é]{1,3}`), rapid.StringN(1, 3, -1))
		options := rapid.SliceOfN(name, 4, 4).Draw(t, "options")
		var apps []Application
		for _, id := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID[string]).Draw(t, "applications") {
			apps = append(apps, Application{ID: id})
		}
		a := Allocation(rapid.MapOfN(name, rapid.MapOfN(name, rapid.Int64Range(0, 2), 0, 3), 0, 3).Draw(t, "allocation"))
		for o := range apps {
			if rapid.Bool().Draw(t, "has some") {
				a[apps[o].ID] = rapid.MapOfN(name, rapid.Int64Range(0, 2), 0, 3).Draw(t, "places")
			}
		}
		type held struct {
			Option string
			Places map[string]int64
		}
		all := make(map[string]held)
		for o := range apps {
			if places := a.Clone()[apps[o].ID]; places != nil {
				all[apps[o].ID] = held{options[o], places}
			}
		}
		if got, want := a.digest(apps, func(o int) string { return options[o] }), digestOf(all); got != want {
			t.Fatalf("digest %s of %v, want %s of %v", got, a, want, all)
		}
	})
}
