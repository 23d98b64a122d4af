// This file says when jobs that have nothing start, by a forecast of what a decision leads to, [Smith99 §3].

package page

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/placement/sim/forecast"
)

// outlook is what a forecast is made of: decision, the answer to problem, was taken at, and known says more than problem has of how long
// jobs run.
type outlook struct {
	at       time.Time
	problem  *alloc.Problem
	decision *alloc.Decision
	known    []forecast.Known
	options  forecast.Options
}

// Start is when one job begins that has nothing.
type Start struct {
	// Early and Late are the tenth and nine tenths of the replays, Middle the half; zero: later than the forecast looks, where Early is
	// the instant up to which it does.
	Early  time.Time `json:"early"`
	Middle time.Time `json:"middle,omitzero"`
	Late   time.Time `json:"late,omitzero"`
	// Without is another job, without which this one would begin at Then in half of the replays; empty: nobody has asked.
	Without string    `json:"without,omitempty"`
	Then    time.Time `json:"then,omitzero"`
}

// Foresight is when the jobs begin that have nothing after a decision.
type Foresight struct {
	// At is the instant of the decision, and Starts are by job.
	At     time.Time
	Starts map[string]*Start
	// Reason is the zero Reason, or says why nothing is foreseen.
	Reason apportion.Reason

	clock forecast.Clock
	words map[string]string // by job
}

// mostWithout is how many of the jobs that wait are forecast once more without the job that stands in their way: each is a forecast of its own.
const mostWithout = 2

// foresee forecasts when the jobs begin to which the decision gives nothing: the first of them also without the job whose suspension would
// let them in. Errors are those of forecast.New, whose cost it has up to three times.
func (o *outlook) foresee(ctx context.Context) (*Foresight, error) {
	next := after(o.problem, o.decision)
	f, err := forecast.New(ctx, next, o.known, &o.options)
	if err != nil {
		return nil, err
	}
	fore := &Foresight{At: o.at, Starts: map[string]*Start{}, Reason: f.Reason, clock: forecast.Clock{Now: o.at, Horizon: f.Horizon}, words: map[string]string{}}
	for i := range f.Jobs {
		q := f.Jobs[i].Start
		start := &Start{Early: fore.instant(&f.Horizon), Middle: fore.instant(q.P50), Late: fore.instant(q.P90)}
		if q.P10 != nil {
			start.Early = fore.instant(q.P10)
		}
		fore.Starts[f.Jobs[i].ID], fore.words[f.Jobs[i].ID] = start, "it starts "+fore.clock.Between(q)
	}
	asked := 0
	for _, w := range o.decision.Waiting {
		start, other := fore.Starts[w.ID], suspended(&w.Reason)
		if start == nil || other == "" || asked == mostWithout {
			continue
		}
		asked++
		if err := o.without(ctx, fore, next, w.ID, other); err != nil {
			return nil, err
		}
	}
	return fore, nil
}

// suspended is the job whose suspension would let in the one that a reason is about; "": none would by itself.
func suspended(r *apportion.Reason) string {
	for at := range r.Remedies {
		if m := &r.Remedies[at]; m.Change == alloc.Suspend && len(m.Applications) == 1 {
			return m.Applications[0]
		}
	}
	return ""
}

// without notes when a job would begin without another one.
func (o *outlook) without(ctx context.Context, f *Foresight, p *alloc.Problem, job, other string) error {
	gone, err := p.After([]alloc.Change{{End: &other}}, "")
	if err != nil {
		return err
	}
	options := o.options
	options.Asked = []string{job}
	known := slices.DeleteFunc(slices.Clone(o.known), func(k forecast.Known) bool { return k.ID == other })
	then, err := forecast.New(ctx, gone, known, &options)
	if err == nil && len(then.Jobs) == 1 && then.Jobs[0].Start.P50 != nil {
		start, half := f.Starts[job], then.Jobs[0].Start.P50
		start.Without, start.Then = other, f.instant(half)
		f.words[job] += fmt.Sprintf("; without %s it would be %s", other, f.clock.At(half))
	}
	return err
}

// instant is a time of the forecast; zero: it is beyond the horizon.
func (f *Foresight) instant(seconds *float64) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return f.At.Add(time.Duration(*seconds * float64(time.Second)))
}

// Text says when a job begins, as the end of a sentence about it; empty: it has something, or nobody knows of it.
func (f *Foresight) Text(job string) string {
	if f == nil {
		return ""
	}
	if f.Reason.Constraint != "" {
		return "its start is not known: " + f.Reason.Text
	}
	return f.words[job]
}

// Foreseen sets when those of the Jobs begin that have nothing, by a Clock that is Wall, and notes why that is not known. f may be nil.
func (s *State) Foreseen(f *Foresight) {
	if f == nil {
		return
	}
	unix := func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		return float64(t.UnixMilli()) / 1000
	}
	waits := false
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if start := f.Starts[j.ID]; start != nil && len(j.On) == 0 {
			j.Early, j.Late, j.Without, j.Then = unix(start.Early), unix(start.Late), start.Without, unix(start.Then)
		}
		waits = waits || j.Place > 0
	}
	if waits && f.Reason.Constraint != "" {
		s.Notes = append(s.Notes, "When waiting jobs start is not known: "+f.Reason.Text+".")
	}
}
