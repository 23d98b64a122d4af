//go:build unix

// This file plays days of a real trace: the same jobs with the numbers that their users asked for, as the cluster manager
// by itself runs them, and as elastic jobs.

package managertest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/managertest/day"
	"github.com/apportion/apportion/examples/managertest/processes"
)

// dayFolder is where records of whole days go.
var dayFolder = flag.String("day", "", "play a whole day of 20 jobs in some minutes, and write its record into this folder; empty: a short one, and no record")

// The policies of a day.
const (
	Fixed   = "fixed"
	Elastic = "elastic"
	// Gang is Fixed for a Player that lets a job begin only when all of its containers have room.
	Gang = "gang"
	// Preempt is Fixed for a Player whose jobs have priorities, of which the lower make room for the higher.
	Preempt = "preempt"
)

// Daily is a cluster manager on which a day is played.
type Daily struct {
	// Manager is its name, and Slots how many containers the cluster holds.
	Manager string
	Slots   int64
	// Policies are those of a whole day, in their order; nil: Fixed and Elastic. Short are those of a short one; nil: the same,
	// empty: there is none.
	Policies, Short []string
	// Bench starts a cluster and a controller.
	Bench func(t *testing.T) Player
}

// Player is a cluster on which a day is played.
type Player interface {
	// Controlled returns the bench of the controller.
	Controlled() *Bench
	// Verbs returns what can be done to the cluster.
	Verbs() *Cluster
	// Elastic submits an elastic job whose containers run a command line, and returns what they are told that it is called.
	Elastic(j *day.Job, argv []string) string
	// Fixed submits a job with its fixed containers, each of which runs a command line with these variables, beside its own
	// number, from 0, in APPORTION_RANK, and returns what Cancel calls it. The policy is Fixed, Gang or Preempt.
	Fixed(policy string, j *day.Job, argv []string, env map[string]string) string
	// Left is how many jobs have not ended.
	Left() int
}

// What a step of a day's job takes: a batch of samples, each of which takes a while without work.
// A step is 0.32 s of pretended work, so that a save or a resize costs steps as it would cost minutes of a
// real job.
const (
	batch = 64
	cost  = 5 * time.Millisecond
)

// steps is how many steps are as much work as a job has.
func steps(j *day.Job) int { return max(1, int(math.Round(j.Work/(batch*cost).Seconds()))) }

func (b *Bench) argv(j *day.Job) []string {
	return []string{b.Trainer, "train", "-steps", strconv.Itoa(steps(j)), "-cost", cost.String()}
}

// Day plays a day under each policy. Elastic jobs are asked whether anything ran twice or was lost.
// Without -day it is a test like others: three jobs in eight seconds, to see that every policy is still
// played to its end.
func (d Daily) Day(t *testing.T) {
	n, length, limit, policies := 20, 4*time.Minute, 30*time.Minute, d.Policies
	if *dayFolder == "" {
		n, length, limit = 3, 8*time.Second, 5*time.Minute
		if d.Short != nil {
			policies = d.Short
		}
	}
	if policies == nil {
		policies = []string{Fixed, Elastic}
	}
	file := Path(t, "examples", "studies", "dorm", "data", "ms_itp_cluster07.csv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range policies {
		t.Run(policy, func(t *testing.T) {
			jobs, err := day.Jobs(filepath.Base(file), text, n, d.Slots, length)
			if err != nil {
				t.Fatal(err)
			}
			r := &day.Record{Manager: d.Manager, Policy: policy, Slots: d.Slots, Jobs: jobs}
			play(d.Bench(t), r, limit)
			m, err := r.Measure()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %s: %+v", d.Manager, policy, m)
			if *dayFolder != "" {
				writeRecord(t, r)
			}
		})
	}
}

// play submits the jobs at their times, waits until all have ended, and reads the workers' logs.
// Arrivals are kept to within a tenth of a second. It fails the test when the jobs do not end within limit.
func play(p Player, r *day.Record, limit time.Duration) {
	b := p.Controlled()
	b.Helper()
	// A decision may be as unfair as the program's default, and move more jobs than that: jobs here are minutes long.
	b.Set("-theta1", "0.2", "-theta2", "0.5", "-lease", "15s")
	began := time.Now()
	called := b.arrive(p, r, began, func(*day.Job) bool { return r.Policy == Elastic })
	b.ended(p, limit, func() bool { return false })
	if r.Policy == Elastic {
		b.Check()
	}
	b.readLives(r, called, began)
}

// ended waits until every job has ended; meanwhile is called again and again, and says whether any is to come.
func (b *Bench) ended(p Player, limit time.Duration, meanwhile func() (more bool)) {
	b.Helper()
	processes.Eventually(b, "every job ends", limit, func() bool {
		b.Report()
		time.Sleep(200 * time.Millisecond)
		return !meanwhile() && p.Left() == 0
	})
}

// arrive submits the jobs at their times, and returns them by the names that their workers write into their logs.
func (b *Bench) arrive(p Player, r *day.Record, began time.Time, elastic func(*day.Job) bool) map[string]*day.Job {
	b.Helper()
	called := map[string]*day.Job{}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		for time.Since(began).Seconds() < j.At {
			// What is confirmed meanwhile is known from these looks alone.
			b.Report()
			time.Sleep(100 * time.Millisecond)
		}
		if elastic(j) {
			called[p.Elastic(j, b.argv(j))] = j
			continue
		}
		called[j.Name] = j
		b.fixed(p, r.Policy, j)
	}
	return called
}

// fixed submits a job with its fixed containers, which has a folder by its name.
func (b *Bench) fixed(p Player, policy string, j *day.Job) {
	b.Helper()
	dir := filepath.Join(b.Shared, "runs", j.Name, "1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	b.plain[j.Name] = p.Fixed(policy, j, b.argv(j), map[string]string{command.EnvJob: j.Name, command.EnvAttempt: "1",
		command.EnvContainers: strconv.FormatInt(j.Fixed, 10), command.EnvCheckpointDir: dir})
}

// readLives reads from the workers' logs who worked when, and when each job was done.
// A life is one process of a worker, from its first line to its last: what lies before, its start, counts
// as not at work.
func (b *Bench) readLives(r *day.Record, called map[string]*day.Job, began time.Time) {
	b.Helper()
	lines, err := workerlog.ReadAll(os.DirFS(filepath.Join(b.Shared, "runs")))
	if err != nil {
		b.Fatal(err)
	}
	lives := map[string]*day.Life{}
	var order []*day.Life
	for i := range lines {
		l := &lines[i]
		j := called[l.Job]
		if j == nil {
			b.Errorf("a worker of job %q, which was not submitted", l.Job)
			continue
		}
		at := time.Unix(0, l.At).Sub(began).Seconds()
		life := lives[l.Job+" "+l.Life]
		if life == nil {
			life = &day.Life{Job: j.Name, From: at}
			lives[l.Job+" "+l.Life] = life
			order = append(order, life)
		}
		life.Until = at
		if l.Worker == workerlog.End && l.Rank == 0 {
			j.Ended = at
		}
	}
	for _, life := range order {
		r.Lives = append(r.Lives, *life)
	}
}

// writeRecord writes a record, with times in milliseconds.
func writeRecord(t *testing.T, r *day.Record) {
	t.Helper()
	round := func(x *float64) { *x = math.Round(*x*1000) / 1000 }
	for i := range r.Jobs {
		for _, x := range []*float64{&r.Jobs[i].At, &r.Jobs[i].Work, &r.Jobs[i].Ended} {
			round(x)
		}
	}
	for i := range r.Lives {
		round(&r.Lives[i].From)
		round(&r.Lives[i].Until)
	}
	text, err := json.Marshal(r)
	if err == nil {
		lines := strings.ReplaceAll(string(text), "},{", "},\n{") + "\n"
		err = os.WriteFile(filepath.Join(*dayFolder, fmt.Sprintf("%s-%s.json", r.Manager, r.Policy)), []byte(lines), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
