// This file places all newcomers anew, where they fill the servers nearly to the last unit, [Program §3].

package alloc

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/internal/packing"
)

const (
	// packLooks is how many looks a packing may take for each server, and mostPackLooks for all.
	packLooks, mostPackLooks = 1 << 14, 3 << 20
	// packTries is how many packings of the first of many are tried, which take a third of the looks that are left each.
	packTries = 8
)

// packSteps is how many looks a packing may take.
func (a *admission) packSteps() int { return min(mostPackLooks, packLooks*len(a.left)) }

// packFirst takes in the first of group, all of which are out, as many as packings find places for: all but ever more of the last, then more
// by bisection. It reports whether it takes in any. Those behind them are asked by best fit alone: in the seven states
// that BenchmarkTasks draws with 300 workers exchanges and searches let in none more, and take four fifths of the time.
func (a *admission) packFirst(group []int) bool {
	packed, refused, steps := 0, len(group), a.packSteps()
	for try, out := 0, 1+len(a.taken())/256; try < packTries && refused-packed > 1; try++ {
		n := (packed + refused) / 2
		if packed == 0 {
			n, out = max(1, refused-out), 2*out
		}
		for _, i := range group[packed:n] {
			a.enter(i)
		}
		if found, _ := a.pack(group[packed:n], steps/3); found {
			packed = n
			continue
		}
		refused, steps = n, steps-steps/3
		for _, i := range group[packed:n] {
			a.leaveOut(i)
		}
	}
	if packed > 0 {
		a.packed, a.questions = true, 0
	}
	return packed > 0
}

// pack finds places for all newcomers that are in, of which those in group have none, beside what runs, which stays where it is. Where
// found is false nothing has changed. No packing is tried where the places of one depend on more than the room on each server. all: a
// packing was tried, and no application runs that could have been moved or shrunk besides.
func (a *admission) pack(group []int, steps int) (found, all bool) {
	task, newcomers, shapes := a.packingOf(group)
	if task == nil {
		return false, false
	}
	all = len(newcomers) == len(a.taken())
	placed := task.Pack(steps)
	if placed == nil {
		return false, all
	}
	for _, i := range newcomers {
		a.remove(i)
	}
	for at, i := range newcomers {
		places, need := &placed[shapes[at]], a.least(i)
		var own []apportion.Placement
		for need > 0 {
			first := &(*places)[0]
			n := min(need, first.Count)
			own = append(own, apportion.Placement{Server: first.Server, Count: n})
			if need, first.Count = need-n, first.Count-n; first.Count == 0 {
				*places = (*places)[1:]
			}
		}
		a.put(i, own)
	}
	a.takings++
	return true, all
}

// packingOf states the question of pack; nil: the places of a newcomer depend on more than room. shapes has that of each newcomer.
func (a *admission) packingOf(group []int) (task *packing.Task, newcomers, shapes []int) {
	if a.r.tree != nil || len(a.reserved) > 0 {
		return nil, nil, nil
	}
	task = &packing.Task{Left: make([]apportion.Resources, len(a.left))}
	for j := range a.left {
		task.Left[j] = a.left[j].Clone()
	}
	known, first := make(map[string]int), []int(nil)
	for i, in := range a.in {
		if !in || a.r.running(i) {
			continue
		}
		app, n := &a.r.problem.Applications[i], a.least(i)
		if len(a.r.options(i)) > 1 || a.r.wishes[i] != nil || app.MaxServers > 0 || app.PerServer > 0 {
			return nil, nil, nil
		}
		for _, p := range a.counts[i] {
			for k, q := range app.Demand {
				task.Left[p.Server][k] += p.Count * q
			}
		}
		key := fmt.Sprint(app.Demand, a.r.classes(i))
		s, there := known[key]
		if !there {
			s = len(task.Demand)
			known[key], first = s, append(first, i)
			task.Demand, task.Number = append(task.Demand, app.Demand), append(task.Number, 0)
		}
		task.Number[s] += n
		newcomers, shapes = append(newcomers, i), append(shapes, s)
	}
	for _, i := range group {
		if a.r.running(i) {
			return nil, nil, nil // it is forced
		}
	}
	task.Open = func(s, j int) bool { return a.r.mayCome(first[s], j) }
	return task, newcomers, shapes
}
