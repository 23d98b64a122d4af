package page

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement/sim/forecast"
)

// queueOfThree is one server that a gets for an hour; b wants it for half an hour, and c waits behind b.
func queueOfThree(t *testing.T) (*alloc.Problem, *alloc.Decision) {
	t.Helper()
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1, Servers: []apportion.Server{{ID: "n", Capacity: apportion.Resources{4}}}}
	for id, ends := range map[string]float64{"a": 3600, "b": 1800, "c": 1200} {
		p.Applications = append(p.Applications, alloc.Application{ID: id, Weight: 1, Ends: &ends, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 4, Max: 4}})
	}
	slices.SortFunc(p.Applications, func(a, b alloc.Application) int { return strings.Compare(a.ID, b.ID) })
	d := must.Have(alloc.Reallocate(t.Context(), p, nil))(t)
	return p, d
}

// The jobs that wait have their starts, with and without the job that is in the way, as times by the page's clock and in words. The
// problem that is forecast is left as it was.
func TestForesee(t *testing.T) {
	p, d := queueOfThree(t)
	at := time.Date(2026, 11, 28, 13, 0, 0, 0, time.UTC)
	f := must.Have((&outlook{at, p, d, nil, forecast.Options{Replays: 4, StartsOnly: true}}).foresee(t.Context()))(t)
	for job, want := range map[string]string{
		"a": "", "b": "it starts at 14:00; without a it would be 13:00", "c": "it starts at 14:30; without a it would be 13:30",
	} {
		must.Equal(t, f.Text(job), want, job)
	}
	s := State{Head: Head{Wall: true}, Jobs: []Job{{ID: "a", On: map[string]int64{"n": 4}}, {ID: "b"}, {ID: "c"}}}
	s.Decided(p, d)
	s.Foreseen(f)
	b := &s.Jobs[1]
	if unix := float64(at.Unix()); b.Early != unix+3600 || b.Late != unix+3600 || b.Without != "a" || b.Then != unix || s.Jobs[0].Early != 0 || len(s.Notes) > 0 {
		t.Errorf("%+v, %v", s.Jobs, s.Notes)
	}
	// Where lengths are not certain starts are not.
	known := []forecast.Known{{ID: "a", Left: []float64{600, 1200, 1800, 2400, 3000, 3600}}}
	f = must.Have((&outlook{at, p, d, known, forecast.Options{StartsOnly: true}}).foresee(t.Context()))(t)
	if b := f.Starts["b"]; !b.Early.Before(b.Middle) || !b.Late.After(b.Middle) || !strings.HasPrefix(f.Text("b"), "it starts between 13:") {
		t.Errorf("%+v: %s", b, f.Text("b"))
	}
	if p.Previous != nil || len(p.Applications) != 3 {
		t.Error("the problem has changed")
	}
}

// What begins after all that was looked at is said so, and of jobs whose lengths nobody knows nothing.
func TestForeseeNothing(t *testing.T) {
	p, d := queueOfThree(t)
	at := time.Date(2026, 11, 28, 13, 0, 0, 0, time.UTC)
	f := must.Have((&outlook{at, p, d, nil, forecast.Options{Replays: 4, StartsOnly: true, Horizon: 1800}}).foresee(t.Context()))(t)
	if b := f.Starts["b"]; !b.Early.Equal(at.Add(30*time.Minute)) || !b.Late.IsZero() || !strings.HasPrefix(f.Text("b"), "it starts later than 13:30") {
		t.Errorf("%+v: %s", b, f.Text("b"))
	}
	for i := range p.Applications {
		p.Applications[i].Ends = nil
	}
	f = must.Have((&outlook{at, p, d, nil, forecast.Options{}}).foresee(t.Context()))(t)
	s := State{Jobs: []Job{{ID: "b"}}}
	s.Decided(p, d)
	s.Foreseen(f)
	const nothing = "nothing is known of how long any job runs"
	if s.Jobs[0].Early != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], nothing) || !strings.Contains(f.Text("b"), nothing) {
		t.Errorf("%+v, %v, %q", s.Jobs[0], s.Notes, f.Text("b"))
	}
	// Where no forecast was made the page says nothing of it.
	none := State{Jobs: []Job{{ID: "b"}}}
	none.Foreseen(nil)
	if none.Jobs[0].Early != 0 || (*Foresight)(nil).Text("b") != "" {
		t.Errorf("%+v", none)
	}
}
