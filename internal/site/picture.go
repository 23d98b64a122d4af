// This file draws the concepts: each picture shows what the library answers when the site is made.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/primaldual"
)

// pictures draw, by name.
var pictures = map[string]func() (string, error){
	"shares": shares, "decision": decision, "bounds": bounds, "admission": admission, "place": place, "adjustment": adjustment,
}

// picture draws one into a page.
func (in *include) picture(name string) (string, error) {
	draw := pictures[name]
	if draw == nil {
		return "", fmt.Errorf("there is no picture %q", name)
	}
	return draw()
}

// shares is the example of [Ghodsi11] §4.1.
func shares() (string, error) {
	capacity, claims := apportion.Resources{9, 18}, []drf.Claim{
		{ID: "A", Demand: apportion.Resources{1, 4}, Weight: 1, Max: drf.NoMax},
		{ID: "B", Demand: apportion.Resources{3, 1}, Weight: 1, Max: drf.NoMax},
	}
	filling, err := drf.Fill(capacity, claims)
	if err != nil {
		return "", err
	}
	d := &drawing{}
	for k, kind := range []string{"9 CPUs", "18 GB"} {
		var parts []part
		for i, c := range filling.Claims {
			parts = append(parts, part{claims[i].ID, c.Containers * float64(claims[i].Demand[k])})
		}
		d.parts(kind, float64(capacity[k]), 0, append(parts, part{"", filling.Unused[k]}))
	}
	d.legend()
	return d.svg(fmt.Sprintf("A has %.3g of the memory and B %.3g of the CPUs: their dominant shares are equal", filling.Claims[0].Share, filling.Claims[1].Share)), nil
}

// fig5 is the cluster of [Dorm] Fig. 5, as in the quickstart.
func fig5() *alloc.Problem {
	app := func(id string, weight float64, gpu, most int64) alloc.Application {
		return alloc.Application{ID: id, Weight: weight, Form: alloc.Form{Demand: apportion.Resources{1, gpu, 8}, Min: 1, Max: most}}
	}
	return &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "gpu", "memory"},
		Servers: []apportion.Server{
			{ID: "slave-1", Capacity: apportion.Resources{6, 2, 48}},
			{ID: "slave-2", Capacity: apportion.Resources{4, 0, 32}},
			{ID: "slave-3", Capacity: apportion.Resources{4, 0, 32}},
		},
		Applications: []alloc.Application{app("app-1", 1, 0, 6), app("app-2", 1, 0, 8), app("app-3", 2, 1, 5)},
		Previous:     alloc.Allocation{"app-1": {"slave-1": 2, "slave-2": 4}, "app-2": {"slave-1": 4, "slave-3": 4}},
		Theta1:       0.1, Theta2: 0.1,
		Options: alloc.Options{RestartCost: new(float64)},
	}
}

// servers draws who has which containers where, with a box for each.
func servers(d *drawing, p *alloc.Problem, on alloc.Allocation, kind int, most float64) {
	for _, s := range p.Servers {
		var parts []part
		for i := range p.Applications {
			app := &p.Applications[i]
			if n := on[app.ID][s.ID]; n > 0 {
				parts = append(parts, part{app.ID, float64(n * app.Demand[kind])})
			}
		}
		unit := float64(p.Applications[0].Demand[kind])
		left := float64(s.Capacity[kind])
		for _, q := range parts {
			left -= q.size
		}
		d.parts(s.ID, most, unit, append(parts, part{"", left}))
	}
}

func decision() (string, error) {
	p := fig5()
	answer, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		return "", err
	}
	d := &drawing{}
	for _, app := range p.Applications {
		d.class(app.ID)
	}
	d.heading("app-3 comes, and needs GPUs of slave-1")
	servers(d, p, p.Previous, 2, 48)
	d.heading("What is decided")
	servers(d, p, answer.Allocation, 2, 48)
	d.legend()
	return d.svg(fmt.Sprintf("Restarted for it: %s. Utilization %.4g, and no decision within the budgets has more than %.4g",
		strings.Join(alloc.NewPlan(p, answer.Allocation).Affected, ", "), answer.Objective, answer.Bound)), nil
}

// bounds draws what a budget of unfairness allows, decided and bounded: an application whose containers use CPUs and memory beside one
// whose containers use CPUs alone.
func bounds() (string, error) {
	app := func(id string, memory int64) alloc.Application {
		return alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1, memory}, Min: 1, Max: 24}}
	}
	p := &alloc.Problem{
		Kinds: apportion.Kinds{"cpu", "memory"}, Theta2: 1, Applications: []alloc.Application{app("both", 1), app("one", 0)},
		Servers: []apportion.Server{
			{ID: "s1", Capacity: apportion.Resources{8, 8}}, {ID: "s2", Capacity: apportion.Resources{8, 8}}, {ID: "s3", Capacity: apportion.Resources{8, 8}}},
	}
	var thetas, decided, bound []float64
	for i := range 21 {
		p.Theta1 = float64(i) / 20
		answer, err := alloc.Reallocate(context.Background(), p, nil)
		if err != nil {
			return "", err
		}
		thetas, decided, bound = append(thetas, p.Theta1), append(decided, answer.Objective), append(bound, answer.Bound)
	}
	d := &drawing{}
	d.heading("Utilization by theta1, the budget of unfairness")
	d.curve(thetas, 1, 2, map[string][]float64{"bound": bound, "decided": decided}, []string{"bound", "decided"})
	d.legend()
	gap := 0.0
	for i := range decided {
		gap = max(gap, (bound[i]-decided[i])/bound[i])
	}
	return d.svg(fmt.Sprintf("From %.3g where shares must be equal to %.3g where they need not; what is decided is within %.2g %% of its bound",
		decided[0], slices.Max(decided), 100*gap)), nil
}

// admission is the scene of the program admit.
func admission() (string, error) {
	cluster := &primaldual.Cluster{Kinds: apportion.Kinds{"gpu"}, Slots: 6,
		WorkerServers: []apportion.Server{{ID: "gpu-1", Capacity: apportion.Resources{4}}},
		PSServers:     []apportion.Server{{ID: "cpu-1", Capacity: apportion.Resources{4}}}}
	job := func(id string, arrival int, epochs int64, utility primaldual.Utility) primaldual.Job {
		return primaldual.Job{ID: id, Arrival: arrival, Epochs: epochs, Chunks: 4, Minibatches: 10, MinibatchSlots: 0.08, CommSlots: 0.02,
			WorkerBandwidth: 1, PSBandwidth: 4, Worker: apportion.Resources{1}, PS: apportion.Resources{1}, Utility: utility}
	}
	jobs := []primaldual.Job{
		job("demo", 1, 2, primaldual.Steps{{Within: 1, Value: 60}}),
		job("nightly", 1, 3, primaldual.Linear{Start: 20, PerSlot: 2}),
		job("sweep", 2, 2, primaldual.Steps{{Within: 2, Value: 2}}),
		job("paper", 3, 1, primaldual.Sigmoid{Gamma1: 50, Gamma2: 2, Gamma3: 3}),
	}
	limits, err := primaldual.BoundsOf(cluster, jobs, nil)
	if err != nil {
		return "", err
	}
	scheduler, err := primaldual.NewScheduler(cluster, &limits, nil)
	if err != nil {
		return "", err
	}
	slots := make([][]part, cluster.Slots)
	refused := ""
	for _, j := range jobs {
		answer, err := scheduler.Offer(j)
		if err != nil {
			return "", err
		}
		if !answer.Admitted {
			refused += fmt.Sprintf("; %s is refused: %s", j.ID, answer.Verdict)
		}
		for _, s := range answer.Schedule {
			for _, w := range s.Workers {
				slots[s.Slot-1] = append(slots[s.Slot-1], part{j.ID, float64(w.Count)})
			}
		}
	}
	d := &drawing{}
	for i, parts := range slots {
		left := 4.0
		for _, p := range parts {
			left -= p.size
		}
		d.parts(fmt.Sprint("slot ", i+1), 4, 1, append(parts, part{"", left}))
	}
	d.legend()
	return d.svg("Four GPUs, slot by slot" + refused), nil
}

// place draws the same containers under two rules.
func place() (string, error) {
	d := &drawing{}
	for _, rule := range []placement.Rule{placement.BestFit, placement.RoundRobin} {
		packer, err := placement.NewPacker(rule, apportion.Kinds{"gpu"}, []placement.Bin{
			{Free: apportion.Resources{4}}, {Free: apportion.Resources{4}}, {Free: apportion.Resources{4}}})
		if err != nil {
			return "", err
		}
		d.heading(string(rule))
		held := make([][]part, 3)
		for _, job := range []struct {
			id     string
			demand int64
			count  int64
		}{{"a", 1, 2}, {"b", 2, 1}, {"c", 1, 3}, {"large", 4, 1}} {
			on, _ := packer.Place(apportion.Resources{job.demand}, job.count, nil)
			for _, p := range on {
				held[p.Server] = append(held[p.Server], part{job.id, float64(p.Count * job.demand)})
			}
		}
		for i, parts := range held {
			d.parts(fmt.Sprint("server ", i+1), 4, 1, append(parts, part{"", float64(packer.Free(i)[0])}))
		}
	}
	d.legend()
	return d.svg("Jobs a, b and c first, then a container of four GPUs: one rule alone has left a whole server for it"), nil
}

// adjustment draws the plan of the decision, a column for each step.
func adjustment() (string, error) {
	p := fig5()
	answer, err := alloc.Reallocate(context.Background(), p, nil)
	if err != nil {
		return "", err
	}
	plan := alloc.NewPlan(p, answer.Allocation)
	d := &drawing{}
	for i, s := range plan.Steps {
		on := ""
		if s.Containers > 0 {
			on = fmt.Sprintf(" %d on %s", s.Containers, s.Server)
		}
		label := s.Application + ": " + string(s.Action) + on
		y := d.height
		fmt.Fprintf(&d.body, `<circle class="%s" cx="12" cy="%.5g" r="9"/>`, d.class(s.Application), y+13)
		d.text(30, y+18, "start", fmt.Sprintf("%d. %s", i+1, label))
		d.height += row
	}
	return d.svg("What the decision above needs, in an order that always fits: a job is saved before it loses a container"), nil
}
