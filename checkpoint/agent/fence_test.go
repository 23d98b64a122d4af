// This file checks the fence: what it lets pass, what it refuses and why, and what it remembers.

package agent_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
)

// the fence of the table: attempt 3 was stopped, 5 is the newest and was resumed, 4 has lapsed.
var fence = agent.Fence{Epoch: 2, Marks: agent.Marks{Created: 5, Resumed: 5, Stopped: 3, Lapsed: 4}}

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

// Every value survives JSON, and a ruling is a word in it.
func TestJSON(t *testing.T) {
	_, denied := fence.Admit(checkpoint.Effect{Epoch: 1, Action: checkpoint.Stop, Job: "lr"})
	for _, v := range []agent.Verdict{{Ruling: agent.Perform}, {Ruling: agent.Repeated}, denied} {
		text, err := json.Marshal(v)
		var again agent.Verdict
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again.Ruling != v.Ruling || again.Reason.Text != v.Reason.Text || again.Reason.Have != v.Reason.Have {
			t.Errorf("%s, %v: %+v", text, err, again)
		}
	}
	if text, err := json.Marshal(agent.Verdict{Ruling: agent.Perform}); string(text) != `{"ruling":"perform"}` {
		t.Errorf("%s, %v", text, err)
	}
	var r agent.Ruling
	if err := json.Unmarshal([]byte(`"maybe"`), &r); err == nil {
		t.Error("read a ruling that there is not")
	}
}
