// This file compares the classes of servers with asking every server about every application.

package alloc

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
)

// genLabelled draws servers with few labels, and applications that ask for some of them.
func genLabelled(t *rapid.T) (servers []apportion.Server, apps []Application) {
	// Values with the characters of which keys of lists are made would show where two lists are taken for one.
	value := rapid.SampledFrom([]string{"a", "b", `a"`, `;`, `a" "b`})
	for j := range rapid.IntRange(0, 5).Draw(t, "servers") {
		server := apportion.Server{ID: fmt.Sprint("s", j), Cordoned: rapid.IntRange(0, 3).Draw(t, "cordoned") == 0, Labels: map[string]string{}}
		for _, key := range [...]string{"zone", "gpu"} {
			if rapid.Bool().Draw(t, "labelled") {
				server.Labels[key] = value.Draw(t, "label")
			}
		}
		servers = append(servers, server)
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "applications") {
		app := Application{ID: fmt.Sprint("a", i)}
		for range rapid.IntRange(0, 2).Draw(t, "requirements") {
			requires := apportion.Requirement{Key: rapid.SampledFrom([]string{"zone", "gpu"}).Draw(t, "key"), Op: rapid.SampledFrom(apportion.Operators()).Draw(t, "op")}
			if requires.Op == apportion.In || requires.Op == apportion.NotIn {
				requires.Values = rapid.SliceOfN(value, 1, 2).Draw(t, "values")
			}
			app.Requires = append(app.Requires, requires)
		}
		apps = append(apps, app)
	}
	return servers, apps
}

// Whoever may come somewhere, or stay there, may do so by its own labels; and the dense form says the same.
func TestPropEligibility(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, apps := genLabelled(t)
		e := newEligibility(servers, apps, nil)
		r := &resolved{open: e, confined: make([][]int, len(apps))}
		for i := range apps {
			for j := range servers {
				suits := servers[j].Satisfies(apps[i].Requires)
				if e.suits(i, j) != suits {
					t.Fatalf("%v suits %v: %v", servers[j], apps[i].Requires, !suits)
				}
				open := suits && !servers[j].Cordoned
				if r.mayCome(i, j) != open {
					t.Fatalf("%v is open to %v: %v", servers[j], apps[i].Requires, !open)
				}
				// What a solver sees: a class for each server, or one for all; nil classes of an application are all.
				class := 0
				if e.classes() != nil {
					class = e.classes()[j]
				}
				if listed := e.open[i] == nil || slices.Contains(e.open[i], class); listed != open {
					t.Fatalf("class %d of %v is open to application %d, which has %v: %v", class, servers[j], i, e.open[i], listed)
				}
			}
			if !slices.IsSorted(e.open[i]) || !slices.IsSorted(e.suitable[i]) {
				t.Fatalf("classes do not ascend: %v, %v", e.open[i], e.suitable[i])
			}
		}
	})
}

// Servers that all applications see alike are of one class, so that a cluster without requirements has one.
func TestClassesAreFew(t *testing.T) {
	zones := func(zones ...string) (servers []apportion.Server) {
		for _, zone := range zones {
			servers = append(servers, apportion.Server{Labels: map[string]string{"zone": zone, "rack": zone + "1"}})
		}
		return servers
	}
	in := func(values ...string) Application {
		return Application{Form: Form{Requires: []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: values}}}}
	}
	cordoned := zones("a", "b", "c")
	cordoned[2].Cordoned = true
	for name, c := range map[string]struct {
		servers []apportion.Server
		apps    []Application
		want    []int
	}{
		"no requirements":            {zones("a", "b", "c"), []Application{{}, {}}, nil},
		"all are satisfied":          {zones("a", "b", "c"), []Application{in("a", "b", "c")}, nil},
		"one zone":                   {zones("a", "b", "a"), []Application{in("a"), {}}, []int{0, 1, 0}},
		"two lists that cut in four": {zones("a", "b", "c", "d"), []Application{in("a", "b"), in("b", "c")}, []int{0, 1, 2, 3}},
		"the same list twice":        {zones("a", "b", "c", "d"), []Application{in("a", "b"), in("a", "b")}, []int{0, 0, 1, 1}},
		"a cordon":                   {cordoned, []Application{{}}, []int{0, 0, 1}},
		"no servers":                 {nil, []Application{in("a")}, []int{}},
	} {
		e := newEligibility(c.servers, c.apps, nil)
		if got := e.classes(); !slices.Equal(got, c.want) || c.want != nil && got == nil {
			t.Errorf("%s: classes %v, want %v", name, got, c.want)
		}
	}
}
