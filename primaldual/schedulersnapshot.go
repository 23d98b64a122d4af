// This file saves and restores a Scheduler.
// Prices, room and the order of jobs follow from what is saved; what is not saved are options,
// which the caller states again, and functions, which have no bytes.

package primaldual

import (
	"errors"

	"github.com/apportion/apportion"
)

// ErrUnsavable reports a utility whose type a snapshot cannot hold: a UtilityFunc or one of the
// caller's own types.
var ErrUnsavable = errors.New("cannot be saved")

// Snapshot returns the scheduler as bytes: the ledger, and the jobs that run. RestoreScheduler makes
// one of them that answers as this one would. A job whose utility is neither one of this package's
// formulas nor known to a codec of the options is an [*apportion.FieldError] with ErrUnsavable.
func (s *Scheduler) Snapshot() ([]byte, error) {
	w := newWriter(schedulerSnapshot, s.ledger.park)
	// The ledger keeps its own frame, so that one reader serves both sorts of snapshot. It is there
	// though the jobs add up to it, as servers that are down are nowhere else.
	w.bytes(s.ledger.Snapshot())
	// The last arrival is part of the state: without it a restored scheduler would take a job out
	// of order.
	w.int(int64(s.arrival))
	w.int(int64(s.next))
	w.int(0) // 1 in older snapshots of schedulers that learnt their prices
	// In order of admission, so that equal schedulers have equal bytes, which can be compared and
	// stored once.
	jobs := s.byNumber()
	w.int(int64(len(jobs)))
	for _, r := range jobs {
		if err := r.write(w, s.codecs); err != nil {
			return nil, err
		}
	}
	return w.seal(), nil
}

// RestoreScheduler returns the scheduler that Snapshot made data of. cluster and bounds must be those
// of that scheduler; options may differ. Errors are those of NewScheduler and RestoreLedger; a
// snapshot whose ledger is not what its jobs add up to is ErrCorrupt.
func RestoreScheduler(cluster *Cluster, bounds *Bounds, options *SchedulerOptions, data []byte) (*Scheduler, error) {
	// All checks of a new scheduler hold for a restored one; its empty ledger is then replaced.
	s, err := NewScheduler(cluster, bounds, options)
	if err != nil {
		return nil, err
	}
	r, err := newReader(data, schedulerSnapshot, s.ledger.park)
	if err != nil {
		return nil, err
	}
	limits := &LedgerOptions{MaxCells: s.planner.search.Limit}
	// RestoreLedger checks its part by itself and names what is wrong with it in the same way.
	if s.ledger, err = RestoreLedger(cluster, bounds, limits, r.bytes()); err != nil {
		return nil, err
	}
	s.arrival = int(r.intIn(1, maxSlot))
	// next exceeds the number of every job, also of those that have ended: an old number must not
	// come back.
	s.next = uint64(r.intIn(0, maxCount))
	if r.intIn(0, 1) == 1 {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: "learning", Err: apportion.ErrUnknown, Detail: "prices are learnt no more; see primaldual/deadline"}
	}
	// Jobs come in the order of their numbers, each once: anything else was not written by Snapshot.
	number := int64(-1)
	for range r.count() {
		job := readRunning(r, s.codecs)
		if r.failed || int64(job.number) <= number || job.number >= s.next || !s.sound(job) {
			r.fail()
			break
		}
		number = int64(job.number)
		s.jobs[job.job.ID] = job
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	// The ledger was saved too, and must be what the jobs add up to: a snapshot that was put together from two
	// is found out here.
	if err := s.recount(); err != nil {
		return nil, &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: "contents", Err: ErrCorrupt, Detail: err.Error()}
	}
	return s, nil
}

// sound reports whether a job that was read is valid, new, and has a schedule it could have.
func (s *Scheduler) sound(r *running) bool {
	// !(utility >= 0) also refuses NaN. A job without schedule runs nowhere and would never end.
	if r.job.Validate(s.ledger.cluster.Kinds) != nil || s.jobs[r.job.ID] != nil || len(r.schedule) == 0 || !(r.utility >= 0) {
		return false
	}
	// A job that has ended is not in a snapshot, as Advance drops it.
	if s.ledger.checkForm(&r.job, r.schedule) != nil || r.schedule.completion() < s.First() {
		return false
	}
	// A schedule that breaks (3) would commit, as capacities know nothing of N_i, and a later plan
	// would count work that cannot be done.
	for i := range r.schedule {
		if len(r.job.Speeds) > 0 {
			// Every slot of a job with Speeds is one of its ways.
			if r.job.rate(&r.schedule[i]) == 0 {
				return false
			}
			continue
		}
		left := r.job.Chunks // constraint (3)
		for _, p := range r.schedule[i].Workers {
			if left -= p.Count; left < 0 {
				return false
			}
		}
	}
	return r.schedule[0].Slot >= r.job.Arrival
}

// write appends a job and its schedule.
// A field that is forgotten here is 0 after a restart, and the job would be planned by other
// numbers than before.
func (r *running) write(w *writer, codecs []UtilityCodec) error {
	w.int(int64(r.number))
	w.float(r.utility)
	w.int(int64(r.schedule.completion())) // once the last slot of a promise, and work beyond what the job states
	w.int(0)
	j := &r.job
	w.string(j.ID)
	for _, x := range []int64{int64(j.Arrival), j.Epochs, j.Chunks, j.Minibatches, j.WorkerBandwidth, j.PSBandwidth} {
		w.int(x)
	}
	w.float(j.MinibatchSlots)
	w.float(j.CommSlots)
	for _, demand := range []apportion.Resources{j.Worker, j.PS} {
		w.int(int64(len(demand)))
		for _, q := range demand {
			w.int(q)
		}
	}
	w.int(int64(len(j.Speeds)))
	for _, s := range j.Speeds {
		w.int(s.Workers)
		w.int(s.PS)
		w.int(s.Units)
	}
	w.int(j.Units)
	writeRequires(w, j.WorkerRequires)
	writeRequires(w, j.PSRequires)
	w.int(int64(j.Colocation))
	// One job that cannot be saved fails the snapshot as a whole: a restored scheduler without it
	// would give away its room.
	if !writeUtility(w, j.Utility, codecs) {
		return &apportion.FieldError{Item: j.item(), Field: "Utility", Err: ErrUnsavable}
	}
	writeSchedule(w, r.schedule)
	return nil
}

// readRunning reads what running.write wrote; whether it makes sense is for sound to say.
// The order of fields is that of write. A change of either is a new snapshotVersion.
func readRunning(r *reader, codecs []UtilityCodec) *running {
	out := &running{number: uint64(r.intIn(0, maxCount)), utility: r.float()}
	r.intIn(1, maxSlot)
	r.intIn(0, 0)
	j := &out.job
	j.ID = string(r.bytes())
	j.Arrival = int(r.intIn(1, maxSlot))
	for _, x := range []*int64{&j.Epochs, &j.Chunks, &j.Minibatches, &j.WorkerBandwidth, &j.PSBandwidth} {
		*x = r.int()
	}
	j.MinibatchSlots, j.CommSlots = r.float(), r.float()
	// The lengths are those written; Validate compares them with the kinds.
	for _, demand := range []*apportion.Resources{&j.Worker, &j.PS} {
		*demand = make(apportion.Resources, r.count())
		for k := range *demand {
			(*demand)[k] = r.int()
		}
	}
	for range r.count() {
		j.Speeds = append(j.Speeds, Speed{r.int(), r.int(), r.int()})
	}
	j.Units = r.int()
	j.WorkerRequires, j.PSRequires = readRequires(r), readRequires(r)
	j.Colocation = Colocation(r.intIn(0, int64(OneMachine)))
	j.Utility = readUtility(r, codecs)
	out.schedule = readSchedule(r)
	return out
}

// writeRequires appends requirements.
// Values keep their order, although their set alone matters: equal jobs then have equal bytes.
func writeRequires(w *writer, requires []apportion.Requirement) {
	w.int(int64(len(requires)))
	for _, q := range requires {
		w.string(q.Key)
		w.string(string(q.Op))
		w.int(int64(len(q.Values)))
		for _, value := range q.Values {
			w.string(value)
		}
	}
}

// readRequires reads what writeRequires wrote.
func readRequires(r *reader) []apportion.Requirement {
	var requires []apportion.Requirement
	for range r.count() {
		q := apportion.Requirement{Key: string(r.bytes()), Op: apportion.Operator(r.bytes())}
		for range r.count() {
			q.Values = append(q.Values, string(r.bytes()))
		}
		requires = append(requires, q)
	}
	return requires
}

// The letters of utilities.
// The letters are part of the format: old snapshots hold them, so that they are never reassigned.
const (
	sigmoidUtility  = 's'
	constantUtility = 'c'
	linearUtility   = 'l'
	stepsUtility    = 'd'
	ownUtility      = 'o'
)

// writeUtility appends a utility and reports whether its type can be saved.
func writeUtility(w *writer, u Utility, codecs []UtilityCodec) bool {
	switch u := u.(type) {
	case Sigmoid:
		w.int(sigmoidUtility)
		w.float(u.Gamma1)
		w.float(u.Gamma2)
		w.float(u.Gamma3)
	case Constant:
		w.int(constantUtility)
		w.float(float64(u))
	case Linear:
		w.int(linearUtility)
		w.float(u.Start)
		w.float(u.PerSlot)
	case Steps:
		w.int(stepsUtility)
		w.int(int64(len(u)))
		for _, step := range u {
			w.int(int64(step.Within))
			w.float(step.Value)
		}
	// Only the caller can save a type of his own, and a function has no contents to save.
	default:
		return writeByCodec(w, u, codecs)
	}
	return true
}

// readUtility reads what writeUtility wrote.
func readUtility(r *reader, codecs []UtilityCodec) Utility {
	switch r.int() {
	case sigmoidUtility:
		return Sigmoid{r.float(), r.float(), r.float()}
	case constantUtility:
		return Constant(r.float())
	case linearUtility:
		return Linear{r.float(), r.float()}
	case stepsUtility:
		steps := make(Steps, r.count())
		for i := range steps {
			steps[i] = Step{Within: int(r.int()), Value: r.float()}
		}
		return steps
	case ownUtility:
		return readByCodec(r, codecs)
	}
	r.fail()
	return nil
}

// writeSchedule appends a schedule.
func writeSchedule(w *writer, s Schedule) {
	w.int(int64(len(s)))
	for i := range s {
		w.int(int64(s[i].Slot))
		// Price is kept as it was decided: prices in force have changed since, and it could not be
		// found again.
		w.float(s[i].Price)
		for _, side := range []Side{Workers, ParameterServers} {
			w.int(int64(len(s[i].on(side))))
			for _, p := range s[i].on(side) {
				w.int(int64(p.Server))
				w.int(p.Count)
			}
		}
	}
}

// readSchedule reads what writeSchedule wrote.
// Whether servers and counts make sense is for checkForm to say, which knows the cluster.
func readSchedule(r *reader) Schedule {
	s := make(Schedule, r.count())
	for i := range s {
		s[i].Slot = int(r.intIn(1, maxSlot))
		s[i].Price = r.float()
		for _, placements := range []*[]apportion.Placement{&s[i].Workers, &s[i].PS} {
			*placements = make([]apportion.Placement, r.count())
			for k := range *placements {
				(*placements)[k] = apportion.Placement{Server: int(r.int()), Count: r.int()}
			}
		}
	}
	return s
}
