// This file measures what no classifier of a kind exceeds: models fitted to the very families that they are judged on.

package main

import (
	"fmt"
	"io"
	"math"

	"github.com/apportion/apportion/examples/studies/command"
)

// squared sees what another sees, and the squares and products of that.
func squared(sees features) features {
	return func(m *moment) []float64 {
		seen := sees(m)
		n := len(seen)
		for k := range n {
			for l := range k + 1 {
				seen = append(seen, seen[k]*seen[l])
			}
		}
		return seen
	}
}

// withRivals sees the signs and the scores of all rivals, on a logarithmic scale.
func withRivals(m *moment) []float64 {
	seen := signsOf(whole)(m)
	for _, score := range m.rivals {
		seen = append(seen, math.Copysign(math.Log1p(1000*math.Abs(score)), score))
	}
	return seen
}

// withPart sees the signs and the part of the run that is done, which no scheduler knows.
func withPart(m *moment) []float64 { return append(signsOf(whole)(m), float64(m.part)/parts) }

// best returns the best balanced accuracy of the rule of growth.Prospect with the limits of the odds chosen with hindsight.
func (j *judged) best(wanted func(*moment) bool) (best float64) {
	for slow := -3.0; slow <= 2; slow += 0.25 {
		for _, rise := range []float64{0, math.Ln2, math.Log(4), math.Log(back)} {
			t := j.tally(wanted, func(i int, growing bool) bool {
				if growing {
					return j.logits[i] >= slow
				}
				return j.logits[i] >= slow+rise
			})
			best = max(best, t.balanced())
		}
	}
	return best
}

// ceiling prints the balanced accuracies.
func (j *judged) ceiling(w io.Writer) {
	t := command.NewTable(w)
	fmt.Fprintln(t, "Balanced accuracy of models fitted to these families, limits chosen for each noise\tno noise\t10 %\t30 %")
	for _, row := range []struct {
		name string
		sees features
	}{
		{"the signs", signsOf(whole)},
		{"their squares and products", squared(signsOf(whole))},
		{"and the scores of all rivals", squared(withRivals)},
		{"and the part of the run, which nobody knows", squared(withPart)},
	} {
		j.logits = j.logits[:0]
		m := fit(j.all, row.sees, []float64{enough}, "")
		for i := range j.all {
			j.logits = append(j.logits, m.logit(&j.all[i], enough))
		}
		fmt.Fprint(t, row.name)
		for _, noise := range noises {
			fmt.Fprintf(t, "\t%.3f", j.best(func(m *moment) bool { return m.noise == noise }))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
