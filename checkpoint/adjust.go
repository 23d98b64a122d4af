// This file implements what the caller asks for: jobs, targets, checkpoints and endings.

package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// submit refuses a name that can name no job, one that is in use, and quantities that are no vector
// over Config.Kinds.
func (m *Machine) submit(s Submit) error {
	var faults apportion.Faults
	item := check.Item("job", s.Job, 0)
	check.ID(&faults, map[string]bool{}, s.Job, item)
	if m.jobs[s.Job] != nil {
		faults.Add(item, "Job", apportion.ErrDuplicate, "")
	}
	// Min 0 stands for 1: a job with no container at all does not run.
	if s.Min < 0 {
		faults.Add(item, "Min", apportion.ErrNegative, strconv.Itoa(s.Min))
	}
	check.Resources(&faults, m.config.Kinds, s.Demand, item, "Demand")
	if err := faults.Err(); err != nil {
		return err
	}
	// A job begins with nothing: no containers, no attempt, no checkpoint. Its name may be that of a job
	// which was forgotten; the numbers of that one are never given out again.
	j := &Job{Name: s.Job, Demand: s.Demand.Clone(), Min: max(s.Min, 1), Phase: Idle}
	m.add(j)
	m.touch(j)
	return nil
}

func (m *Machine) add(j *Job) {
	if i, found := slices.BinarySearch(m.names, j.Name); !found {
		m.names = slices.Insert(m.names, i, j.Name)
	}
	m.jobs[j.Name] = j
}

// adjust refuses the whole event if a job is unknown or has ended, a server is unknown, drained or cordoned, a target has
// containers but fewer than Min, or the deadline cannot be written down.
func (m *Machine) adjust(a Adjust) error {
	names := slices.Sorted(maps.Keys(a.Targets))
	var faults apportion.Faults
	checkDeadline(&faults, a.Deadline)
	for _, name := range names {
		m.checkTarget(&faults, name, a.Targets[name])
	}
	if err := faults.Err(); err != nil {
		return err
	}
	for _, name := range names {
		j := m.jobs[name]
		m.want(j, sorted(a.Targets[name]), a.Deadline)
		if j.Phase == Running && slices.Equal(j.Wanted, j.Containers) {
			m.drop(j)
		}
	}
	return nil
}

// want notes what is asked of a job, in place of what was asked before.
// The order is a number of the one counter, so who is asked again comes after all who wait.
func (m *Machine) want(j *Job, target []string, deadline time.Time) {
	// The zone and the monotonic reading would not survive the journal.
	j.Wanted, j.Order, j.Deadline = target, m.number(), deadline.UTC().Round(0)
	m.touch(j)
}

// checkDeadline adds a deadline that no journal can hold.
// JSON holds times of these years alone, and a record that cannot be written would be the end of the machine.
func checkDeadline(faults *apportion.Faults, deadline time.Time) {
	if year := deadline.UTC().Year(); year < 0 || year > 9999 {
		faults.Add(apportion.Item{}, "Deadline", apportion.ErrRange, strconv.Itoa(year))
	}
}

// checkTarget adds what is wrong with one target of an Adjust. A target may be smaller than what the job
// has, and empty, but not between empty and Min: with so few containers the job could not go on.
func (m *Machine) checkTarget(faults *apportion.Faults, name string, target []string) {
	item := check.Item("job", name, 0)
	j := m.jobs[name]
	switch {
	case j == nil:
		faults.Add(item, "Job", apportion.ErrUnknown, "")
		return
	case j.Ending != "":
		// An ended job stays in the books until it is forgotten, so that its name says how it went.
		faults.Add(item, "Job", apportion.ErrConflict, "it has ended: "+string(j.Ending))
	case len(target) > 0 && len(target) < j.Min:
		faults.Add(item, "Targets", apportion.ErrRange, fmt.Sprintf("%d containers, fewer than Min %d", len(target), j.Min))
	}
	var places map[string]int // made where it is needed
	for i, server := range target {
		field := fmt.Sprintf("Targets[%d]", i)
		switch host := m.servers[server]; {
		case host == nil:
			faults.Add(item, field, apportion.ErrUnknown, strconv.Quote(server))
		case host.Draining:
			faults.Add(item, field, apportion.ErrConflict, strconv.Quote(server)+" is drained")
		// What the job has there, or was promised, it may name: each entry of the target takes one of these.
		case host.Cordoned:
			if places == nil {
				places = j.places()
			}
			if places[server]--; places[server] < 0 {
				faults.Add(item, field, apportion.ErrConflict, strconv.Quote(server)+" is cordoned: "+host.Detail)
			}
		}
	}
}

// drop forgets what was asked for: it is begun, or cannot be had.
func (m *Machine) drop(j *Job) {
	j.Wanted, j.Order, j.Deadline = nil, 0, time.Time{}
	m.touch(j)
	// Of a job that runs, due is how long its request may wait; in all other phases it belongs to the phase.
	if j.Phase == Running {
		delete(m.due, j.Name)
	}
}

// begin starts on what was asked of a running job: by saving it. reserve keeps the room free.
func (m *Machine) begin(j *Job, reserve bool) {
	deadline := j.Deadline
	m.aim(j, reserve)
	j.Deadline = deadline
	m.enter(j, Saving)
}

// aim makes what was asked of a job that runs its target.
// Restarts count anew, for what has died on the old containers says nothing of the new ones.
func (m *Machine) aim(j *Job, reserve bool) {
	j.Target, j.Fallback, j.Reserved = j.Wanted, m.lasting(j, j.Containers), reserve
	j.Reason, j.Restarts = apportion.Reason{}, 0
	m.drop(j)
}

// lasting is what the job could return to of a list: all but what is on drained servers, if that is enough.
// It is nil where too few would be left. O(containers).
func (m *Machine) lasting(j *Job, list []string) []string {
	kept := slices.DeleteFunc(slices.Clone(list), func(id string) bool { return m.servers[id] != nil && m.servers[id].Draining })
	if len(kept) < j.Min {
		return nil
	}
	return kept
}

// turn starts on what was asked of a job that does not run.
func (m *Machine) turn(j *Job) {
	target := j.Wanted
	m.drop(j)
	if j.Phase == Waiting && slices.Equal(target, j.Target) {
		return // it goes on waiting, for no longer than before
	}
	j.Target, j.Reserved = target, false
	j.Reason, j.Restarts = apportion.Reason{}, 0
	m.settle(j)
}

// checkpoint refuses an unknown job.
func (m *Machine) checkpoint(c Checkpoint) error {
	j, err := m.named(c.Job)
	if err == nil && j.Phase == Running {
		m.enter(j, Saving)
	}
	return err
}

// cancel refuses an unknown job. One that is ending already goes on with that.
func (m *Machine) cancel(c Cancel) error {
	j, err := m.named(c.Job)
	if err != nil || j.Ending != "" {
		return err
	}
	if c.Failed == "" {
		m.end(j, Cancelled)
		return nil
	}
	m.end(j, GivenUp)
	j.blame(Futile, c.Failed)
	return nil
}

// forget refuses an unknown job and one that has not ended.
func (m *Machine) forget(f Forget) error {
	j, err := m.named(f.Job)
	if err != nil {
		return err
	}
	if j.Phase != Ended {
		return &apportion.FieldError{Item: check.Item("job", f.Job, 0), Field: "Phase", Err: apportion.ErrConflict, Detail: string(j.Phase)}
	}
	delete(m.jobs, f.Job)
	delete(m.ready.jobs, f.Job)
	for _, times := range []map[string]time.Duration{m.rest, m.saving, m.longest} {
		delete(times, f.Job)
	}
	m.names = slices.DeleteFunc(m.names, func(name string) bool { return name == f.Job })
	m.ready.gone[f.Job] = true
	m.books.change(f.Job)
	return nil
}

// named returns a job, or an error that names it.
func (m *Machine) named(name string) (*Job, error) {
	if j := m.jobs[name]; j != nil {
		return j, nil
	}
	return nil, &apportion.FieldError{Item: check.Item("job", name, 0), Field: "Job", Err: apportion.ErrUnknown}
}

// end stops a job for good.
func (m *Machine) end(j *Job, ending Ending) {
	j.Ending, j.Reason = ending, apportion.Reason{}
	j.Target, j.Fallback, j.Reserved = nil, nil, false
	m.drop(j)
	if j.Phase != Stopping {
		m.leave(j)
	}
}
