// This file checks that an order which was under way while its master took the server for lost begins nothing.

package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
)

func TestLateOrder(t *testing.T) {
	b := newBench(t)
	do := func(epoch int64, action checkpoint.Action, attempt int64, heard agent.Stamp) checkpoint.Outcome {
		t.Helper()
		reply := must.Have(b.agent.Do(context.Background(), agent.Order{Effect: effect(epoch, action, attempt), Heard: heard}))(t)
		return reply.Outcome
	}
	before := b.config.Clock()
	must.Equal(t, do(2, checkpoint.Create, 1, before), checkpoint.Done, "an order of this moment")
	// The server is silent for longer than its lease, and is heard again.
	b.now.Add(int64(150 * time.Millisecond))
	must.Have(b.agent.Status(context.Background(), agent.Question{Epoch: 2, Heard: b.config.Clock()}))(t)
	for _, c := range []struct {
		name   string
		epoch  int64
		action checkpoint.Action
		heard  agent.Stamp
		want   checkpoint.Outcome
	}{
		{"a create of before", 2, checkpoint.Create, before, checkpoint.Failed},
		{"of another boot", 2, checkpoint.Create, agent.Stamp{Boot: "a", At: before.At}, checkpoint.Failed},
		{"a stop of before", 2, checkpoint.Stop, before, checkpoint.Done},
		{"of an older master", 1, checkpoint.Create, before, checkpoint.Fenced},
		{"of a master that hands back no stamps", 2, checkpoint.Create, agent.Stamp{}, checkpoint.Done},
		{"of now", 2, checkpoint.Create, b.config.Clock(), checkpoint.Done},
	} {
		attempt := int64(3)
		if c.action == checkpoint.Stop {
			attempt = 2
		}
		must.Equal(t, do(c.epoch, c.action, attempt, c.heard), c.want, c.name)
	}
}
