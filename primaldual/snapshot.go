// This file saves and restores a Scheduler as JSON.
// Saved is what nothing else says: the jobs with their schedules, the servers that are down, and the time. What is taken, and
// what it costs, follow from the schedules, so that no two parts of a snapshot can contradict each other.

package primaldual

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/apportion/apportion"
)

var (
	// ErrCorrupt reports bytes that are no snapshot, or a damaged one.
	ErrCorrupt = errors.New("is no snapshot, or a damaged one")
	// ErrUnsavable reports a utility that a snapshot cannot hold: of a type of the caller's, or not finite.
	ErrUnsavable = errors.New("cannot be saved")
)

// snapshotVersion is the version of the form. The versions before 4 were no JSON.
const snapshotVersion = 4

// castagnoli makes checksums that find each burst of up to 32 wrong bits.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// envelope is a snapshot: a state, with what tells a damaged one, and one of another cluster.
type envelope struct {
	Version int `json:"version"`
	// Cluster is the fingerprint of cluster and bounds: the state names servers by their positions.
	Cluster string          `json:"cluster"`
	Sum     uint32          `json:"sum"`
	State   json.RawMessage `json:"state"`
}

// state is a scheduler without its cluster.
type state struct {
	First int `json:"first"`
	// Arrival is that of the last job, before which none may arrive; Next is above the number of each job, also of ended ones.
	Arrival int        `json:"arrival"`
	Next    uint64     `json:"next"`
	Jobs    []savedJob `json:"jobs,omitempty"` // in order of admission
	// Down has the machines that are down, ascending, by slot from First on; empty where all are up in all slots.
	Down [][]int `json:"down,omitempty"`
}

type savedJob struct {
	Number   uint64          `json:"number"`
	Job      json.RawMessage `json:"job"`
	Schedule Schedule        `json:"schedule"`
	Utility  float64         `json:"utility"`
}

// Snapshot returns the scheduler as JSON, of which RestoreScheduler makes one that answers as this one would. Equal schedulers have
// equal snapshots. A job whose utility is none of this package's formulas, or not finite, is an [*apportion.FieldError] with
// ErrUnsavable.
func (s *Scheduler) Snapshot() ([]byte, error) {
	saved := state{First: s.First(), Arrival: s.arrival, Next: s.next, Down: s.ledger.outages()}
	for _, r := range s.byNumber() {
		// One job that cannot be saved fails the snapshot as a whole: a restored scheduler without it would give away its room.
		job, err := json.Marshal(r.job)
		if err != nil {
			return nil, &apportion.FieldError{Item: r.job.item(), Field: "Utility", Err: ErrUnsavable, Detail: err.Error()}
		}
		saved.Jobs = append(saved.Jobs, savedJob{Number: r.number, Job: job, Schedule: r.schedule, Utility: r.utility})
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return nil, err
	}
	return s.ledger.seal(text)
}

// RestoreScheduler returns the scheduler that Snapshot made data of. cluster and bounds must be those of that scheduler; options may
// differ. Errors are those of NewScheduler, and an [*apportion.FieldError]: ErrCorrupt for bytes that are no undamaged
// snapshot, ErrUnknown for one of another version, ErrConflict for one of another cluster or other bounds.
func RestoreScheduler(cluster *Cluster, bounds *Bounds, options *SchedulerOptions, data []byte) (*Scheduler, error) {
	s, err := NewScheduler(cluster, bounds, options)
	if err != nil {
		return nil, err
	}
	text, err := s.ledger.unseal(data)
	if err != nil {
		return nil, err
	}
	var saved state
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, snapshotFault("state", ErrCorrupt, err.Error())
	}
	if err := s.load(&saved); err != nil {
		return nil, snapshotFault("state", ErrCorrupt, err.Error())
	}
	return s, nil
}

func snapshotFault(field string, sort error, detail string) error {
	return &apportion.FieldError{Item: apportion.Item{ID: "snapshot"}, Field: field, Err: sort, Detail: detail}
}

func (p *park) seal(text []byte) ([]byte, error) {
	return json.Marshal(envelope{snapshotVersion, p.fingerprint(), crc32.Checksum(text, castagnoli), text})
}

func (p *park) unseal(data []byte) ([]byte, error) {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, snapshotFault("envelope", ErrCorrupt, err.Error()+"; snapshots of versions before 4 cannot be read any more")
	}
	switch {
	case e.Version != snapshotVersion:
		return nil, snapshotFault("version", apportion.ErrUnknown, strconv.Itoa(e.Version))
	case crc32.Checksum(e.State, castagnoli) != e.Sum:
		return nil, snapshotFault("sum", ErrCorrupt, "")
	case e.Cluster != p.fingerprint():
		return nil, snapshotFault("cluster", apportion.ErrConflict, "it was made with another cluster or other bounds")
	}
	return e.State, nil
}

// fingerprint returns a hash of the cluster and the bounds. Eta takes no part in prices, and none here.
func (p *park) fingerprint() string {
	bounds := *p.bounds
	bounds.EtaWorker, bounds.EtaPS = 0, 0
	text, err := json.Marshal([]any{p.cluster, bounds})
	if err != nil {
		panic(err) // both are valid, and their numbers thus finite
	}
	h := fnv.New64a()
	h.Write(text)
	return strconv.FormatUint(h.Sum64(), 16)
}

// load fills an empty scheduler. After an error it is of no use.
func (s *Scheduler) load(saved *state) error {
	if min(saved.First, saved.Arrival) < 1 || max(saved.First, saved.Arrival) > maxSlot || saved.Next > uint64(maxCount) {
		return fmt.Errorf("first %d, arrival %d, next %d", saved.First, saved.Arrival, saved.Next)
	}
	s.ledger.first, s.arrival, s.next = saved.First, saved.Arrival, saved.Next
	if err := s.ledger.loadOutages(saved.Down); err != nil {
		return err
	}
	for i := range saved.Jobs {
		if err := s.loadJob(&saved.Jobs[i], i > 0 && saved.Jobs[i].Number <= saved.Jobs[i-1].Number); err != nil {
			return fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	return nil
}

// loadJob adds a running job and takes what it has reserved.
func (s *Scheduler) loadJob(saved *savedJob, early bool) error {
	r := &running{number: saved.Number, schedule: saved.Schedule, utility: saved.Utility}
	if err := json.Unmarshal(saved.Job, &r.job); err != nil {
		return err
	}
	if early || r.number >= s.next || !s.sound(r) {
		return errors.New("its number, job or schedule cannot be")
	}
	s.jobs[r.job.ID] = r
	return s.ledger.Commit(&r.job, r.schedule[r.schedule.before(s.First()):])
}

// sound reports whether a job that was read is valid, new, and has a schedule it could have.
func (s *Scheduler) sound(r *running) bool {
	// A job without a schedule would never end; Advance drops each that has ended.
	if r.job.Validate(s.ledger.cluster.Kinds) != nil || s.jobs[r.job.ID] != nil || len(r.schedule) == 0 || r.utility < 0 {
		return false
	}
	if s.ledger.checkForm(&r.job, r.schedule) != nil || r.schedule.completion() < s.First() || r.schedule[0].Slot < r.job.Arrival {
		return false
	}
	// Capacities know nothing of N_i: a schedule that breaks (3) would commit.
	return !slices.ContainsFunc(r.schedule, func(plan SlotPlan) bool {
		left := r.job.Chunks
		for _, p := range plan.Workers {
			if left -= p.Count; left < 0 { // and not their sum, which may overflow
				return true
			}
		}
		return false
	})
}

// outages returns which machines are down, by slot; nil where all are up.
func (l *Ledger) outages() [][]int {
	var out [][]int
	for i := range l.slots {
		for machine, down := range l.slots[i].down {
			if !down {
				continue
			}
			if out == nil {
				out = make([][]int, len(l.slots))
			}
			out[i] = append(out[i], machine)
		}
	}
	return out
}

// loadOutages marks machines as down. Equal slots behind each other share a table, as they do in setDown.
func (l *Ledger) loadOutages(outages [][]int) error {
	if n := len(outages); n != 0 && n != len(l.slots) {
		return fmt.Errorf("%d lists of servers that are down for %d slots", n, len(l.slots))
	}
	for i, machines := range outages {
		if i > 0 && slices.Equal(machines, outages[i-1]) {
			l.slots[i].down = l.slots[i-1].down
			continue
		}
		down := make([]bool, l.machines)
		for k, machine := range machines {
			if machine < 0 || machine >= l.machines || k > 0 && machine <= machines[k-1] {
				return fmt.Errorf("down[%d][%d]: there is no machine %d, or it is out of order", i, k, machine)
			}
			down[machine] = true
		}
		l.slots[i].down = down
	}
	return nil
}
