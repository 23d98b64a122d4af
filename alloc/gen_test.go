package alloc_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/exact"
)

// genProblem draws a small problem: one to three kinds, one to four servers, one to five
// applications, some of them running where they fit, thresholds and options of every sort.
func genProblem(t *rapid.T) *alloc.Problem {
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	p := &alloc.Problem{
		Kinds:  apportion.Kinds{"cpu", "gpu", "memory"}[:kinds],
		Theta1: rapid.SampledFrom([]float64{0, .1, .3, 1}).Draw(t, "theta1"),
		Theta2: rapid.SampledFrom([]float64{0, .1, .5, 1}).Draw(t, "theta2"),
		Options: alloc.Options{
			Share: rapid.SampledFrom([]alloc.ShareRule{alloc.BoundedDRF, alloc.PureDRF, alloc.WholeDRF}).Draw(t, "share"),
			Rule: alloc.Rule{NoCeil15: rapid.Bool().Draw(t, "no ceil 15"),
				NoCeil16:    rapid.Bool().Draw(t, "no ceil 16"),
				Paper:       rapid.Bool().Draw(t, "paper rule"),
				AdmitPrefix: rapid.Bool().Draw(t, "admit prefix")},
		},
	}
	for j := range rapid.IntRange(1, 4).Draw(t, "servers") {
		capacity := genVector(t, "capacity", kinds, 8)
		if j > 0 && rapid.Bool().Draw(t, "like the last one") {
			capacity = p.Servers[j-1].Capacity.Clone()
		}
		p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprintf("s%d", j), Capacity: capacity})
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "applications") {
		demand := genVector(t, "demand", kinds, 3)
		if demand.IsZero() {
			demand[0] = 1
		}
		least := rapid.Int64Range(0, 2).Draw(t, "min")
		p.Applications = append(p.Applications, alloc.Application{
			ID: fmt.Sprintf("a%d", i), Weight: rapid.SampledFrom([]float64{.5, 1, 2, 4}).Draw(t, "weight"), Form: alloc.Form{Demand: demand, Min: least, Max: max(1, least) + rapid.Int64Range(0, 4).Draw(t, "max")},
			Start: []string{"start", fmt.Sprint(i)}, Resume: []string{"resume", fmt.Sprint(i)},
		})
	}
	if !p.Options.Paper {
		genCluster(t, p)
	}
	if rapid.IntRange(0, 2).Draw(t, "compact") == 0 {
		p.Compact = p.Kinds[kinds-1:]
	}
	if rapid.IntRange(0, 2).Draw(t, "worths") == 0 {
		genWorths(t, p)
	}
	if rapid.IntRange(0, 2).Draw(t, "spreads") == 0 {
		genSpread(t, p)
	}
	if rapid.IntRange(0, 3).Draw(t, "loss in worth") == 0 {
		p.Options.Loss = alloc.LossInWorth
		genSpeeds(t, p)
	}
	p.Previous = genPrevious(t, p)
	if rapid.IntRange(0, 2).Draw(t, "has options") == 0 {
		genOptions(t, p)
	}
	if rapid.IntRange(0, 3).Draw(t, "has a least run") == 0 {
		p.Options.MinRun = 10
		for i := range p.Applications {
			held := float64(rapid.IntRange(0, 20).Draw(t, "held"))
			p.Applications[i].Held = &held
		}
	}
	return p
}

// genWorths lets some applications state worths of any shape, and prices of restarts.
func genWorths(t *rapid.T, p *alloc.Problem) {
	quarter := func(name string) float64 { return float64(rapid.IntRange(-4, 12).Draw(t, name)) / 4 }
	for i := range p.Applications {
		app := &p.Applications[i]
		if rapid.Bool().Draw(t, "prices a restart") {
			stay := quarter("stay")
			app.StayWorth = &stay
		}
		if !rapid.Bool().Draw(t, "states worths") {
			continue
		}
		app.Worth = []float64{}
		for range numbersAbove0(app) {
			app.Worth = append(app.Worth, quarter("worth"))
		}
		if app.Min == 0 {
			app.IdleWorth = quarter("idle")
		}
	}
}

// genSpread lets some applications state what servers cost them, as a part of their worth or by number and servers, and some a restart.
func genSpread(t *rapid.T, p *alloc.Problem) {
	for i := range p.Applications {
		app := &p.Applications[i]
		if app.StayWorth == nil && rapid.IntRange(0, 3).Draw(t, "states a restart") == 0 {
			cost := rapid.SampledFrom([]float64{0, .125, .5, 3}).Draw(t, "restart cost")
			app.RestartCost = &cost
		}
		switch rapid.IntRange(0, 3).Draw(t, "states spread") {
		case 0:
			cost := rapid.SampledFrom([]float64{0, .1, .5, 2}).Draw(t, "spread cost")
			app.SpreadCost = &cost
		case 1:
			if app.Worth != nil {
				continue
			}
			app.WorthOn = [][]float64{}
			for range numbersAbove0(app) {
				row := rapid.SliceOfN(rapid.IntRange(-4, 12), 1, 3).Draw(t, "worth on")
				app.WorthOn = append(app.WorthOn, make([]float64, len(row)))
				for s, quarters := range row {
					app.WorthOn[len(app.WorthOn)-1][s] = float64(quarters) / 4
				}
			}
		}
	}
}

// numbersAbove0 counts the numbers of containers above 0 that an application may have, one by one.
func numbersAbove0(app *alloc.Application) int {
	numbers := 0
	for n := max(1, app.Min); n <= app.Max; n++ {
		if n%max(1, app.Step) == 0 && (app.Counts == nil || slices.Contains(app.Counts, n)) {
			numbers++
		}
	}
	return numbers
}

// genCluster gives servers and applications some of what the paper's have not.
func genCluster(t *rapid.T, p *alloc.Problem) {
	p.Options.Preempt = rapid.Bool().Draw(t, "preempt")
	for j := range p.Servers {
		p.Servers[j].Labels = map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")}
		p.Servers[j].Cordoned = rapid.IntRange(0, 4).Draw(t, "cordoned") == 0
	}
	seldom := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	for i := range p.Applications {
		app := &p.Applications[i]
		app.Priority, app.Pinned, app.Preemptible = rapid.Int64Range(-1, 1).Draw(t, "priority"), seldom("pinned"), seldom("preemptible")
		if seldom("requires") {
			op := rapid.SampledFrom([]apportion.Operator{apportion.In, apportion.NotIn}).Draw(t, "op")
			app.Requires = []apportion.Requirement{{Key: "zone", Op: op, Values: []string{"a"}}}
		}
		if seldom("step") {
			app.Step = 2
		}
		if seldom("counts") {
			app.Counts = []int64{1, 2, 4}
		}
		if seldom("per server") {
			app.PerServer = rapid.Int64Range(1, 2).Draw(t, "per server")
		}
		if seldom("max servers") {
			app.MaxServers = 1
		}
		if seldom("most") {
			app.Most = rapid.Int64Range(1, 4).Draw(t, "most")
		}
		if seldom("cost") {
			cost := rapid.Int64Range(0, 3).Draw(t, "cost")
			app.AdjustCost = &cost
		}
	}
}

func genVector(t *rapid.T, name string, n int, top int64) apportion.Resources {
	return rapid.SliceOfN(rapid.Int64Range(0, top), n, n).Draw(t, name)
}

// genPrevious places containers of some of the applications where there is room, and of one that
// has finished.
func genPrevious(t *rapid.T, p *alloc.Problem) alloc.Allocation {
	previous := alloc.Allocation{}
	for _, server := range p.Servers {
		left := server.Capacity.Clone()
		for _, app := range p.Applications {
			if app.ID == "a0" || !rapid.Bool().Draw(t, "runs here") {
				continue
			}
			n := min(app.Demand.CountIn(left), app.Max-previous.Containers(app.ID), rapid.Int64Range(0, 2).Draw(t, "runs"))
			if n <= 0 {
				continue
			}
			if previous[app.ID] == nil {
				previous[app.ID] = map[string]int64{}
			}
			previous[app.ID][server.ID] = n
			if err := exact.AddTimesTo(left, left, -n, app.Demand); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rapid.Bool().Draw(t, "one has finished") {
		previous["done"] = map[string]int64{p.Servers[0].ID: 1}
	}
	return previous
}

// damage lets servers shrink or vanish, whatever runs on them.
func damage(t *rapid.T, p *alloc.Problem) {
	p.Options.Displace = true
	if n := len(p.Servers); n > 1 && rapid.Bool().Draw(t, "one is gone") {
		p.Servers = p.Servers[:n-1]
	}
	for j := range p.Servers {
		for k := range p.Servers[j].Capacity {
			if rapid.IntRange(0, 3).Draw(t, "shrinks") == 0 {
				p.Servers[j].Capacity[k] /= 2
			}
		}
	}
}
