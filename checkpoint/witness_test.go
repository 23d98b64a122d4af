// This file checks what a machine makes of servers that know more than its records, and of what runs where it should not.

package checkpoint_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// master recovers a machine, which must succeed.
func recovered(t *testing.T, epoch int64, records ...checkpoint.Record) *checkpoint.Machine {
	t.Helper()
	return must.Have(checkpoint.Recover(simConfig(), epoch, records...))(t)
}

func named(journal string) checkpoint.Record { return checkpoint.Record{Journal: journal} }

// steps gives events to a machine, all of which it must take.
func steps(t *testing.T, m *checkpoint.Machine, events ...checkpoint.Event) {
	t.Helper()
	for _, e := range events {
		must.Do(t, m.Step(e), e)
	}
}

// TestNumbersOfEpochs: each master begins above all that those before it could have given out, on record or not.
func TestNumbersOfEpochs(t *testing.T) {
	m := recovered(t, 1, named("j"))
	steps(t, m, slotted("s1"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	must.Equal(t, m.Snapshot().Next, 3, "the first master is at")
	for epoch := int64(3); epoch < 6; epoch++ {
		m = recovered(t, epoch, m.Snapshot())
		if !m.Ready().Record.Empty() {
			t.Error("a recovery is on record already")
		}
	}
	// Those that have given out nothing are one gap with the next.
	want := []checkpoint.Gap{{After: 3, To: 4 * checkpoint.PerEpoch}}
	if s := m.Snapshot(); s.Next != want[0].To || !slices.Equal(s.Gaps, want) || s.Journal != "j" {
		t.Errorf("%+v, want the gaps %v", s, want)
	}
	steps(t, m, checkpoint.Submit{Job: "b", Demand: slot}, checkpoint.Cancel{Job: "a"}) // which needs a Stop
	m = recovered(t, 7, m.Snapshot())
	if s := m.Snapshot(); len(s.Gaps) != 2 || s.Gaps[1] != (checkpoint.Gap{After: 4*checkpoint.PerEpoch + 1, To: 6 * checkpoint.PerEpoch}) {
		t.Errorf("%+v", s.Gaps)
	}
	for _, epoch := range []int64{0, 1 << 62} {
		must.Fail(checkpoint.New(simConfig(), epoch))(t, apportion.ErrRange, "epoch", epoch)
	}
}

// TestGapsAreBounded: a master that is started again for ever fills no journal.
func TestGapsAreBounded(t *testing.T) {
	record := named("j")
	for epoch := int64(1); epoch < 1200; epoch++ {
		m := recovered(t, epoch, record)
		record = m.Snapshot()
		record.Next++
	}
	if n := len(record.Gaps); n != 1000 || record.Gaps[n-1].To != 1198*checkpoint.PerEpoch {
		t.Errorf("%d gaps to %d", n, record.Gaps[n-1].To)
	}
}

// TestWitness: what a server has heard must be on record.
func TestWitness(t *testing.T) {
	const per = checkpoint.PerEpoch
	record := named("j")
	record.Next = per + 50
	record.Gaps = []checkpoint.Gap{{After: 20, To: per}}
	for _, c := range []struct {
		journal string
		number  int64
		want    error
	}{
		{"", 0, nil}, {"", 7 * per, nil}, {"j", 0, nil},
		{"j", 20, nil}, {"j", 21, checkpoint.ErrBehind}, {"j", per, checkpoint.ErrBehind},
		{"j", per + 1, nil}, {"j", per + 50, nil}, {"j", per + 51, checkpoint.ErrBehind},
		{"j", 4 * per, checkpoint.ErrBehind}, {"j", 4*per + 1, checkpoint.ErrBehind},
		{"k", 1, apportion.ErrConflict},
	} {
		m := recovered(t, 5, record)
		up := slotted("s1").(checkpoint.ServerUp)
		up.Witness = checkpoint.Witness{Journal: c.journal, Number: c.number}
		err := m.Step(up)
		var fault *apportion.FieldError
		if !errors.Is(err, c.want) || err != nil && (!errors.As(err, &fault) || fault.Item.ID != "s1" || fault.Field != "Witness") {
			t.Errorf("%s %d: %v, want %v", c.journal, c.number, err, c.want)
		}
		// Who is behind is so for ever; who was asked by a server of somebody else's is not.
		again := m.Step(slotted("s2"))
		if behind := c.want == checkpoint.ErrBehind; behind != errors.Is(again, checkpoint.ErrBehind) || m.Knows("s1") != (c.want == nil) {
			t.Errorf("%s %d: afterwards %v", c.journal, c.number, again)
		}
	}
	// A machine without a journal believes every server.
	m := recovered(t, 1)
	up := slotted("s1").(checkpoint.ServerUp)
	up.Witness = checkpoint.Witness{Journal: "j", Number: 7}
	steps(t, m, up)
}

// TestEffectsNameTheirJournal: all of them, so that servers can keep it.
func TestEffectsNameTheirJournal(t *testing.T) {
	m := recovered(t, 1, named("j"))
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	seen := map[checkpoint.Action]bool{}
	for n := 0; len(seen) < 8; n++ {
		ready := m.Ready()
		for _, e := range ready.Effects {
			seen[e.Action] = true
			must.Equal(t, e.Journal, "j", e, "is on record nowhere")
			steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
		}
		if len(ready.Effects) == 0 {
			steps(t, m, checkpoint.Adjust{Targets: map[string][]string{"a": {[]string{"s1", "s2"}[n%2]}}})
		}
	}
}

// TestOrphan: what may run is left alone, and all else is stopped where it was seen.
func TestOrphan(t *testing.T) {
	m := recovered(t, 1, named("j"))
	steps(t, m, slotted("s1"), slotted("s2"), checkpoint.Submit{Job: "a", Demand: slot}, checkpoint.Adjust{Targets: map[string][]string{"a": {"s1"}}})
	m = recovered(t, 2, m.Snapshot())
	m.Ready()
	attempt := m.Look("a").Attempt
	for _, c := range []struct {
		server, job string
		attempt     int64
		stops       bool
	}{
		{"s1", "a", attempt, false},
		{"s2", "a", attempt, false}, // a word that is older than a move
		{"s1", "a", attempt - 1, true},
		{"s1", "a", attempt + 1, true}, // of records that were lost
		{"s1", "unknown", 1, true},
		{"s9", "a", attempt - 1, false}, // a server that is not there
		{"s1", "a", 2 * checkpoint.PerEpoch, false},
	} {
		stale := m.Stale()
		steps(t, m, checkpoint.Orphan{Server: c.server, Job: c.job, Attempt: c.attempt})
		got, want := "", ""
		for _, e := range m.Ready().Effects {
			got += fmt.Sprintf("%s %s#%d %v %s;", e.Action, e.Job, e.Attempt, e.Servers, e.Journal)
			steps(t, m, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done})
		}
		if c.stops {
			want = fmt.Sprintf("stop %s#%d [%s] j;", c.job, c.attempt, c.server)
		}
		if got != want || m.Stale() != stale+1 {
			t.Errorf("%+v: %q, want %q; %d stale", c, got, want, m.Stale()-stale)
		}
	}
	if j := m.Look("a"); j.Attempt != attempt || j.Phase != checkpoint.Creating {
		t.Errorf("the attempt that may run was disturbed: %+v", j)
	}
}
