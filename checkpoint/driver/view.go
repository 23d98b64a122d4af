// This file implements the view: what is durable of the machine's state, for those who look at it while the
// machine goes on.

package driver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
)

// State is what a driver knows. It is the caller's own.
type State struct {
	// Servers are those that are there, ascending by ID; Cordoned are those on which nothing more may be placed.
	Servers []apportion.Server `json:"servers"`
	// Silent are those of them that do not answer, ascending: nothing is started there, and what runs there may run on.
	Silent []string `json:"silent"`
	// Draining are those of them that no target may name, ascending.
	Draining []string `json:"draining"`
	// Cordons say in words why servers are cordoned, by ID.
	Cordons map[string]string `json:"cordons"`
	// Jobs are all that were not forgotten, ascending by name.
	Jobs []checkpoint.Job `json:"jobs"`
	// Progress is the newest that the processes of jobs have told, by name.
	Progress map[string]runner.Progress `json:"progress"`

	// changed is the channel of the view at the moment when this State was read under its lock, so
	// that no change between reading and waiting is missed.
	changed <-chan struct{}
}

// JobState is a job and its progress.
type JobState struct {
	Job      checkpoint.Job  `json:"job"`
	Progress runner.Progress `json:"progress"`
}

// Changed returns a channel that is closed when the driver knows more than this State says.
func (s *State) Changed() <-chan struct{} { return s.changed }

// Job returns the state of a job, and whether there is one.
// The search is binary, because Jobs ascend by name: O(log jobs).
func (s *State) Job(name string) (JobState, bool) {
	at, found := slices.BinarySearchFunc(s.Jobs, name, func(j checkpoint.Job, name string) int { return cmp.Compare(j.Name, name) })
	if !found {
		return JobState{}, false
	}
	return JobState{s.Jobs[at], s.Progress[name]}, true
}

// view is the fold of all durable records. The jobs in it are never changed, only replaced, so that a reader needs
// the lock only to find one. It exists because the machine belongs to the loop, and because nobody may act on
// what is not durable yet.
type view struct {
	// mu guards every map and the channel, not the jobs that the maps point to. Writers are the loop
	// and, for progress, the goroutines that watch agents.
	mu       sync.RWMutex
	servers  map[string]checkpoint.Host
	jobs     map[string]*checkpoint.Job
	progress map[string]runner.Progress
	// moved is when a job was last seen to get on.
	moved map[string]moved
	// on are the jobs, by server, of which processes are known to run there.
	on map[string]map[string]bool
	// changed is closed and replaced at every change: a channel wakes any number of readers, and one
	// that is slow misses no change, since it compares states and not events.
	changed chan struct{}
}

// moved is what a job that runs has told last, and when that was news.
type moved struct {
	attempt, step int64
	saved         int64 // the number of its newest checkpoint
	at            time.Time
	// slowest is the longest time from one news to the next, of all attempts; 0: it has told nothing yet.
	slowest time.Duration
}

// settled are the phases in which all processes of the newest attempt have been seen running.
var settled = []checkpoint.Phase{checkpoint.Running, checkpoint.Saving, checkpoint.Verifying}

// open begins with the machine's snapshot, because all that the journal has kept is durable. No lock
// is needed: New has returned to nobody yet.
func (v *view) open(m *checkpoint.Machine) {
	v.servers, v.jobs = map[string]checkpoint.Host{}, map[string]*checkpoint.Job{}
	v.progress, v.on, v.changed = map[string]runner.Progress{}, map[string]map[string]bool{}, make(chan struct{})
	v.moved = map[string]moved{}
	v.apply(m.Snapshot())
}

func (v *view) apply(r checkpoint.Record) {
	// A turn without a change must not wake anybody: ticks come ten times a second.
	if r.Empty() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// A job that was forgotten takes its progress along; a later job of the same name begins with
	// none.
	for _, name := range r.Gone {
		v.replace(name, nil)
		delete(v.progress, name)
		delete(v.moved, name)
	}
	for i := range r.Jobs {
		v.replace(r.Jobs[i].Name, &r.Jobs[i])
	}
	// Lost goes before Servers, as in the machine's own fold, so that what is there at the end is what counts.
	for _, id := range r.Lost {
		delete(v.servers, id)
	}
	for _, s := range r.Servers {
		v.servers[s.ID] = s
	}
	v.tell()
}

// tell wakes up those who wait for a change.
func (v *view) tell() {
	// v.mu is held: otherwise two changes at once would close the same channel.
	close(v.changed)
	v.changed = make(chan struct{})
}

// replace puts a job in the place of the one before; nil: none.
func (v *view) replace(name string, j *checkpoint.Job) {
	// The index forgets the job under the servers that it had, which may be others than those it has
	// now.
	if old := v.jobs[name]; old != nil {
		for _, server := range old.Containers {
			delete(v.on[server], name)
		}
	}
	if j == nil {
		delete(v.jobs, name)
		return
	}
	v.jobs[name] = j
	// A job that is being created or resumed must not be expected: its agent would be told that
	// processes are missing which have yet to be started, and the attempt would count as failed.
	if !slices.Contains(settled, j.Phase) {
		return
	}
	for _, server := range j.Containers {
		if v.on[server] == nil {
			v.on[server] = map[string]bool{}
		}
		v.on[server][name] = true
	}
}

// hosted returns the jobs that an agent must know of, ascending by name. An index by server answers, since each
// server is asked ten times a second. O(jobs of the server).
func (v *view) hosted(server string) []*checkpoint.Job {
	v.mu.RLock()
	defer v.mu.RUnlock()
	jobs := make([]*checkpoint.Job, 0, len(v.on[server]))
	for _, name := range slices.Sorted(maps.Keys(v.on[server])) {
		jobs = append(jobs, v.jobs[name])
	}
	return jobs
}

// job returns a job; nil: there is none. Read it only.
// Nobody changes a job that the view holds, so the caller may go on reading it without the lock.
func (v *view) job(name string) *checkpoint.Job {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.jobs[name]
}

// in returns the names of the jobs in a phase, ascending.
// O(jobs log jobs); the order makes saves come in the same order in every run.
func (v *view) in(phase checkpoint.Phase) []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var names []string
	for name, j := range v.jobs {
		if j.Phase == phase {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stalled returns the events of running jobs that have told no new step for so long, ascending by name. A job that does
// not run, or has just begun to, is counted from now on: to create and resume take what they take. So is one whose checkpoint is read
// back, or confirmed: it has answered. During the first try of a save it is not stalled, since it may stop to write; the time of a try that failed counts like
// any other, or a job that hangs would never be stalled where it is saved often. One that tells no steps at
// all is never stalled, and one that tells them rarely is given three times what it has taken before. O(jobs log jobs).
func (v *view) stalled(now time.Time, limit time.Duration) []checkpoint.Event {
	v.mu.Lock()
	defer v.mu.Unlock()
	var news []checkpoint.Event
	for _, name := range slices.Sorted(maps.Keys(v.jobs)) {
		j, last := v.jobs[name], v.moved[name]
		next := moved{j.Attempt, v.progress[name].Step, j.Newest().Number, now, last.slowest}
		switch limit := max(limit, 3*last.slowest); {
		case last.attempt != j.Attempt, !slices.Contains(settled, j.Phase), j.Phase == checkpoint.Verifying, last.saved != next.saved:
			v.moved[name] = next
		case last.step != next.step:
			if j.Phase == checkpoint.Running {
				next.slowest = max(last.slowest, now.Sub(last.at))
			}
			v.moved[name] = next
		case (j.Phase == checkpoint.Running || j.Phase == checkpoint.Saving && j.Tries > 0) && last.slowest > 0 && now.Sub(last.at) > limit:
			news = append(news, checkpoint.Stalled{Job: name, Attempt: j.Attempt, Detail: fmt.Sprintf("step %d for %v", next.step, limit.Round(time.Second/10))})
		}
	}
	return news
}

func (v *view) learn(job string, p runner.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	// An answer of an agent may come after the job was forgotten: its progress would stay for ever.
	// Ten answers a second say the same of most jobs, and nobody is woken by those.
	if v.jobs[job] != nil && v.progress[job] != p {
		v.progress[job] = p
		v.tell()
	}
}
