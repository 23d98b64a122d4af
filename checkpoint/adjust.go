// This file implements what the caller asks for: jobs, targets, checkpoints and endings.

package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// apply refuses a name that can name no job, one that is in use, and quantities that are no vector
// over Config.Kinds.
func (s Submit) apply(m *Machine) error {
	var faults apportion.Faults
	item := check.Item("job", s.Job, 0)
	check.ID(&faults, map[string]bool{}, s.Job, item)
	if m.jobs[s.Job] != nil {
		faults.Add(item, "Job", apportion.ErrDuplicate, "")
	}
	if s.Min < 0 {
		faults.Add(item, "Min", apportion.ErrNegative, strconv.Itoa(s.Min))
	}
	check.Resources(&faults, m.config.Kinds, s.Demand, item, "Demand")
	if err := faults.Err(); err != nil {
		return err
	}
	j := &Job{Name: s.Job, Demand: s.Demand.Clone(), Min: max(s.Min, 1), Phase: Idle}
	m.add(j)
	m.touch(j)
	delete(m.ready.gone, j.Name)
	return nil
}

// add puts a job into the books.
func (m *Machine) add(j *Job) {
	if i, found := slices.BinarySearch(m.names, j.Name); !found {
		m.names = slices.Insert(m.names, i, j.Name)
	}
	m.jobs[j.Name] = j
}

// apply refuses the whole event if a job is unknown or has ended, a server is unknown, or a target has
// containers but fewer than Min.
func (a Adjust) apply(m *Machine) error {
	names := slices.Sorted(maps.Keys(a.Targets))
	var faults apportion.Faults
	for _, name := range names {
		m.checkTarget(&faults, name, a.Targets[name])
	}
	if err := faults.Err(); err != nil {
		return err
	}
	for _, name := range names {
		j := m.jobs[name]
		j.Wanted, j.Order = sorted(a.Targets[name]), m.number()
		m.touch(j)
		if j.Phase == Running && slices.Equal(j.Wanted, j.Containers) {
			m.drop(j)
		}
	}
	return nil
}

func (m *Machine) checkTarget(faults *apportion.Faults, name string, target []string) {
	item := check.Item("job", name, 0)
	j := m.jobs[name]
	switch {
	case j == nil:
		faults.Add(item, "Job", apportion.ErrUnknown, "")
		return
	case j.Ending != "":
		faults.Add(item, "Job", apportion.ErrConflict, "it has ended: "+string(j.Ending))
	case len(target) > 0 && len(target) < j.Min:
		faults.Add(item, "Targets", apportion.ErrRange, fmt.Sprintf("%d containers, fewer than Min %d", len(target), j.Min))
	}
	for i, server := range target {
		if m.servers[server] == nil {
			faults.Add(item, fmt.Sprintf("Targets[%d]", i), apportion.ErrUnknown, strconv.Quote(server))
		}
	}
}

// drop forgets what was asked for: it is begun, or cannot be had.
func (m *Machine) drop(j *Job) {
	j.Wanted, j.Order = nil, 0
	m.touch(j)
	if j.Phase == Running {
		delete(m.due, j.Name)
	}
}

// begin starts on what was asked of a running job: by saving it. reserve keeps the room free.
func (m *Machine) begin(j *Job, reserve bool) {
	j.Target, j.Fallback, j.Reserved = j.Wanted, j.Containers, reserve
	j.Reason, j.Restarts = apportion.Reason{}, 0
	m.drop(j)
	m.enter(j, Saving)
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

// apply refuses an unknown job.
func (c Checkpoint) apply(m *Machine) error {
	j, err := m.known(c.Job)
	if err == nil && j.Phase == Running {
		m.enter(j, Saving)
	}
	return err
}

// apply refuses an unknown job. One that is ending already goes on with that.
func (c Cancel) apply(m *Machine) error {
	j, err := m.known(c.Job)
	if err == nil && j.Ending == "" {
		m.end(j, Cancelled)
	}
	return err
}

// apply refuses an unknown job and one that has not ended.
func (f Forget) apply(m *Machine) error {
	j, err := m.known(f.Job)
	if err != nil {
		return err
	}
	if j.Phase != Ended {
		return &apportion.FieldError{Item: check.Item("job", f.Job, 0), Field: "Phase", Err: apportion.ErrConflict, Detail: string(j.Phase)}
	}
	delete(m.jobs, f.Job)
	delete(m.ready.jobs, f.Job)
	m.names = slices.DeleteFunc(m.names, func(name string) bool { return name == f.Job })
	m.ready.gone[f.Job] = true
	return nil
}

func (m *Machine) known(name string) (*Job, error) {
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
