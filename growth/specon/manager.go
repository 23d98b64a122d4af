// This file implements what SpeCon's manager knows of a cluster and how events change it, [Zheng] §5.2.

package specon

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/exact"
	"github.com/apportion/apportion/placement"
)

// ManagerConfig is what a Manager needs to be told.
type ManagerConfig struct {
	Config
	// Kinds names the kinds of capacities and demands. Without kinds everything fits everywhere, as
	// in the thesis.
	Kinds apportion.Kinds
}

// ManagerOptions are the choices; nil means all defaults.
type ManagerOptions struct {
	Options
	// Place finds workers for jobs that arrive without one; "" means FewestFirst, which leaves least to move.
	Place placement.Rule
	// Stay leaves every job where it is: nobody is moved, whatever the monitor asks.
	Stay bool
	// OneAtATime moves at most one job at a time: while a job that has a worker does not run, no
	// other is moved, and a plan to even the cluster out is carried out one move after the other.
	// Otherwise every request of a check is decided at once, and a plan is one decision, as listed.
	OneAtATime bool
	// Host are the choices of Algorithm 4.
	Host placement.HostOptions
	// NoRebalance leaves Algorithm 5 out; otherwise Rebalance are its choices.
	NoRebalance bool
	Rebalance   placement.RebalanceOptions
}

// Manager places the jobs of a cluster and moves those that grow slowly, [Zheng] §5.2. It is a state machine
// without a clock: [Manager.Step] is told what happened, [Manager.Tick] decides. It is not safe for
// concurrent use.
//
// After a tick a job counts as being where the decision puts it. It is the caller's to carry the
// decision out and to tell: a Runs event says that a job runs, where that is.
type Manager struct {
	config  ManagerConfig
	options ManagerOptions
	monitor *Monitor
	report  Report
	now     time.Duration
	workers []apportion.Server
	index   map[string]int // from a worker to its position
	jobs    []*Job         // in order of arrival
	byID    map[string]*Job
	total   apportion.Resources // of the demands of all jobs
	plan    []Transfer
}

// NewManager returns a Manager of a cluster without workers and jobs. Options may be nil. All faults
// of the input are returned at once, as apportion.Faults.
func NewManager(config ManagerConfig, options *ManagerOptions) (*Manager, error) {
	var chosen ManagerOptions
	if options != nil {
		chosen = *options
	}
	if chosen.Host.Weights == (placement.Weights{}) {
		chosen.Host.Weights = placement.DefaultWeights()
	}
	chosen.Place = cmp.Or(chosen.Place, placement.FewestFirst)
	watch, monitorErr := NewMonitor(config.Config, &chosen.Options)
	_, packErr := placement.NewPacker(chosen.Place, nil, nil)
	// Each check returns all faults of its part; together they are all faults of the settings.
	var faults apportion.Faults
	for _, err := range []error{monitorErr, chosen.Host.Weights.Validate(), packErr} {
		var found apportion.Faults
		if errors.As(err, &found) {
			faults = append(faults, found...)
		}
	}
	// No kinds at all are legal here, although Validate calls them a fault: see ManagerConfig.
	if len(config.Kinds) > 0 {
		var found apportion.Faults
		if errors.As(config.Kinds.Validate(), &found) {
			faults = append(faults, found...)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	config.Kinds = slices.Clone(config.Kinds)
	return &Manager{config: config, options: chosen, monitor: watch, index: map[string]int{}, byID: map[string]*Job{},
		total: make(apportion.Resources, len(config.Kinds))}, nil
}

// worker returns the position of a worker, or -1.
func (m *Manager) worker(id string) int {
	if w, ok := m.index[id]; ok {
		return w
	}
	return -1
}

// bounded reports whether every capacity, with all demands added or taken away, fits into int64, also
// when a job of that demand or a worker of that capacity joins: then no sequence of moves overflows. A
// nil capacity joins nobody. Each demand counts twice, because a move may put it where it has been
// counted as used already. O(workers).
func (m *Manager) bounded(capacity, demand apportion.Resources) bool {
	sum := slices.Clone(demand)
	ok := exact.AddTo(sum, sum, m.total) == nil && exact.AddTo(sum, sum, sum) == nil
	fits := func(capacity apportion.Resources) bool {
		return exact.AddTo(make(apportion.Resources, len(sum)), sum, capacity) == nil
	}
	ok = ok && (capacity == nil || fits(capacity))
	for _, w := range m.workers {
		ok = ok && fits(w.Capacity)
	}
	return ok
}

func (m *Manager) has(id string, capacity apportion.Resources) bool {
	w := m.worker(id)
	return w >= 0 && m.workers[w].Capacity.Equal(capacity)
}

// validate returns what is wrong with an event: IDs that are empty, that nobody has or that somebody
// has already, and quantities that are none. A fault in one field does not hide those in others.
func (m *Manager) validate(e *Event) error {
	var faults apportion.Faults
	wrong := func(kind, id, field string, err error) {
		faults.Add(apportion.Item{Kind: kind, ID: id}, field, err, strconv.Quote(id))
	}
	ofWorker, ofJob := e.Kind == WorkerUp || e.Kind == WorkerDown, e.Kind != WorkerUp && e.Kind != WorkerDown
	job, worker := m.byID[e.Job], m.worker(e.Worker)
	switch {
	case !slices.Contains(eventKinds, e.Kind):
		faults.Add(apportion.Item{}, "Kind", apportion.ErrUnknown, strconv.Quote(string(e.Kind)))
		return faults
	case ofWorker && e.Worker == "" || ofJob && e.Job == "":
		faults.Add(apportion.Item{}, map[bool]string{true: "Worker", false: "Job"}[ofWorker], apportion.ErrEmpty, "")
	case e.Kind == Arrival && job != nil:
		wrong("job", e.Job, "Job", apportion.ErrDuplicate)
	case ofJob && e.Kind != Arrival && job == nil:
		wrong("job", e.Job, "Job", apportion.ErrUnknown)
	}
	// The worker of an arrival may be empty: then the manager finds one.
	named := e.Kind == WorkerDown || e.Kind == Runs || e.Kind == Arrival && e.Worker != ""
	if named && worker < 0 {
		wrong("worker", e.Worker, "Worker", apportion.ErrUnknown)
	}
	m.validateQuantities(&faults, e, job)
	return faults.Err()
}

// validateQuantities adds to faults what is wrong with the capacity or the demand of an event; job is
// the one that it names, nil where there is none. Sums are checked only where each quantity is good.
func (m *Manager) validateQuantities(faults *apportion.Faults, e *Event, job *Job) {
	before := len(*faults)
	item := apportion.Item{Kind: "job", ID: e.Job}
	added, capacity := make(apportion.Resources, len(m.config.Kinds)), apportion.Resources(nil)
	switch {
	case e.Kind == WorkerUp && m.has(e.Worker, e.Capacity), e.Kind == Runs && job != nil && job.Demand.Equal(e.Demand):
		return // as before
	case e.Kind == WorkerUp:
		item = apportion.Item{Kind: "worker", ID: e.Worker}
		check.Resources(faults, m.config.Kinds, e.Capacity, item, "Capacity")
		capacity = e.Capacity
	case e.Kind == Arrival, e.Kind == Runs && e.Demand != nil:
		check.Resources(faults, m.config.Kinds, e.Demand, item, "Demand")
		added = e.Demand
	default:
		return
	}
	if len(*faults) == before && !m.bounded(capacity, added) {
		faults.Add(item, "", apportion.ErrOverflow, "the demands of all jobs beside the capacities")
	}
}

// demand adds a job's demand to the total, or takes it away. It does not overflow: the event was checked.
func (m *Manager) demand(j *Job, sign int64) {
	for k, q := range j.Demand {
		m.total[k] += sign * q
	}
}

// workerUp adds a worker or changes its capacity. A capacity that is as before changes nothing, so a
// caller may tell of all workers again and again.
func (m *Manager) workerUp(id string, capacity apportion.Resources) {
	w := m.worker(id)
	switch {
	case w < 0:
		m.index[id] = len(m.workers)
		m.workers, m.plan = append(m.workers, apportion.Server{ID: id, Capacity: capacity.Clone()}), nil
	case !m.has(id, capacity):
		m.workers[w].Capacity, m.plan = capacity.Clone(), nil
	}
}

// workerDown takes a worker away; its jobs have none until the next tick finds them one. What they were
// moved for does not count against them: their marks stay.
func (m *Manager) workerDown(id string) {
	w := m.worker(id)
	m.workers, m.plan = slices.Delete(m.workers, w, w+1), nil
	delete(m.index, id)
	for i := w; i < len(m.workers); i++ {
		m.index[m.workers[i].ID] = i
	}
	for _, j := range m.jobs {
		if j.Worker == id {
			j.Worker, j.Running = "", false
		}
	}
}

// runs notes where a job runs. A plan was made for the jobs where they were, or were to be, and for what
// they needed then: anything else ends it.
func (m *Manager) runs(job *Job, e *Event) {
	if e.Worker != job.Worker {
		job.Worker, m.plan = e.Worker, nil
	}
	if e.Demand != nil && !e.Demand.Equal(job.Demand) {
		m.demand(job, -1)
		job.Demand, m.plan = e.Demand.Clone(), nil
		m.demand(job, 1)
	}
	job.Running = true
}

// read notes a reading for the next check, and what the job uses for R(w, t). A reading that is
// dropped changes neither.
func (j *Job) read(e *Event) {
	var usage []float64
	if share, measured := e.Usage.Share(); measured {
		usage = []float64{share}
	}
	j.Readings.Toward(e.Better)
	if !e.Current.Valid() || !j.Readings.Offer(e.At, e.Value, usage) {
		return
	}
	j.Current = e.Current
	if _, measured := e.Current.Share(); !measured {
		j.Current = e.Usage
	}
}

// Step takes in what happened. An event that cannot have happened (a second arrival, an exit of
// nobody, a worker that is not there) is refused, as apportion.Faults, and changes nothing. It takes O(1) for
// a reading and where nothing changes, O(jobs + workers) otherwise.
func (m *Manager) Step(e Event) error {
	if err := m.validate(&e); err != nil {
		return err
	}
	job := m.byID[e.Job]
	switch e.Kind {
	case WorkerUp:
		m.workerUp(e.Worker, e.Capacity)
	case WorkerDown:
		m.workerDown(e.Worker)
	case Arrival:
		job = &Job{ID: e.Job, Worker: e.Worker, Demand: e.Demand.Clone(), Running: e.Worker != ""}
		m.byID[e.Job], m.jobs, m.plan = job, append(m.jobs, job), nil
		m.demand(job, 1)
	case Exit:
		m.demand(job, -1)
		m.monitor.remove(e.Job)
		delete(m.byID, e.Job)
		m.jobs, m.plan = slices.DeleteFunc(m.jobs, func(j *Job) bool { return j == job }), nil
	case Reading:
		job.read(&e)
	case Runs:
		m.runs(job, &e)
	case Pauses:
		job.Running = false
	}
	return nil
}

// Job returns what is known of a job, and false where there is no such job. It is a copy: changing it
// changes nothing.
func (m *Manager) Job(id string) (Job, bool) {
	if j := m.byID[id]; j != nil {
		return j.clone(), true
	}
	return Job{}, false
}
