package alloc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/rapidtest"
)

// What is said to be free for others is beyond guarantees: of 32 GPUs of a queue that is guaranteed 16 no more than 16.
func TestFreeableLeavesGuarantees(t *testing.T) {
	p := gpuProblem(8, 8, 8, 8)
	for _, id := range []string{"a", "b"} {
		p.Queues = append(p.Queues, drf.Queue{ID: id, Weight: 1, Guarantee: apportion.Resources{16}})
	}
	p.add(1, 1, 32, 8, 8, 8, 8).Queue = "a"
	p.add(1, 20, 20).Queue = "b"
	d, err := Reallocate(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "and 0 are free. 16 gpu can be freed within the adjustment budget and beyond what other queues are guaranteed"
	if len(d.Waiting) != 1 || !strings.Contains(d.Waiting[0].Reason.Text, want) {
		t.Errorf("%+v, want %q", d.Waiting, want)
	}
}

// No choice of what is taken from other queues frees more than is said, and of one kind some choice frees as much.
func TestFreeableAgainstEnumeration(t *testing.T) {
	kept := 0
	rapidtest.Until(t, "no guarantee ever counted", func() bool { return kept > 0 }, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
		p := &Problem{Kinds: apportion.Kinds{"gpu", "cpu"}[:kinds], Theta1: 1, Theta2: 1, Previous: Allocation{}}
		vector := func(low, high int64, name string) (r apportion.Resources) {
			for range kinds {
				r = append(r, rapid.Int64Range(low, high).Draw(t, name))
			}
			return r
		}
		p.Queues = []drf.Queue{{ID: "own", Weight: 1}, {ID: "up", Weight: 1, Guarantee: vector(0, 8, "guarantee")},
			{ID: "low", Parent: "up", Weight: 1, Guarantee: vector(0, 8, "guarantee")}, {ID: "lower", Parent: "up", Weight: 1}, {ID: "side", Weight: 1, Guarantee: vector(0, 8, "guarantee")}}
		total := make(apportion.Resources, kinds)
		for v := range rapid.IntRange(1, 4).Draw(t, "applications") {
			app := Application{ID: fmt.Sprint("v", v), Weight: 1, Queue: rapid.SampledFrom([]string{"own", "low", "lower", "side"}).Draw(t, "queue"),
				Form: Form{Demand: vector(0, 2, "demand"), Min: 1, Max: 4}}
			if app.Demand.IsZero() || kinds == 1 {
				app.Demand[0] = 1
			}
			n := rapid.Int64Range(1, 4).Draw(t, "has")
			p.Applications, p.Previous[app.ID] = append(p.Applications, app), map[string]int64{"s": n}
			for k := range total {
				total[k] += n * app.Demand[k]
			}
		}
		for k := range total {
			total[k] = max(total[k], 16) // so that no guarantee is scaled
		}
		p.Applications = append(p.Applications, Application{ID: "new", Weight: 1, Queue: rapid.SampledFrom([]string{"own", "lower"}).Draw(t, "mine"), Form: Form{Demand: vector(1, 1, "new"), Min: 1, Max: 1}})
		p.Servers = []apportion.Server{{ID: "s", Capacity: total}}
		d := newDraft(resolve(p))
		i := len(p.Applications) - 1
		most := make([]int64, kinds)
		before := make([][]apportion.Placement, i)
		var try func(v int)
		try = func(v int) {
			if v < i {
				before[v] = d.remove(v)
				for n := int64(1); n <= solver.Containers(before[v]); n++ {
					d.put(v, []apportion.Placement{{Count: n}})
					try(v + 1)
					d.remove(v)
				}
				d.put(v, before[v])
				return
			}
			freed := make([]int64, kinds)
			for v := range i {
				for k, q := range p.Applications[v].Demand {
					freed[k] += (solver.Containers(before[v]) - solver.Containers(d.counts[v])) * q
				}
				if !d.mayShrink(i, v, before[v]) {
					return
				}
			}
			for k := range freed {
				most[k] = max(most[k], freed[k])
			}
		}
		try(0)
		v := (&view{r: d.r, draft: d, room: d.room}).groupByRoom()
		for i := range p.Applications {
			for k := range most {
				if diff := cmp.Diff(d.gifts(i, k), v.giftsFor(i, k), cmp.AllowUnexported(gift{})); diff != "" {
					t.Fatalf("%s asks for %s: shared with others (-by itself +shared):\n%s", p.Applications[i].ID, p.Kinds[k], diff)
				}
			}
		}
		for k := range most {
			amount, _, limited := d.freeable(i, k)
			if most[k] > amount || kinds == 1 && most[k] < amount {
				t.Fatalf("%d of %s can be freed, it is said %d", most[k], p.Kinds[k], amount)
			}
			if limited {
				kept++
			}
		}
	})
}
