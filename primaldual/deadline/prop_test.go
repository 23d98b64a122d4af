// This file tests the scheduler against all schedules and against what it promises.

package deadline

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
)

// The test holds exactly when some schedule of whole workers ends all jobs in time.
func TestDemandAgainstAllSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Int64Range(1, 4).Draw(t, "capacity")
		d, all := newDemand(capacity, 4), []oasisoracle.Timed{}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := oasisoracle.Timed{
				Left: rapid.Int64Range(1, 6).Draw(t, "left"), Unit: 1,
				Width: rapid.Int64Range(1, capacity).Draw(t, "width"), By: rapid.IntRange(1, 4).Draw(t, "by"),
			}
			want := oasisoracle.InTime(append(slices.Clone(all), j), capacity)
			must.Equal(t, d.take(j.Left, j.Width, j.By), want, j, "beside", all, "with", capacity, "take")
			if want {
				all = append(all, j)
			}
		}
	})
}

// Workers of several sizes and kinds: what is planned as feasible out of the reserve is feasible in whole workers.
func TestReserveAgainstAllSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheduler(t, 1, OnAdmission)
		var all []oasisoracle.Timed
		for i := range rapid.IntRange(1, 3).Draw(t, "jobs") {
			job := drawJob(t, i, s.slot, 1)
			job.Work = min(job.Work, 4)
			if decision, err := s.Offer(job); err != nil {
				t.Fatal(err)
			} else if p := decision.Promise; p != nil {
				all = append(all, oasisoracle.Timed{Left: job.Work * job.Worker[0], Unit: job.Worker[0], Width: job.Width, By: s.from(p.By)})
			}
		}
		if !oasisoracle.InTime(all, s.pool.capacity) {
			t.Fatalf("%+v was promised on %d", all, s.pool.capacity)
		}
	})
}

func drawScheduler(t *rapid.T, kinds int, strength Strength) *Scheduler {
	var capacity apportion.Resources
	for range kinds {
		capacity = append(capacity, rapid.Int64Range(1, 12).Draw(t, "capacity"))
	}
	s, err := New(apportion.Kinds{"gpu", "cpu"}[:kinds], capacity, 1, &Options{Promise: strength, Stay: rapid.Bool().Draw(t, "stay")})
	must.Do(t, err)
	return s
}

func drawJob(t *rapid.T, i, slot, kinds int) Job {
	job := Job{
		ID: string(rune('a'+i%26)) + string(rune('a'+i/26)), Work: rapid.Int64Range(1, 12).Draw(t, "work"),
		Width: rapid.Int64Range(1, 4).Draw(t, "width"),
	}
	for range kinds {
		job.Worker = append(job.Worker, rapid.Int64Range(1, 3).Draw(t, "worker"))
	}
	value := 8.0
	for by := slot; len(job.Deadlines) < 3; {
		by += rapid.IntRange(1, 4).Draw(t, "by")
		job.Deadlines = append(job.Deadlines, Deadline{By: by - 1, Value: value})
		value /= 2
	}
	return job
}

// No capacity is exceeded in any kind, no job is wider than it may be, and without failures every promise is kept.
func TestPromisesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
		s := drawScheduler(t, kinds, rapid.SampledFrom([]Strength{Never, OnStart, OnAdmission}).Draw(t, "strength"))
		promised, jobs := make(map[string]Deadline), make(map[string]Job)
		note := func(id string, p *Deadline) {
			if p == nil {
				return
			}
			if old, ok := promised[id]; ok && old != *p {
				t.Fatalf("%s was promised %v and now %v", id, old, *p)
			}
			promised[id] = *p
		}
		for slot := 1; slot < 40; slot++ {
			for range rapid.IntRange(0, 2).Draw(t, "arrivals") * min(1, max(0, 12-slot)) {
				job := drawJob(t, len(jobs), slot, kinds)
				decision := must.Have(s.Offer(job))(t)
				jobs[job.ID] = job
				note(job.ID, decision.Promise)
			}
			s = again(t, s)
			used := make(apportion.Resources, kinds)
			for _, share := range s.Run() {
				job := jobs[share.ID]
				if share.Workers > job.Width {
					t.Fatalf("%s has %d workers of %d", share.ID, share.Workers, job.Width)
				}
				for r := range used {
					used[r] += share.Workers * job.Worker[r]
				}
				note(share.ID, share.Promise)
			}
			if !used.FitsIn(s.pool.of) {
				t.Fatalf("slot %d takes %v of %v", slot, used, s.pool.of)
			}
			outcome, err := s.Advance(nil)
			if err != nil || len(outcome.Broken) > 0 {
				t.Fatalf("slot %d: %+v, %v", slot, outcome, err)
			}
			for _, f := range outcome.Finished {
				if p, ok := promised[f.ID]; ok && (f.Slot > p.By || f.Value < p.Value) {
					t.Fatalf("%+v, promised %+v", f, p)
				}
				delete(promised, f.ID)
			}
		}
		if len(promised) > 0 {
			t.Fatalf("promised and not done: %v", promised)
		}
	})
}

// again returns the scheduler as its snapshot has it, and compares what both decide.
func again(t *rapid.T, s *Scheduler) *Scheduler {
	text := must.Have(s.Snapshot())(t)
	restored := must.Have(Restore(text))(t)
	other := must.Have(Restore(text))(t)
	if a, b := s.Run(), other.Run(); !reflect.DeepEqual(a, b) {
		t.Fatalf("%v, restored %v", a, b)
	}
	return restored
}

// A failure names each promise that is broken; what is left can be kept, and is.
func TestFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheduler(t, 1, OnAdmission)
		promised := make(map[string]bool)
		for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			decision := must.Have(s.Offer(drawJob(t, i, 1, 1)))(t)
			if id := string(rune('a'+i)) + "a"; decision.Promise != nil {
				promised[id] = true
			}
		}
		broken, err := s.SetCapacity(apportion.Resources{rapid.Int64Range(0, s.pool.capacity).Draw(t, "left")})
		must.Do(t, err)
		for _, b := range broken {
			if !promised[b.ID] {
				t.Fatalf("%v had no promise", b)
			}
			delete(promised, b.ID)
		}
		for range 20 {
			s.Run()
			outcome, err := s.Advance(nil)
			if err != nil || len(outcome.Broken) > 0 {
				t.Fatalf("%+v, %v", outcome, err)
			}
			for _, f := range outcome.Finished {
				delete(promised, f.ID)
			}
		}
		if len(promised) > 0 {
			t.Fatalf("neither broken nor done: %v", promised)
		}
	})
}
