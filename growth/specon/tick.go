// This file implements the decisions of SpeCon's manager, [Zheng] §5.2: categories by Algorithm 3, hosts by
// Algorithm 4, rebalancing by Algorithm 5.

package specon

import (
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/internal/monitor"
	"github.com/apportion/apportion/placement"
)

// packer returns the workers with what their jobs take. A job that is on its way counts where it goes:
// room there is promised to it. A worker that shrank may have less than nothing left. O(jobs + workers).
func (m *Manager) packer() (*placement.Packer, error) {
	p, err := placement.NewPacker(m.options.Place, m.config.Kinds, placement.Bins(m.workers))
	for _, j := range m.jobs {
		if err == nil && j.Worker != "" {
			err = p.Take(m.worker(j.Worker), j.Demand, 1)
		}
	}
	return p, err
}

// loads returns every worker with its counts, score and usage: what Algorithm 4 compares. A job that
// no check has seen counts as Progressing, as young jobs do. O(jobs + workers).
func (m *Manager) loads() []Load {
	loads := make([]Load, len(m.workers))
	for w := range loads {
		loads[w].Worker = m.workers[w].ID
	}
	for _, j := range m.jobs {
		if j.Worker == "" {
			continue
		}
		load := &loads[m.worker(j.Worker)]
		switch j.Category {
		case growth.Converged:
			load.Converged++
		case growth.Watching:
			load.Watching++
		default:
			load.Progressing++
		}
		if share, measured := j.Current.Share(); measured {
			load.Usage += share
		}
	}
	for w := range loads {
		l := &loads[w]
		l.Score = m.options.Host.Weights.Score(placement.Counts{Progressing: l.Progressing, Watching: l.Watching, Converged: l.Converged})
	}
	return loads
}

// placed returns the jobs that have a worker, in order of arrival: the containers of Algorithm 5.
func (m *Manager) placed() []*Job {
	return slices.DeleteFunc(slices.Clone(m.jobs), func(j *Job) bool { return j.Worker == "" })
}

// shortage says why no worker has room for a demand: a kind of which none has enough, if there is one.
func (m *Manager) shortage(packer *placement.Packer, demand apportion.Resources) apportion.Reason {
	for k, need := range demand {
		var most int64
		for w := range m.workers {
			most = max(most, packer.Free(w)[k])
		}
		if need > most {
			kind := m.config.Kinds.Name(k)
			return apportion.Reason{Constraint: "room", Kind: kind, Need: float64(need), Have: float64(most), Text: "no worker has room: " +
				kind + ": " + strconv.FormatInt(need, 10) + " needed, at most " + strconv.FormatInt(most, 10) + " free"}
		}
	}
	return apportion.Reason{Constraint: "room", Text: "no worker has room for all kinds at once"}
}

// place gives workers to the jobs that have none, in order of arrival, by the rule of the options. A job
// that fits nowhere does not keep those behind it from being placed.
func (m *Manager) place(d *Decision) error {
	// Most ticks have nobody to place, and a packer costs a pass over all jobs.
	if !slices.ContainsFunc(m.jobs, func(j *Job) bool { return j.Worker == "" }) {
		return nil
	}
	packer, err := m.packer()
	if err != nil {
		return err
	}
	for _, j := range m.jobs {
		if j.Worker != "" {
			continue
		}
		placed, ok := packer.Place(j.Demand, 1, nil)
		if !ok {
			d.Waiting = append(d.Waiting, Waiting{j.ID, m.shortage(packer, j.Demand)})
			continue
		}
		j.Worker = m.workers[placed[0].Server].ID
		d.Assignments = append(d.Assignments, Assignment{j.ID, j.Worker})
	}
	return nil
}

// watch lets the monitor check all jobs that have a worker, Algorithm 3, and notes since when each is
// converged: d_c of Algorithm 5 counts from there until a host was chosen. Readings are in the tracks
// of the jobs, which the monitor shares, so the observations have none.
func (m *Manager) watch(d *Decision) error {
	observations := make([]Observation, 0, len(m.jobs))
	for _, j := range m.jobs {
		if j.Worker != "" {
			observations = append(observations, Observation{Job: j.ID, Worker: j.Worker, Migrated: j.Decided, Missing: true, track: &j.Readings})
		}
	}
	if err := m.monitor.Step(m.now, observations, &m.report); err != nil {
		return err
	}
	d.Ran, d.Next = m.report.Ran, m.report.Next
	d.Changes = slices.Clone(m.report.Changes)
	for _, j := range m.jobs {
		standing, _ := m.monitor.Standing(j.ID)
		// Only the entry counts: who stays converged keeps its time.
		if standing.Category == growth.Converged && j.Category != growth.Converged {
			j.Since = m.now
		}
		if j.Category == growth.Outside {
			j.There = m.now
		}
		j.Category = standing.Category
	}
	return nil
}

// busy reports whether nobody may be moved now because a job is on its way.
func (m *Manager) busy(d *Decision) bool {
	return m.options.OneAtATime && len(d.OnTheirWay)+len(d.Moves) > 0
}

// send notes a move. From now on the job counts on its new worker, where it does not run yet.
func (m *Manager) send(job *Job, to string, why placement.HostReason, d *Decision) {
	d.Moves = append(d.Moves, Move{Job: job.ID, From: job.Worker, To: to, Why: why})
	job.Worker, job.Running = to, false
}

// choose finds a host for a job that grows slowly, Algorithm 4, and marks the job as decided unless only
// room was missing.
func (m *Manager) choose(job *Job, d *Decision) (placement.HostReason, error) {
	packer, err := m.packer()
	if err != nil {
		return "", err
	}
	request := placement.HostRequest{Kinds: m.config.Kinds, Demand: job.Demand, Containers: 1, Current: m.worker(job.Worker)}
	for w, load := range m.loads() {
		request.Workers = append(request.Workers, placement.Worker{ID: load.Worker, Free: packer.Free(w), Usage: load.Usage,
			Counts: placement.Counts{Progressing: load.Progressing, Watching: load.Watching, Converged: load.Converged}})
	}
	host, err := placement.ChooseHost(request, &m.options.Host)
	if err != nil {
		return "", err
	}
	// The mark of Algorithm 4 is set whether the job moves or stays.
	if host.Decided {
		job.Decided, job.Since = true, m.now
	}
	if host.Reason == placement.Stays || host.Reason == placement.NoRoom {
		return host.Reason, nil
	}
	m.send(job, m.workers[host.Worker].ID, host.Reason, d)
	return Moves, nil
}

// answer decides on the requests for another host, in the order of the monitor. Each sees what came of
// those before it.
func (m *Manager) answer(d *Decision) error {
	for _, request := range m.report.Requests {
		// A job that waits is not marked, so it asks again.
		verdict := Waits
		if !m.busy(d) {
			var err error
			if verdict, err = m.choose(m.byID[request.Job], d); err != nil {
				return err
			}
		}
		d.Answers = append(d.Answers, Answer{request, verdict})
	}
	return nil
}

// balanced returns the plan that evens out a cluster whose jobs have all converged, Algorithm 5. Their
// marks are the times since when they are.
func (m *Manager) balanced(placed []*Job) (placement.RebalancePlan, error) {
	packer, err := m.packer()
	if err != nil {
		return placement.RebalancePlan{}, err
	}
	request := placement.RebalanceRequest{Now: m.now, Kinds: m.config.Kinds}
	for w := range m.workers {
		request.Free = append(request.Free, packer.Free(w))
	}
	for _, j := range placed {
		request.Containers = append(request.Containers, placement.Active{ID: j.ID, Worker: m.worker(j.Worker), Demand: j.Demand,
			Migrated: true, Since: j.Since, Rebalanced: j.Rebalanced})
	}
	return placement.Rebalance(request, &m.options.Rebalance)
}

// rebalance evens out a cluster whose jobs have all converged, Algorithm 5. It waits until all are
// converged, as §6.2.3 tells, whether or not each was decided on: a job that converges last on its
// worker never asks for another host, so the listing's condition, that all are migrated, would
// hardly ever be true.
//
// What is left of a plan is carried out as it was made, while nothing else happens: planned anew, a
// worker that was idle before the first move is idle no more, and would get fewer.
func (m *Manager) rebalance(d *Decision) error {
	placed := m.placed()
	if slices.ContainsFunc(placed, func(j *Job) bool { return j.Category != growth.Converged }) {
		m.plan = nil
		return nil
	}
	if len(m.plan) == 0 {
		plan, err := m.balanced(placed)
		if err != nil {
			return err
		}
		for _, t := range plan.Transfers {
			m.plan = append(m.plan, Transfer{placed[t.Container].ID, m.workers[t.To].ID})
		}
	}
	// Every move has room once those before it are done: the order of the plan is kept.
	for len(m.plan) > 0 && !m.busy(d) {
		job := m.byID[m.plan[0].Job]
		job.Decided, job.Rebalanced = true, true
		m.send(job, m.plan[0].To, Rebalancing, d)
		m.plan = m.plan[1:]
	}
	return nil
}

// Tick decides. At the first tick, and whenever the interval is over, it categorizes the jobs; jobs
// without a worker are placed, and a converged cluster is evened out, at any tick. Call it at Next,
// and when something happened that should not wait. now must not go back; if it does, that is an
// error and changes nothing. It takes O(n log n + w) for n jobs on w workers, and O(n + w) more for
// each request and each move.
func (m *Manager) Tick(now time.Duration) (Decision, error) {
	var faults apportion.Faults
	if monitor.CheckClock(&faults, m.now, now); len(faults) > 0 {
		return Decision{}, faults
	}
	// The sums of demands and capacities were checked when they came: an error from here on is a fault of ours.
	m.now = now
	d := Decision{Time: now}
	err := m.place(&d)
	if err == nil {
		err = m.watch(&d)
	}
	for _, j := range m.jobs {
		if j.Worker != "" && !j.Running {
			d.OnTheirWay = append(d.OnTheirWay, j.ID)
		}
	}
	if err == nil && !m.options.Stay {
		err = m.answer(&d)
	}
	if err == nil && !m.options.Stay && !m.options.NoRebalance && len(m.workers) > 0 {
		err = m.rebalance(&d)
	}
	d.Workers = m.loads()
	return d, err
}
