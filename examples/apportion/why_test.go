// This file tests "apportion why" and "apportion what-if" against decisions of the library.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/problemtest"
	"github.com/apportion/apportion/internal/must"
)

// What helps is what a decision on the changed problem gives, and a change that is not told gives no more.
func TestWhyAgainstLibrary(t *testing.T) {
	helped := 0
	for seed := range unlessShort(6, 1) {
		p := problemtest.Draw(alloctest.Families()[0], seed, 3, 5, seed%2 == 0)
		for _, app := range p.Applications {
			code, text, errs := call(t, encode(t, p), "why", "-job", app.ID)
			var out whyOutput
			if err := json.Unmarshal([]byte(text), &out); code != answered || err != nil {
				t.Fatal(code, errs, err)
			}
			told := make(map[string]int64)
			for _, h := range out.Helps {
				told[h.Change] = h.Containers
				helped++
			}
			for _, other := range p.Applications {
				changed := *p
				changed.Applications = slices.DeleteFunc(slices.Clone(p.Applications), func(a alloc.Application) bool { return a.ID == other.ID })
				d := must.Have(alloc.Reallocate(t.Context(), &changed, embedded.New(nil)))(t)
				n := d.Allocation.Containers(app.ID)
				if got, is := told[other.ID+" ends"]; other.ID != app.ID && (is && got != n || !is && n > out.Containers && has(t, p, other.ID)) {
					t.Errorf("seed %d: without %s %s has %d, and %v is told of %d", seed, other.ID, app.ID, n, out.Helps, out.Containers)
				}
			}
		}
	}
	if !testing.Short() && helped < 10 {
		t.Errorf("only %d changes helped", helped)
	}
}

// has reports whether an application has containers in the decision on p.
func has(t *testing.T, p *alloc.Problem, id string) bool {
	t.Helper()
	d := must.Have(alloc.Reallocate(t.Context(), p, embedded.New(nil)))(t)
	return d.Allocation.Containers(id) > 0
}

// An application that arrives is read as it stands in a problem, and its faults name it.
func TestWhatIfArrives(t *testing.T) {
	cluster := must.Have(os.ReadFile("cluster.json"))(t)
	path := filepath.Join(t.TempDir(), "app.json")
	write := func(text string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(`{"id": "new", "demand": [1, 0, 8], "max": 2}`)
	code, text, errs := call(t, string(cluster), "what-if", "-arrive", path)
	var out whatIfOutput
	if err := json.Unmarshal([]byte(text), &out); code != answered || err != nil {
		t.Fatal(code, errs, err)
	}
	i := slices.IndexFunc(out.Applications, func(e effect) bool { return e.ID == "new" })
	if i < 0 || out.Applications[i].Now != nil || *out.Applications[i].Then < 1 {
		t.Errorf("%s", text)
	}
	for _, bad := range []string{`{"id": "new", "demand": [1], "max": 2}`, `{"id": "app-1", "demand": [1, 0, 8], "max": 2}`, `{"id": "new", "size": 2}`, `{`} {
		write(bad)
		if code, _, errs := call(t, string(cluster), "what-if", "-arrive", path); code != failed || errs == "" {
			t.Errorf("%s: %d, %s", bad, code, errs)
		}
	}
	if code, _, _ := call(t, string(cluster), "what-if", "-arrive", path+".not"); code != failed {
		t.Error("a file that is not there is no failure")
	}
}
