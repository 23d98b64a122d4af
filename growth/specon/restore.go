// This file implements saving and restoring a Manager; it is not in the thesis, whose manager keeps its
// marks in memory.

package specon

import (
	"slices"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
)

// State returns all that the manager knows: settings are not part of it. It is a copy, of about a
// kilobyte for each job. O(jobs + workers).
func (m *Manager) State() State {
	s := State{Now: m.now, Next: m.monitor.next, Ticked: m.monitor.started, Gone: slices.Clone(m.monitor.gone), Plan: slices.Clone(m.plan)}
	for _, w := range m.workers {
		s.Workers = append(s.Workers, apportion.Server{ID: w.ID, Capacity: w.Capacity.Clone()})
	}
	for _, j := range m.jobs {
		s.Jobs = append(s.Jobs, j.clone())
	}
	return s
}

// check adds to faults what no manager can have known. What Step has refused already, such as a job
// twice, is not asked again.
func (s *State) check(faults *apportion.Faults, m *Manager) {
	item := func(i int) apportion.Item { return apportion.Item{Kind: "job", ID: s.Jobs[i].ID, Index: i} }
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if j.Category > growth.Converged {
			faults.Add(item(i), "Category", apportion.ErrUnknown, j.Category.String())
		}
		if j.Since > s.Now {
			faults.Add(item(i), "Since", apportion.ErrRange, j.Since.String()+" is after "+s.Now.String())
		}
		if j.Running && j.Worker == "" {
			faults.Add(item(i), "Running", apportion.ErrConflict, "without a worker")
		}
	}
	for i, t := range s.Plan {
		if m.byID[t.Job] == nil || m.worker(t.To) < 0 {
			faults.Add(apportion.Item{Kind: "transfer", Index: i}, "", apportion.ErrUnknown, strconv.Quote(t.Job)+" to "+strconv.Quote(t.To))
		}
	}
	if s.Now < 0 || s.Ticked && s.Next < s.Now {
		faults.Add(apportion.Item{}, "Next", apportion.ErrRange, s.Next.String()+" is before "+s.Now.String())
	}
}

// Restore returns the Manager that had a state: with the same settings it decides as that one would
// have. With other settings it goes on with what is known under the new ones; readings and marks stay
// valid. What has happened since the state was saved is told by events, as ever. A state that no manager can have had is
// refused, as apportion.Faults.
func Restore(config ManagerConfig, options *ManagerOptions, state State) (*Manager, error) {
	m, err := NewManager(config, options)
	if err != nil {
		return nil, err
	}
	// Workers come first, since the arrival of a placed job names one.
	for _, w := range state.Workers {
		if m.worker(w.ID) >= 0 {
			return nil, apportion.Faults{{Item: apportion.Item{Kind: "worker", ID: w.ID}, Field: "Worker", Err: apportion.ErrDuplicate}}
		}
		if err := m.Step(Event{Kind: WorkerUp, Worker: w.ID, Capacity: w.Capacity}); err != nil {
			return nil, err
		}
	}
	for i := range state.Jobs {
		j := state.Jobs[i].clone()
		if err := m.Step(Event{Kind: Arrival, Job: j.ID, Worker: j.Worker, Demand: j.Demand}); err != nil {
			return nil, err
		}
		*m.byID[j.ID] = j // the arrival has checked ID, worker and demand
	}
	var faults apportion.Faults
	if state.check(&faults, m); len(faults) > 0 {
		return nil, faults
	}
	m.now, m.plan = state.Now, slices.Clone(state.Plan)
	if state.Ticked {
		m.monitor.restore(state.Now, state.Next, m.jobs, state.Gone)
	}
	return m, nil
}
