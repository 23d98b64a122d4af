// This file tests a month by hand: what a job loses that is taken back, what is due, and which month is the busiest.

package main

import (
	"fmt"
	"math"
	"testing"
)

// A job of 3 h on 2 GPUs that is taken back after 2.5 h has saved two of them: half an hour is lost and the last hour is left.
func TestTakeBack(t *testing.T) {
	jobs := []job{{id: "0", project: "a", user: "u", length: 3 * hour, gpus: 2}}
	s := begun(t, jobs, 4)
	if err := s.advance(2.5 * hour); err != nil {
		t.Fatal(err)
	}
	r := s.running[0]
	if got := s.unsaved(r); got != hour/2 {
		t.Errorf("%v s are not saved, want half an hour", got)
	}
	s.takeBack(r)
	if s.out.taken != 1 || s.out.lost != 1 || s.out.reclaimed != 1 || len(s.running) != 0 || r.left != hour {
		t.Errorf("%+v, left %v h, running %v", s.out, r.left/hour, s.running)
	}
	// It is first in its queue again, starts again, and has waited for its first start alone.
	if err := s.start(); err != nil || len(s.running) != 1 || s.running[0] != r || len(s.out.waiting) != 1 {
		t.Errorf("%v: running %v, waited %v", err, s.running, s.out.waiting)
	}
	if err := s.advance(s.now + hour); err != nil || len(s.running) != 0 {
		t.Errorf("%v: %v still runs", err, s.running)
	}
}

// begun is a month under way with these jobs submitted and started at its beginning.
func begun(t *testing.T, jobs []job, gpus int64) *state {
	t.Helper()
	s, err := newState(jobs, gpus, policies[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if err := s.submit(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Two projects share 4 GPUs, 2 each. One runs on all of them while the other has nothing to do, and has borrowed 2; when the other
// submits, it is due 2, which it lacks for as long as it waits.
func TestMeasureBorrowedAndLoss(t *testing.T) {
	jobs := []job{{id: "0", project: "a", user: "u", length: 10 * hour, gpus: 4}, {id: "1", project: "b", user: "v", submit: hour, length: hour, gpus: 2}}
	s, err := newState(jobs, 4, policies[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := s.submit(jobs[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if err := s.advance(hour); err != nil {
		t.Fatal(err)
	}
	if s.out.borrowed != 2 || s.out.loss["a"] != 0 || s.out.loss["b"] != 0 {
		t.Errorf("after an hour alone: %+v", s.out)
	}
	if err := s.submit(jobs[1]); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil || len(s.running) != 1 {
		t.Fatalf("%v: %d run where there is room for one", err, len(s.running))
	}
	if err := s.advance(3 * hour); err != nil {
		t.Fatal(err)
	}
	if s.out.borrowed != 6 || s.out.loss["b"] != 4 || s.out.loss["a"] != 0 {
		t.Errorf("after two hours more: %+v", s.out)
	}
}

// Under the policy that takes back, the same project gets its due at once, and takes no more than that.
func TestMakeRoom(t *testing.T) {
	jobs := []job{{id: "0", project: "a", user: "u", length: 10 * hour, gpus: 2}, {id: "1", project: "a", user: "u", length: 10 * hour, gpus: 2}}
	s := begun(t, append(jobs, job{id: "2", project: "b", user: "v", submit: 1e9, length: hour, gpus: 2}), 4)
	if err := s.advance(0); err != nil {
		t.Fatal(err)
	}
	// Who runs now is drf's choice of clients; nobody has more than the four.
	held := map[string]int64{}
	for _, r := range s.running {
		held[r.project] += r.gpus
	}
	if held["b"] != 2 || held["a"] != 2 {
		t.Errorf("%v hold, want the guarantee of each", held)
	}
	// One that asks for more than its guarantee takes nothing from anybody.
	greedy := &run{job: job{id: "3", project: "b", gpus: 4}}
	if before := s.out.taken; s.makeRoom(greedy) || s.out.taken != before {
		t.Error("room was made beyond a guarantee")
	}
}

func TestGuarantees(t *testing.T) {
	queues := guarantees([]job{{project: "b"}, {project: "a"}, {project: "b"}, {project: "c"}}, 11)
	var got []string
	for _, q := range queues {
		got = append(got, fmt.Sprint(q.ID, q.Guarantee[0], q.Weight))
	}
	if fmt.Sprint(got) != "[a3 1 b3 1 c3 1]" {
		t.Errorf("%v, want 3 GPUs of 11 for each of three", got)
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
		if got != want {
			t.Errorf("from %v: %q, want %q", start, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		a, b float64
		want int
	}{{1, 2, -1}, {2, 1, 1}, {1, 1, 0}, {0, math.Copysign(0, -1), 0}, {math.Inf(-1), 0, -1}} {
		if got := compare(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: %d, want %d", test.a, test.b, got, test.want)
		}
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
