// This file implements Admission: OASiS for objects whose number of pods can be set, [OASiS] Algorithm 1.

package admit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/kubernetes/resize"
	"github.com/apportion/apportion/examples/kubernetes/snapshot"
	"github.com/apportion/apportion/primaldual"
)

// The annotations of a job that is to be admitted.
const (
	Work     = snapshot.Prefix + "work"
	Deadline = snapshot.Prefix + "deadline"
	Worth    = snapshot.Prefix + "worth"
)

// Options say how time is divided. Every field must be set.
type Options struct {
	Kinds apportion.Kinds `json:"kinds"`
	// Clock says when slots are. Slots is how many of them are planned ahead, from the current one on.
	Clock primaldual.Clock `json:"clock"`
	Slots int              `json:"slots"`
	// Learning is how prices are learnt from the jobs that come; the zero value is recommended.
	Learning primaldual.Learning `json:"learning"`
}

// Verdict is what a job was told.
type Verdict struct {
	Admitted bool `json:"admitted"`
	// Begin and End are the first and the last time at which it has pods, if it is admitted.
	Begin time.Time `json:"begin,omitzero"`
	End   time.Time `json:"end,omitzero"`
	// Why is one sentence.
	Why string `json:"why"`
}

// Admission keeps who was admitted. It belongs to one goroutine.
type Admission struct {
	options   Options
	scheduler *primaldual.Scheduler
	verdicts  map[string]Verdict // of all that were offered and are not forgotten
	down      map[string]bool
}

// New returns an admission that has admitted nobody, for a cluster of these servers. The error is that of
// [primaldual.NewScheduler], or [apportion.Faults] of the clock.
func New(options Options, servers []apportion.Server) (*Admission, error) {
	if err := options.Clock.Validate(); err != nil {
		return nil, err
	}
	cluster := &primaldual.Cluster{Kinds: options.Kinds, Slots: options.Slots, WorkerServers: servers, PSServers: servers}
	s, err := primaldual.NewScheduler(cluster, nil, &primaldual.SchedulerOptions{Learn: &options.Learning})
	if err != nil {
		return nil, err
	}
	return &Admission{options, s, map[string]Verdict{}, map[string]bool{}}, nil
}

// Advance goes on to the slot that a time is in. unfinished reports whether a job still runs: one that does so behind its
// last slot has as much again as that slot had, where there is room. Time that goes back is no error, and changes nothing.
func (a *Admission) Advance(now time.Time, unfinished func(id string) bool) error {
	slot := a.options.Clock.SlotAt(now)
	if slot <= a.scheduler.First() {
		return nil
	}
	for _, id := range a.admitted() {
		plan, there := a.scheduler.Schedule(id)
		if !there || plan[len(plan)-1].Slot >= slot || !unfinished(id) {
			continue
		}
		last := plan[len(plan)-1]
		// The last slot is still the current one for the scheduler, so that what was done in it counts as still to do.
		e, err := a.scheduler.Extend(id, containers(last.Workers))
		if err != nil {
			return err
		}
		if e.Decision.Admitted {
			a.promise(id, "it is late, and has more time")
		}
	}
	_, err := a.scheduler.Advance(slot)
	for _, id := range a.admitted() {
		if _, there := a.scheduler.Schedule(id); !there {
			a.verdicts[id] = Verdict{Why: "its time is over and it has not ended; nothing more of it finds room in time"}
		}
	}
	return err
}

// admitted lists the jobs that have a promise, by ID.
func (a *Admission) admitted() []string {
	ids := slices.Sorted(maps.Keys(a.verdicts))
	return slices.DeleteFunc(ids, func(id string) bool { return !a.verdicts[id].Admitted })
}

// Offer answers a job, once: a second time it says what it has said.
func (a *Admission) Offer(item *resize.Item) (Verdict, error) {
	id := item.ID()
	if said, known := a.verdicts[id]; known {
		return said, nil
	}
	job, err := a.job(item)
	if err != nil {
		return Verdict{}, err
	}
	d, err := a.scheduler.Offer(job)
	if err != nil {
		return Verdict{}, err
	}
	if d.Admitted {
		a.promise(id, fmt.Sprintf("it is worth %.6g, and takes what others may be expected to give %.6g for", d.Utility, d.Cost))
	} else {
		a.verdicts[id] = Verdict{Why: d.Reason.Text}
	}
	for _, other := range d.Displaced {
		a.settle(other, fmt.Sprintf("%s took its place, which is worth more for what it takes", id))
	}
	for _, r := range d.Revised {
		a.promise(r.ID, a.verdicts[r.ID].Why)
	}
	return a.verdicts[id], nil
}

// promise writes down when a job runs.
func (a *Admission) promise(id, why string) {
	plan, _ := a.scheduler.Schedule(id)
	clock := a.options.Clock
	a.verdicts[id] = Verdict{true, clock.Begin(plan[0].Slot), clock.Begin(plan[len(plan)-1].Slot + 1), why}
}

// Pods returns how many pods a job has in the current slot; nothing for one that is not admitted.
func (a *Admission) Pods(id string) int64 {
	plan, _ := a.scheduler.Schedule(id)
	for _, p := range plan {
		if p.Slot == a.scheduler.First() {
			return containers(p.Workers)
		}
	}
	return 0
}

// Forget says that a job has ended or is gone: what it had reserved is given back, and its name is free.
func (a *Admission) Forget(id string) error {
	delete(a.verdicts, id)
	plan, there := a.scheduler.Schedule(id)
	if !there {
		return nil
	}
	if first := a.scheduler.First(); plan[0].Slot <= first {
		_, err := a.scheduler.Complete(id, min(first, plan[len(plan)-1].Slot))
		return err
	}
	return a.scheduler.Cancel(id)
}

// Known lists the jobs that have been answered, by ID.
func (a *Admission) Known() []string { return slices.Sorted(maps.Keys(a.verdicts)) }

// Servers brings the cluster up to date: servers that are new, that have more or less, that are down or back.
func (a *Admission) Servers(servers []apportion.Server, down map[string]bool) error {
	known, there := map[string]*apportion.Server{}, map[string]bool{}
	now := a.scheduler.Cluster().WorkerServers
	for i := range now {
		known[now[i].ID] = &now[i]
	}
	for i := range servers {
		s := &servers[i]
		there[s.ID] = true
		before := known[s.ID]
		switch {
		case before == nil:
			if err := errors.Join(a.scheduler.AddServer(primaldual.Workers, *s), a.scheduler.AddServer(primaldual.ParameterServers, *s)); err != nil {
				return err
			}
		case !slices.Equal(before.Capacity, s.Capacity):
			moved, err := a.scheduler.SetCapacity(s.ID, s.Capacity)
			if err != nil {
				return err
			}
			a.moved(moved, s.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if err := a.setDown(id, down[id] || !there[id]); err != nil {
			return err
		}
	}
	return nil
}

// setDown takes a server out of the plans, or back into them.
func (a *Admission) setDown(id string, down bool) error {
	if down == a.down[id] {
		return nil
	}
	a.down[id] = down
	if !down {
		return a.scheduler.Repair(id, a.scheduler.First())
	}
	moved, err := a.scheduler.Fail(id, a.scheduler.First())
	a.moved(moved, id)
	return err
}

// moved writes down what became of jobs that lost a server.
func (a *Admission) moved(list []primaldual.Displacement, server string) {
	for _, d := range list {
		a.settle(d, fmt.Sprintf("server %q has less than it had", server))
	}
}

// settle writes down what became of a job that has lost its place, for a reason.
func (a *Admission) settle(d primaldual.Displacement, why string) {
	if d.Decision.Admitted {
		a.promise(d.ID, why)
	} else {
		a.verdicts[d.ID] = Verdict{Why: why + ", and elsewhere: " + d.Decision.Reason.Text}
	}
}

// job reads what an object says of itself.
func (a *Admission) job(item *resize.Item) (primaldual.Job, error) {
	if item.IsKueues() {
		return primaldual.Job{}, errors.New("it is Kueue's to admit")
	}
	annotations := item.Object.GetAnnotations()
	most, err := strconv.ParseInt(annotations[resize.Max], 10, 32)
	if err != nil || most < 1 {
		return primaldual.Job{}, fmt.Errorf("annotation %s = %q: a number of pods from 1 on", resize.Max, annotations[resize.Max])
	}
	work, err := time.ParseDuration(annotations[Work])
	if err != nil || work <= 0 {
		return primaldual.Job{}, fmt.Errorf("annotation %s = %q: what one pod would take, as in \"36h\"", Work, annotations[Work])
	}
	template, err := item.Template()
	if err != nil {
		return primaldual.Job{}, err
	}
	clock, first := a.options.Clock, a.scheduler.First()
	length := clock.Length
	job := primaldual.Job{ID: item.ID(), Arrival: first, Units: int64((work + length - 1) / length), WorkerRequires: requires(&template.Spec),
		Worker: snapshot.Demand(a.options.Kinds, &template.Spec), PS: make(apportion.Resources, len(a.options.Kinds))}
	for n := range most {
		job.Speeds = append(job.Speeds, primaldual.Speed{Workers: n + 1, Units: n + 1})
	}
	job.Utility, err = utility(annotations, item.Object.GetCreationTimestamp().Time, clock, first)
	return job, err
}

// utility reads what a job is worth, and by when.
func utility(annotations map[string]string, created time.Time, clock primaldual.Clock, first int) (primaldual.Utility, error) {
	worth, err := strconv.ParseFloat(cmp.Or(annotations[Worth], "1"), 64)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", Worth, err)
	}
	text := annotations[Deadline]
	if text == "" {
		return primaldual.Constant(worth), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if span, other := time.ParseDuration(text); err != nil && other == nil {
		at, err = created.Add(span), nil
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s = %q: neither a time nor a duration", Deadline, text)
	}
	return clock.Steps(first, []primaldual.Deadline{{At: at, Value: worth}}), nil
}

// containers counts.
func containers(list []apportion.Placement) int64 {
	var n int64
	for _, p := range list {
		n += p.Count
	}
	return n
}

// document is what an admission is written as.
type document struct {
	Options   Options             `json:"options"`
	Cluster   *primaldual.Cluster `json:"cluster"`
	Scheduler []byte              `json:"scheduler"`
	Verdicts  map[string]Verdict  `json:"verdicts"`
	Down      map[string]bool     `json:"down"`
}

// MarshalJSON writes all that an admission knows.
func (a *Admission) MarshalJSON() ([]byte, error) {
	state, err := a.scheduler.Snapshot()
	if err != nil {
		return nil, err
	}
	return json.Marshal(document{a.options, a.scheduler.Cluster(), state, a.verdicts, a.down})
}

// Restore reads what MarshalJSON has written. A document that was damaged is an error.
func Restore(data []byte) (*Admission, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if err := d.Options.Clock.Validate(); err != nil {
		return nil, err
	}
	if d.Cluster == nil || d.Verdicts == nil || d.Down == nil {
		return nil, errors.New("this is not the state of an admission")
	}
	s, err := primaldual.RestoreScheduler(d.Cluster, nil, &primaldual.SchedulerOptions{Learn: &d.Options.Learning}, d.Scheduler)
	if err != nil {
		return nil, err
	}
	for id, v := range d.Verdicts {
		if _, there := s.Schedule(id); v.Admitted && !there {
			return nil, fmt.Errorf("job %q has a promise and no schedule: %w", id, apportion.ErrUnknown)
		}
	}
	return &Admission{d.Options, s, d.Verdicts, d.Down}, nil
}

// requires are what a pod asks of its node's labels by its selector; affinity and taints are the stock scheduler's.
func requires(spec *corev1.PodSpec) []apportion.Requirement {
	var list []apportion.Requirement
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		list = append(list, apportion.Requirement{Key: key, Op: apportion.In, Values: []string{spec.NodeSelector[key]}})
	}
	return list
}
