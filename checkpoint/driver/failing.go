// This file implements the cordon of servers that answer, and at which what they are told fails again and again.

package driver

import (
	"fmt"
	"slices"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// deed is an action on a server. Each is counted by itself: where a job cannot be started, it can be ended all the same.
type deed struct {
	server string
	action checkpoint.Action
}

// failing says how often an action has failed at a server since it has last succeeded there.
type failing struct {
	row int
	// last is when the newest was.
	last time.Time
	// job is the first whose effects have failed, several says that those of others have as well: what fails for one alone
	// may be its own fault.
	job     string
	several bool
	// times is how often the server was cordoned in that time.
	times int
}

// weighed are the actions that a healthy server can do. A Save is not among them, for as a rule it is the job that cannot,
// nor is a Verify, which says nothing of whether processes can be started.
var weighed = []checkpoint.Action{checkpoint.Create, checkpoint.Resume, checkpoint.Confirm, checkpoint.Stop, checkpoint.Release}

// doublings is how often the time of a cordon doubles at most.
const doublings = 4

// weigh takes in how an effect went on each of its servers. It belongs to the loop.
func (d *Driver) weigh(e checkpoint.Effect, seen []verdict, now time.Time) error {
	if d.options.CordonAfter == 0 || !slices.Contains(weighed, e.Action) {
		return nil
	}
	fails := func(v verdict) bool { return v.reply.Outcome == checkpoint.Failed }
	// What fails on all of several servers is no fault of one.
	if len(seen) > 1 && !slices.ContainsFunc(seen, func(v verdict) bool { return !fails(v) }) {
		return nil
	}
	for _, v := range seen {
		switch {
		case v.reply.Outcome == checkpoint.Done:
			delete(d.failing, deed{v.server, e.Action})
		case fails(v):
			if err := d.count(e, v, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts a failure, and cordons the server where it is one too many. One that was cordoned before, and at which
// nothing has succeeded since, is cordoned for twice as long with the next failure.
func (d *Driver) count(e checkpoint.Effect, v verdict, now time.Time) error {
	it := deed{v.server, e.Action}
	f := d.failing[it]
	if f == nil {
		f = &failing{job: e.Job}
		d.failing[it] = f
	}
	f.row++
	f.several = f.several || f.job != e.Job
	// That a job cannot be ended is never its own fault.
	ends := e.Action == checkpoint.Stop || e.Action == checkpoint.Release
	last := f.last
	f.last = now
	if f.row < d.options.CordonAfter || !f.several && !ends || !d.cordonable(v.server, last, now) {
		return nil
	}
	length := d.options.CordonFor << min(f.times, doublings)
	f.times++
	return d.step(checkpoint.Cordon{ID: v.server, Until: now.Add(length),
		Detail: fmt.Sprintf("effects have failed in a row, the last: %s: %s", e.Action, v.reply.Detail)})
}

// cordonable reports whether a server is one that answers, as it has done since its last failure, and is not cordoned, and
// would be among the lesser half: where most servers fail it is something else, as the store. O(servers log servers).
func (d *Driver) cordonable(server string, last, now time.Time) bool {
	host, known := d.machine.Host(server)
	m := d.members.get(server)
	if !known || host.Cordoned || m == nil {
		return false
	}
	if answered := m.answered(); !answered.After(last) || now.Sub(answered) > d.options.Silence {
		return false
	}
	cordoned, hosts := 1, d.machine.Hosts()
	for i := range hosts {
		if hosts[i].Cordoned {
			cordoned++
		}
	}
	return 2*cordoned <= len(hosts)
}
