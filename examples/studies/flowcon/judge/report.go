// This file prints the tables.

package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apportion/apportion/examples/studies/command"
)

// every sign, in the order of growth.Evidence, and those of the plain model.
var (
	signs = []string{"last half", "three quarters", "noise", "readings", "behind its best", "since its best", "newest", "newest where loud"}
	plain = []int{0, 1, 2, 3}
	whole = []int{0, 1, 2, 3, 4, 5, 6, 7}
)

// harm is how much worse a call that comes too early is than one that comes too late, back by how much the odds must
// rise before a call is taken back: the defaults of growth.Prospect.
const harm, back = 4, 16

// judged are moments with the logits of each.
type judged struct {
	all    []moment
	logits []float64
	names  []string // families
}

// report prints what holds with and without families left out.
func (j *judged) report(w io.Writer) {
	fmt.Fprintf(w, "%d families: %s.\n\n", len(j.names), strings.Join(j.names, "; "))
	for _, table := range []func(io.Writer){j.ranking, j.calls, j.calibration} {
		t := command.NewTable(w)
		table(t)
		t.End()
	}
}

// ranking prints the share of pairs that are ranked rightly.
func (j *judged) ranking(w io.Writer) {
	fmt.Fprint(w, "Pairs ranked rightly (a clock: 0.5)\nnoise\treadings\tProspect")
	for _, r := range rivals {
		fmt.Fprint(w, "\t"+r.name)
	}
	fmt.Fprintln(w)
	for _, noise := range noises {
		for _, length := range append([]int{0}, lengths...) {
			wanted := func(m *moment) bool { return m.noise == noise && (length == 0 || m.length == length) }
			name := fmt.Sprint(length)
			if length == 0 {
				name = "all"
			}
			fmt.Fprintf(w, "%g %%\t%s\t%.3f", 100*noise, name, auc(j.all, func(i int) float64 { return j.logits[i] }, wanted))
			for k := range rivals {
				fmt.Fprintf(w, "\t%.3f", auc(j.all, func(i int) float64 { return j.all[i].rivals[k] }, wanted))
			}
			fmt.Fprintln(w)
		}
	}
}

// tally counts moments by what is true (1: more is ahead) and what was said (1: growing), and calls taken back.
type tally struct {
	counts [2][2]float64
	back   float64
	runs   float64
}

// balanced is the mean of both shares of right answers.
func (t *tally) balanced() float64 {
	c := t.counts
	return (c[1][1]/(c[1][0]+c[1][1]) + c[0][0]/(c[0][0]+c[0][1])) / 2
}

// tally plays a rule over all runs: keeps reports whether a job goes on to count as growing, or begins to again.
func (j *judged) tally(wanted func(*moment) bool, keeps func(i int, growing bool) bool) (t tally) {
	growing := true
	for i := range j.all {
		m := &j.all[i]
		if !wanted(m) {
			continue
		}
		if i == 0 || j.all[i-1].part > m.part {
			growing = true
			t.runs++
		}
		was := growing
		growing = keeps(i, growing)
		if growing && !was {
			t.back++
		}
		t.counts[int(truth(m.left > enough))][int(truth(growing))]++
	}
	return t
}

// prospect is the rule of growth.Prospect, by logits of families left out.
func (j *judged) prospect(i int, growing bool) bool {
	odds := j.logits[i] + math.Log(harm)
	if growing {
		return odds >= 0
	}
	return odds >= math.Log(back)
}

// clock returns the best balanced accuracy of a rule that reads no value, with hindsight.
func (j *judged) clock(wanted func(*moment) bool, reading func(*moment) float64) (best float64) {
	for limit := 0.05; limit < 400; limit *= 1.15 {
		t := j.tally(wanted, func(i int, _ bool) bool { return reading(&j.all[i]) < limit })
		if b := t.balanced(); !math.IsNaN(b) {
			best = max(best, b)
		}
	}
	return best
}

// calls prints balanced accuracies, and how often a call was taken back.
func (j *judged) calls(w io.Writer) {
	part := func(m *moment) float64 { return float64(m.part) / parts }
	count := func(m *moment) float64 { return part(m) * float64(m.length) }
	fmt.Fprintln(w, "Balanced accuracy\nnoise\tProspect\ttaken back a run\tclock by part\tclock by count")
	for _, noise := range noises {
		wanted := func(m *moment) bool { return m.noise == noise }
		t := j.tally(wanted, j.prospect)
		fmt.Fprintf(w, "%g %%\t%.3f\t%.2f\t%.3f\t%.3f\n", 100*noise, t.balanced(), t.back/t.runs, j.clock(wanted, part), j.clock(wanted, count))
	}
	fmt.Fprintln(w, "\nfamily\tmore ahead\tright of these\tright of the others")
	for _, family := range j.names {
		t := j.tally(func(m *moment) bool { return m.family == family }, j.prospect)
		c := t.counts
		ahead, done := c[1][0]+c[1][1], c[0][0]+c[0][1]
		fmt.Fprintf(w, "%s\t%.0f %%\t%.0f %%\t%.0f %%\n", family, 100*ahead/(ahead+done), 100*c[1][1]/ahead, 100*c[0][0]/done)
	}
}

// calibration prints chances beside what came true, by tenths of the predictions.
func (j *judged) calibration(w io.Writer) {
	var said, true_, count [10]float64
	for i, logit := range j.logits {
		p := chance(logit)
		k := min(int(10*p), 9)
		said[k] += p
		true_[k] += truth(j.all[i].left > enough)
		count[k]++
	}
	sum := 0.0
	fmt.Fprintln(w, "Chance that more than 5 % is ahead\nsaid\tcame true\tmoments")
	for k := range said {
		if count[k] > 0 {
			fmt.Fprintf(w, "%.2f\t%.2f\t%.0f\n", said[k]/count[k], true_[k]/count[k], count[k])
			sum += math.Abs(said[k] - true_[k])
		}
	}
	fmt.Fprintf(w, "mean error\t%.3f\n", sum/float64(len(j.logits)))
}

// ablation prints what each sign beyond the plain ones is worth.
func (j *judged) ablation(w io.Writer) {
	t := command.NewTable(w)
	fmt.Fprintln(t, "Signs, each family left out\tno noise\t10 %\t30 %")
	row := func(name string, use []int) {
		logits := unseen(j.all, j.names, signsOf(use), []float64{enough})
		fmt.Fprint(t, name)
		for _, noise := range noises {
			fmt.Fprintf(t, "\t%.3f", auc(j.all, func(i int) float64 { return logits[i] }, func(m *moment) bool { return m.noise == noise }))
		}
		fmt.Fprintln(t)
	}
	row("shares, noise and readings", plain)
	for _, sign := range whole[len(plain):] {
		row("and "+signs[sign], append(plain[:len(plain):len(plain)], sign))
	}
	row("all", whole)
	t.End()
}

// weights prints the model that package growth has.
func weights(w io.Writer, all []moment) {
	m := fit(all, signsOf(whole), shares, "")
	fmt.Fprintf(w, "constant: %.4f, share: %.4f,\n", m.weights[0], m.weights[1])
	for k, name := range signs {
		fmt.Fprintf(w, "%s: %.4f,\n", name, m.weights[2+k])
	}
}
