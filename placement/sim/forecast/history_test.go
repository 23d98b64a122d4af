// This file tests lengths drawn from what ran before.

package forecast

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// runsOf returns runs of one user and queue.
func runsOf(user, queue string, limit float64, lengths ...float64) (runs []Run) {
	for _, l := range lengths {
		runs = append(runs, Run{User: user, Queue: queue, Length: l, Limit: limit})
	}
	return runs
}

func TestHistoryFaults(t *testing.T) {
	for _, test := range []struct {
		field string
		run   Run
		o     *Shrinkage
		want  error
	}{
		{"Length", Run{Length: -1}, nil, apportion.ErrNegative},
		{"Length", Run{Length: math.NaN()}, nil, apportion.ErrNotFinite},
		{"Limit", Run{Limit: math.Inf(1)}, nil, apportion.ErrNotFinite},
		{"Limit", Run{Limit: 1e12}, nil, apportion.ErrRange},
		{"Strength", Run{}, &Shrinkage{Strength: -1}, apportion.ErrNegative},
		{"Recent", Run{}, &Shrinkage{Recent: -1}, apportion.ErrNegative},
	} {
		_, err := NewHistory([]Run{{Length: 1}, test.run}, test.o)
		var faults apportion.Faults
		if !errors.As(err, &faults) || !errors.Is(err, test.want) || faults[0].Field != test.field {
			t.Errorf("%s: %v, want %v", test.field, err, test.want)
		}
	}
}

func TestLength(t *testing.T) {
	own := runsOf("u", "q", 0, 10, 20, 30, 40)
	limited := runsOf("u", "q", 100, 10, 20, 50, 100)
	for _, test := range []struct {
		name  string
		runs  []Run
		job   Known
		limit float64
		d     draws
		want  float64
	}{
		{"the first of the user's", own, Known{User: "u"}, 0, draws{0, 0}, 10},
		{"the third of the user's", own, Known{User: "u"}, 0, draws{0, 0.5}, 30},
		{"another user has the queue's", own, Known{User: "v"}, 0, draws{0, 0.99}, 40},
		{"longer than it is", own, Known{User: "u", Ran: 20}, 0, draws{0, 0}, 30},
		{"longer than all: as long again", own, Known{User: "u", Ran: 50}, 0, draws{0, 0}, 100},
		{"longer than all: to its limit", own, Known{User: "u", Ran: 50}, 70, draws{0, 0}, 70},
		{"no longer than its limit", own, Known{User: "u"}, 15, draws{0, 0.99}, 15},
		{"a part of its limit", limited, Known{User: "u"}, 10, draws{0, 0.5}, 5},
		{"a larger part of its limit", limited, Known{User: "u", Ran: 3}, 10, draws{0, 0}, 5},
		{"beyond its limit", limited, Known{User: "u", Ran: 12}, 10, draws{0, 0}, 12},
	} {
		h := must.Have(NewHistory(test.runs, nil))(t)
		if got, known := h.length(&test.job, "q", test.limit, test.d); got != test.want || !known {
			t.Errorf("%s: %g, %v, want %g", test.name, got, known, test.want)
		}
	}
	var none *History
	if got, known := none.length(&Known{}, "q", 7, draws{}); got != 7 || !known {
		t.Errorf("a limit alone: %g, %v", got, known)
	}
	if _, known := none.length(&Known{}, "q", 0, draws{}); known {
		t.Error("nothing is known, and a length is")
	}
}

// The mean of many draws is that of the mixture whose weights n/(n+4) are counted here, and given that a job has run, that of Bayes' rule over all
// runs one by one, which knows of no levels.
func TestShrinkage(t *testing.T) {
	runs := append(append(runsOf("v", "r", 0, 1000, 1000, 3000, 5000), runsOf("v", "q", 0, 200, 400)...), runsOf("u", "q", 0, 10, 20)...)
	h := must.Have(NewHistory(runs, nil))(t)
	// Two runs of the user, four of the queue, eight of all.
	user := 2.0 / 6
	queue := (1 - user) * 4 / 8
	weightOf := func(r Run) float64 {
		w := (1 - user - queue) / 8
		if r.Queue == "q" {
			w += queue / 4
		}
		if r.User == "u" {
			w += user / 2
		}
		return w
	}
	for _, ran := range []float64{0, 10, 15, 200, 999, 3000} {
		mean, total := 0.0, 0.0
		for _, r := range runs {
			if r.Length > ran {
				mean, total = mean+weightOf(r)*r.Length, total+weightOf(r)
			}
		}
		random, got := rand.New(rand.NewPCG(1, 1)), 0.0
		const n = 200000
		for range n {
			l, _ := h.length(&Known{User: "u", Ran: ran}, "q", 0, drawsFrom(random))
			got += l / n
		}
		if want := mean / total; math.Abs(got-want) > 0.02*want {
			t.Errorf("having run %g: %g in the mean, want %g", ran, got, want)
		}
	}
}

// Of a user the last runs count alone.
func TestRecent(t *testing.T) {
	h := must.Have(NewHistory(runsOf("u", "q", 0, 1, 2, 3, 4), &Shrinkage{Recent: 2}))(t)
	if got := h.users[[2]string{"q", "u"}].seconds; len(got) != 2 || got[0] != 3 || len(h.queues["q"].seconds) != 4 {
		t.Errorf("%v", got)
	}
}
