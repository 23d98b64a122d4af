// This file checks the lease by the times that it is told.

package agent_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
)

func at(seconds float64) agent.Stamp {
	return agent.Stamp{Boot: "b", At: time.Duration(seconds * float64(time.Second))}
}

func TestLeft(t *testing.T) {
	held := agent.Lease{Length: 10 * time.Second, Heard: at(100)}
	for _, c := range []struct {
		name string
		now  agent.Stamp
		want time.Duration
	}{
		{"at once", at(100), 10 * time.Second},
		{"later", at(103.5), 6500 * time.Millisecond},
		{"just before the end", at(109.999), time.Millisecond},
		{"at the end", at(110), 0},
		{"long after", at(1e6), 0},
		{"a clock that went back", at(99), 0},
		{"another boot", agent.Stamp{Boot: "c", At: 105 * time.Second}, 0},
	} {
		must.Equal(t, held.Left(c.now), c.want, c.name)
	}
	must.Equal(t, (agent.Lease{Length: time.Hour}).Left(at(1)), 0, "nobody was heard, and", "are left")
}

func TestRenew(t *testing.T) {
	held := agent.Lease{Length: 10 * time.Second, Heard: at(100)}
	for _, c := range []struct {
		name      string
		echo, now agent.Stamp
		want      agent.Stamp
	}{
		{"newer", at(104), at(105), at(104)},
		{"as new as now", at(105), at(105), at(105)},
		{"older", at(99), at(105), at(100)},
		{"from the future", at(106), at(105), at(100)},
		{"of a boot before", agent.Stamp{Boot: "a", At: 104 * time.Second}, at(105), at(100)},
		{"first of a new boot", agent.Stamp{Boot: "c", At: time.Second}, agent.Stamp{Boot: "c", At: 2 * time.Second}, agent.Stamp{Boot: "c", At: time.Second}},
		{"of the boot before, after a reboot", at(104), agent.Stamp{Boot: "c", At: 200 * time.Second}, at(100)},
		{"none", agent.Stamp{}, at(105), at(100)},
	} {
		must.Equal(t, held.Renew(c.echo, c.now).Heard, c.want, c.name)
	}
}

// Whatever the network does to questions and answers, the lease is over one length after the newest answer
// that the master has received. A master hears late or never, its questions come late, twice or never.
func TestMasterKnowsTheEnd(t *testing.T) {
	const length = 10 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		held := agent.Lease{Length: length}
		now := time.Duration(0)
		stamp := func() agent.Stamp { return agent.Stamp{Boot: "b", At: now} }
		var answers, questions []agent.Stamp // on their way
		var known agent.Stamp                // the newest that the master has
		var received time.Duration           // when it came
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond
			pick := func(list []agent.Stamp) agent.Stamp { return list[rapid.IntRange(0, len(list)-1).Draw(t, "which")] }
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				questions = append(questions, known)
			case 1:
				if len(questions) > 0 { // the agent gets any of them, perhaps again
					held = held.Renew(pick(questions), stamp())
					answers = append(answers, stamp())
				}
			case 2:
				if len(answers) > 0 {
					if a := pick(answers); a.At > known.At {
						known, received = a, now
					}
				}
			}
			if left := held.Left(stamp()); left > 0 && now+left > received+length {
				t.Fatalf("at %v the lease goes on for %v, and the master has heard nothing since %v", now, left, received)
			}
		}
	})
}
