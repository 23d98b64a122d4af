// This file tests a month by hand: what a job loses that is taken back, what is due, and which month is the busiest.

package main

import (
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// A job of 3 h on 2 GPUs that began after an hour and is taken back after 2.5 h of work has saved two of them: half an hour is lost and the
// last hour is left.
func TestTakeBack(t *testing.T) {
	s := begun(t, []job{{id: "early", project: "a", user: "u", length: hour, gpus: 2}}, 2)
	must.Do(t, s.advance(hour))
	for _, id := range []string{"0", "1"} {
		must.Do(t, s.submit(job{id: id, project: "a", user: "u", submit: hour, length: 3 * hour, gpus: 2}))
	}
	if err := s.start(); err != nil || len(s.running) != 1 {
		t.Fatalf("%v: %d run", err, len(s.running))
	}
	must.Do(t, s.advance(3.5*hour))
	r := s.running[0]
	must.Equal(t, s.unsaved(r), hour/2, "s are not saved")
	s.takeBack(r)
	if s.out.taken != 1 || s.out.lost != 1 || s.out.reclaimed != 1 || len(s.running) != 0 || r.left != hour {
		t.Errorf("%+v, left %v h, running %v", s.out, r.left/hour, s.running)
	}
	if queue := s.queues[r.client]; len(queue) != 2 || queue[0] != r {
		t.Errorf("%d jobs wait, and it is not the first of them", len(queue))
	}
	// It starts again, and has waited for its first start alone.
	if err := s.start(); err != nil || len(s.running) != 1 || s.running[0] != r || len(s.out.waiting) != 2 {
		t.Errorf("%v: running %v, waited %v", err, s.running, s.out.waiting)
	}
	if err := s.advance(s.now + hour); err != nil || len(s.running) != 0 {
		t.Errorf("%v: %v still runs", err, s.running)
	}
}

// begun is a month under way with these jobs submitted and started at its beginning.
func begun(t *testing.T, jobs []job, gpus int64) *state {
	t.Helper()
	s := must.Have(newState(jobs, gpus, policies[2]))(t)
	for _, j := range jobs {
		must.Do(t, s.submit(j))
	}
	must.Do(t, s.start())
	return s
}

// Two projects share 4 GPUs, 2 each. One runs on all of them while the other has nothing to do, and has borrowed 2; when the other
// submits, it is due 2, which it lacks for as long as it waits.
func TestMeasureBorrowedAndLoss(t *testing.T) {
	jobs := []job{{id: "0", project: "a", user: "u", length: 10 * hour, gpus: 4}, {id: "1", project: "b", user: "v", submit: hour, length: hour, gpus: 2}}
	s := must.Have(newState(jobs, 4, policies[1]))(t)
	must.Do(t, s.submit(jobs[0]))
	must.Do(t, s.start())
	must.Do(t, s.advance(hour))
	if s.out.borrowed != 2 || s.out.loss["a"] != 0 || s.out.loss["b"] != 0 {
		t.Errorf("after an hour alone: %+v", s.out)
	}
	must.Do(t, s.submit(jobs[1]))
	if err := s.start(); err != nil || len(s.running) != 1 {
		t.Fatalf("%v: %d run where there is room for one", err, len(s.running))
	}
	must.Do(t, s.advance(3*hour))
	if s.out.borrowed != 6 || s.out.loss["b"] != 4 || s.out.loss["a"] != 0 {
		t.Errorf("after two hours more: %+v", s.out)
	}
}

// Three projects share 6 GPUs, 2 each; one runs on 4, one on 2, and the third lends its own. Whoever has its guarantee takes nothing back for
// more; the third takes back what it has lent, and that is all.
func TestMakeRoom(t *testing.T) {
	two := func(id, project string) job {
		return job{id: id, project: project, user: "u", length: 10 * hour, gpus: 2}
	}
	jobs := []job{two("0", "a"), two("1", "a"), two("2", "b")}
	s := must.Have(newState(append(jobs, two("3", "c")), 6, policies[2]))(t)
	for _, j := range jobs {
		must.Do(t, s.submit(j))
	}
	if err := s.start(); err != nil || len(s.running) != 3 {
		t.Fatalf("%v: %d run", err, len(s.running))
	}
	if s.makeRoom(&run{job: two("4", "b")}) || s.out.taken != 0 {
		t.Error("room was made beyond a guarantee")
	}
	big := &run{job: two("5", "c")}
	big.gpus = 4
	if s.makeRoom(big) || s.out.taken != 0 {
		t.Error("more was taken back than was lent")
	}
	if !s.makeRoom(&run{job: two("3", "c")}) || s.out.taken != 1 || len(s.running) != 2 {
		t.Errorf("%d were taken back, %d run", s.out.taken, len(s.running))
	}
	held := map[string]int64{}
	for _, r := range s.running {
		held[r.project] += r.gpus
	}
	if held["a"] != 2 || held["b"] != 2 {
		t.Errorf("%v hold, want 2 each", held)
	}
}

// The month is what begins within 30 days of its start, the first moment included and the last not.
func TestWindow(t *testing.T) {
	all := []job{{id: "0"}, {id: "1", submit: 10}, {id: "2", submit: month}, {id: "3", submit: month + 10}}
	for start, want := range map[float64]string{0: "01", 1: "12", 10: "12", 11: "23", month + 11: ""} {
		got := ""
		for _, j := range window(all, start) {
			got += j.id
		}
		must.Equal(t, got, want, "from", start)
	}
}

// What is made up is the same each time, ascends, and fits into the cluster.
func TestMadeUp(t *testing.T) {
	first, again := madeUp(4), madeUp(4)
	for i, j := range first {
		if j != again[i] || j.gpus < 1 || j.gpus > 4 || j.length <= 0 || i > 0 && j.submit < first[i-1].submit {
			t.Fatalf("%d: %+v, then %+v", i, j, again[i])
		}
	}
}
