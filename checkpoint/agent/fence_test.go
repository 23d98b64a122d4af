// This file checks the fence: what it lets pass, what it refuses and why, and what it remembers.

package agent_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
)

// the fence of the table: attempt 3 was stopped, 5 is the newest and was resumed, 4 has lapsed.
var fence = agent.Fence{Epoch: 2, Marks: agent.Marks{Created: 5, Resumed: 5, Stopped: 3, Lapsed: 4}}

func TestAdmit(t *testing.T) {
	const (
		perform, repeated   = agent.Perform, agent.Repeated
		refused, impossible = agent.Refused, agent.Impossible
	)
	for _, c := range []struct {
		name       string
		epoch      int64
		action     checkpoint.Action
		attempt    int64
		ruling     agent.Ruling
		constraint string
		have       float64
	}{
		{"lower epoch", 1, checkpoint.Stop, 9, refused, agent.EpochPassed, 2},
		{"create again", 2, checkpoint.Create, 5, perform, "", 0},
		{"create the next", 3, checkpoint.Create, 6, perform, "", 0},
		{"create one before", 2, checkpoint.Create, 4, refused, agent.AttemptPassed, 5},
		{"create a stopped one", 2, checkpoint.Create, 3, refused, agent.AttemptPassed, 3},
		{"resume again", 2, checkpoint.Resume, 5, repeated, "", 0},
		{"resume what was not created", 2, checkpoint.Resume, 6, impossible, agent.NotCreated, 5},
		{"save", 2, checkpoint.Save, 5, perform, "", 0},
		{"save one before", 2, checkpoint.Save, 4, refused, agent.AttemptPassed, 5},
		{"confirm", 2, checkpoint.Confirm, 5, perform, "", 0},
		{"stop one before", 2, checkpoint.Stop, 2, perform, "", 0},
		{"stop the next", 2, checkpoint.Stop, 6, perform, "", 0},
		{"release", 2, checkpoint.Release, 5, perform, "", 0},
		{"release one before", 2, checkpoint.Release, 4, refused, agent.AttemptPassed, 5},
	} {
		e := checkpoint.Effect{Epoch: c.epoch, Action: c.action, Attempt: c.attempt, Job: "lr"}
		_, v := fence.Admit(e)
		if v.Ruling != c.ruling || v.Reason.Constraint != c.constraint || v.Reason.Have != c.have {
			t.Errorf("%s: %+v, want %v by %q with %g", c.name, v, c.ruling, c.constraint, c.have)
		}
		if denied := v.Ruling == refused || v.Ruling == impossible; denied != (v.Reason.Text != "") || denied != slices.Equal(v.Reason.Applications, []string{"lr"}) {
			t.Errorf("%s: %+v", c.name, v.Reason)
		}
	}
}

// An attempt that the server has ended itself has failed; it is not refused, for nobody has fenced it off.
func TestLapsedAttempt(t *testing.T) {
	f := agent.Fence{Epoch: 1, Marks: agent.Marks{Created: 4, Resumed: 4, Lapsed: 4}}
	for _, action := range []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Save, checkpoint.Confirm} {
		if _, v := f.Admit(checkpoint.Effect{Epoch: 1, Action: action, Attempt: 4}); v.Ruling != agent.Impossible || v.Reason.Constraint != agent.LeaseOver {
			t.Errorf("%s: %+v", action, v)
		}
	}
	if _, v := f.Admit(checkpoint.Effect{Epoch: 1, Action: checkpoint.Create, Attempt: 5}); v.Ruling != agent.Perform {
		t.Errorf("the next attempt: %+v", v)
	}
}

// What is refused for its attempt leaves the marks as they are; that its master exists is known all the same.
func TestRefusalChangesNothing(t *testing.T) {
	after, _ := fence.Admit(checkpoint.Effect{Epoch: 1, Action: checkpoint.Create, Attempt: 9})
	must.Equal(t, after, fence, "a lower epoch leaves")
	after, _ = fence.Admit(checkpoint.Effect{Epoch: 7, Action: checkpoint.Resume, Attempt: 3})
	must.Equal(t, after, (agent.Fence{Epoch: 7, Marks: fence.Marks}), "a higher epoch leaves")
}

// Of any effects in any order: marks and epoch never fall; nothing is performed for an attempt that was
// stopped or passed over before; a Stop is always performed unless its master was replaced; deciding twice
// gives the same.
func TestFenceProperties(t *testing.T) {
	actions := []checkpoint.Action{checkpoint.Save, checkpoint.Stop, checkpoint.Release, checkpoint.Create, checkpoint.Resume, checkpoint.Confirm}
	rapid.Check(t, func(t *rapid.T) {
		var f agent.Fence
		for range rapid.IntRange(1, 30).Draw(t, "effects") {
			e := checkpoint.Effect{
				Epoch: rapid.Int64Range(1, 3).Draw(t, "epoch"), Attempt: rapid.Int64Range(1, 5).Draw(t, "attempt"),
				Action: rapid.SampledFrom(actions).Draw(t, "action"), Job: "lr",
			}
			after, v := f.Admit(e)
			if again, w := f.Admit(e); again != after || w.Ruling != v.Ruling {
				t.Fatalf("%+v of %+v is decided twice: %v, %v", e, f, v, w)
			}
			if after.Epoch < f.Epoch || after.Created < f.Created || after.Resumed < f.Resumed || after.Stopped < f.Stopped || after.Lapsed < f.Lapsed {
				t.Fatalf("%+v after %+v", after, f)
			}
			acts := v.Ruling == agent.Perform
			switch {
			case acts && e.Epoch < f.Epoch:
				t.Fatalf("%+v is performed behind epoch %d", e, f.Epoch)
			case e.Action == checkpoint.Stop && !acts && e.Epoch >= f.Epoch:
				t.Fatalf("%+v is not performed: %+v", e, v)
			case e.Action == checkpoint.Stop:
			case acts && e.Attempt < f.Created:
				t.Fatalf("%+v is performed behind attempt %d", e, f.Created)
			case acts && e.Action != checkpoint.Release && e.Attempt <= f.Stopped:
				t.Fatalf("%+v is performed though %d was stopped", e, f.Stopped)
			case acts && e.Action == checkpoint.Resume && (e.Attempt != f.Created || e.Attempt <= f.Resumed):
				t.Fatalf("%+v is performed with %+v", e, f)
			}
			if f = after; acts && e.Action == checkpoint.Resume {
				f.Resumed = e.Attempt // as a server does when it has started the processes
			}
		}
	})
}

// A ruling is a word in JSON.
func TestJSON(t *testing.T) {
	if text, err := json.Marshal(agent.Verdict{Ruling: agent.Perform}); string(text) != `{"ruling":"perform"}` {
		t.Errorf("%s, %v", text, err)
	}
	var r agent.Ruling
	must.Err(t, json.Unmarshal([]byte(`"maybe"`), &r), must.ErrAny, "read a ruling that there is")
}
