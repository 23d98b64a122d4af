// This file tests how a controller follows its cluster, look by look: clocks that stop, deadlines that come nearer, and jobs
// that are told of while nobody understands them.

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/managed"
	"github.com/apportion/apportion/internal/must"
)

// told is a cluster of which only what it is told counts.
type told struct {
	managed.Manager
	ended []string
	err   error
}

func (*told) Look(context.Context) (*View, error)      { return nil, errors.New("nobody looks") }
func (*told) Forget(_ context.Context, _ string) error { return errors.New("nobody forgets") }

func (c *told) Ended(_ context.Context, job string, how checkpoint.Ending, _ string) error {
	c.ended = append(c.ended, job+" "+string(how))
	return c.err
}

// following is a controller without a driver: a test sees at once where it would hand something on that it must not.
func following(cluster Cluster) *Controller {
	return &Controller{config: Config{Cluster: cluster, Missing: time.Hour, MaxDeaths: -1}, missing: map[string]time.Time{}, specs: map[string]json.RawMessage{}}
}

// The clock of a job that is missing stops when the job is there again, understood or not. One that was missed for a moment,
// was rejected for long, and is missed again is not withdrawn.
func TestClockOfTheMissing(t *testing.T) {
	listed := View{Jobs: []Job{{Application: alloc.Application{ID: "a"}}}}
	rejected := View{Rejected: map[string]string{"a": "its min is no number"}}
	state := driver.State{Jobs: []checkpoint.Job{{Name: "a", Phase: checkpoint.Running}}}
	for name, c := range map[string]struct {
		looks []View
		runs  bool
	}{
		"there":                       {[]View{listed}, false},
		"missing":                     {[]View{{}}, true},
		"missing, there":              {[]View{{}, listed}, false},
		"missing, rejected":           {[]View{{}, rejected}, false},
		"rejected":                    {[]View{rejected}, false},
		"missing, rejected, missing":  {[]View{{}, rejected, {}}, true},
		"another is rejected":         {[]View{{}, {Rejected: map[string]string{"b": "no"}}}, true},
		"rejected, there and missing": {[]View{rejected, listed, {}}, true},
	} {
		f := following(&told{})
		for i := range c.looks {
			// A clock that did not stop has run for longer than the patience by now.
			for job := range f.missing {
				f.missing[job] = time.Now().Add(-59 * time.Minute)
			}
			must.Do(t, f.followJobs(t.Context(), &c.looks[i], &state), name)
		}
		since, runs := f.missing["a"]
		must.Equal(t, runs, c.runs, name, "the clock runs")
		if last := len(c.looks) - 1; runs && last > 1 && time.Since(since) > time.Minute {
			t.Errorf("%s: the clock has run for %v since the job was there", name, time.Since(since))
		}
	}
}

// A job is withdrawn when the manager says so, at once, or when it has been missing for exactly the patience and not before.
func TestWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		missing time.Duration
		view    View
		want    bool
	}{
		"just missed":      {0, View{}, false},
		"nearly":           {time.Hour - time.Minute, View{}, false},
		"long enough":      {time.Hour, View{}, true},
		"by its user":      {0, View{Withdrawn: []string{"b", "a"}}, true},
		"another's user's": {0, View{Withdrawn: []string{"b"}}, false},
	} {
		f := following(&told{})
		if c.missing > 0 {
			f.missing["a"] = time.Now().Add(-c.missing)
		}
		must.Equal(t, f.isWithdrawn(&c.view, "a"), c.want, name)
	}
}

// The manager is told of every job that has ended for as long as it lists it, also as one that it cannot make out any more, and
// once a look where it lists one twice. What it does not take holds up no other.
func TestEndedIsTold(t *testing.T) {
	view := View{Jobs: []Job{{Application: alloc.Application{ID: "twice"}}, {Application: alloc.Application{ID: "listed"}}, {Application: alloc.Application{ID: "runs"}}},
		Rejected: map[string]string{"twice": "duplicate", "odd": "no number", "never": "no number", "odd and runs": "no number"}}
	state := driver.State{}
	for name, phase := range map[string]checkpoint.Phase{"listed": checkpoint.Ended, "odd": checkpoint.Ended, "odd and runs": checkpoint.Running, "runs": checkpoint.Running, "twice": checkpoint.Ended} {
		j := checkpoint.Job{Name: name, Phase: phase}
		if phase == checkpoint.Ended {
			j.Ending = checkpoint.Completed
		}
		state.Jobs = append(state.Jobs, j)
	}
	slices.SortFunc(state.Jobs, func(a, b checkpoint.Job) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	for _, refuses := range []error{nil, errors.New("not now")} {
		cluster := &told{err: refuses}
		must.Err(t, following(cluster).followJobs(t.Context(), &view, &state), refuses)
		slices.Sort(cluster.ended)
		must.Equal(t, cmp.Diff([]string{"listed completed", "odd completed", "twice completed"}, cluster.ended), "")
	}
}

// Jobs of which no decision can be taken leave the view with the reason, each alone, and the others stay in their order. A view
// that was read keeps what it says itself.
func TestSift(t *testing.T) {
	job := func(id string, change func(*alloc.Application)) Job {
		app := alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: 2}}
		change(&app)
		return Job{Application: app}
	}
	fine := func(*alloc.Application) {}
	said := map[string]string{"worse": "it says so"}
	view := View{Rejected: said, Jobs: []Job{
		job("b", fine), job("weightless", func(a *alloc.Application) { a.Weight = 0 }), job("a", fine),
		job("kinds", func(a *alloc.Application) { a.Demand = apportion.Resources{1, 1} }),
		job("many", func(a *alloc.Application) { a.Max = 1 << 40 }),
		job("control\x01", fine), job("a", func(a *alloc.Application) { a.Max = 1 }),
		job("[", fine), job("..", fine), job("<b>", fine), job("%", fine), job("a/b", fine),
	}}
	sift(&view, &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1})
	var left []string
	for i := range view.Jobs {
		left = append(left, view.Jobs[i].Application.ID)
	}
	must.Equal(t, cmp.Diff([]string{"b", "a", "[", "..", "<b>", "%", "a/b"}, left), "")
	must.Equal(t, view.Jobs[1].Application.Max, 2, "of two jobs with one ID the second counts", view.Jobs[1])
	var why []string
	for id, reason := range view.Rejected {
		if reason == "" {
			t.Errorf("nobody says why %q is rejected", id)
		}
		why = append(why, id)
	}
	slices.Sort(why)
	must.Equal(t, cmp.Diff([]string{"a", "control\x01", "kinds", "many", "weightless", "worse"}, why), "")
	must.Equal(t, len(said), 1, "the view's own list was changed", said)
}
