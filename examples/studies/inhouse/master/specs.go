// This file keeps the specifications of jobs: what was submitted, one file a job.

package master

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/bridge"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/examples/studies/inhouse/wire"
)

// Submission is what a user submits: an application, and what only some deciders ask for, for instance a
// deadline, in words that they understand.
type Submission struct {
	alloc.Application
	Policy json.RawMessage `json:"policy,omitempty"`
}

// UnmarshalJSON reads both from one object. The application's own method would leave out the policy.
func (s *Submission) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &s.Application); err != nil {
		return err
	}
	var rest struct {
		Policy json.RawMessage `json:"policy"`
	}
	err := json.Unmarshal(text, &rest)
	s.Policy = rest.Policy
	return err
}

// spec is a file.
// The order is kept, since a folder has none.
type spec struct {
	// Order numbers the submissions.
	Order int `json:"order"`
	// Ended says that the job has ended: when the protocol has forgotten it, nothing of it stays.
	Ended       bool       `json:"ended,omitempty"`
	Application Submission `json:"application"`
}

func (s *Submission) event() checkpoint.Event {
	submit, _ := bridge.Submit(&s.Application) // its numbers were checked when it was submitted
	return submit
}

// specs are the specifications of all jobs, in the order of submission. They are safe for concurrent use.
type specs struct {
	dir string

	mu   sync.Mutex
	apps []spec // replaced, and never changed, but by appending
}

// Files that are not .json are the rest of a write that was cut off.
func openSpecs(dir string) (*specs, error) {
	// No pattern: the folder may be called anything.
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []spec
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if filepath.Ext(name) != ".json" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s spec
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, s)
	}
	slices.SortFunc(found, func(a, b spec) int { return cmp.Compare(a.Order, b.Order) })
	return &specs{dir: dir, apps: found}, nil
}

// all returns the specifications. Read them only.
func (s *specs) all() []spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.apps)
}

// add makes a specification durable, unless its job has one.
func (s *specs) add(app Submission) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.apps, func(known spec) bool { return known.Application.ID == app.ID }) {
		return fmt.Errorf("job %q %w", app.ID, apportion.ErrDuplicate)
	}
	// Numbers begin at 1, and are used again only if the newest of all jobs was forgotten.
	added := spec{Order: 1, Application: app}
	if n := len(s.apps); n > 0 {
		added.Order = s.apps[n-1].Order + 1
	}
	if err := s.write(&added); err != nil {
		return err
	}
	s.apps = append(s.apps, added)
	return nil
}

func (s *specs) name(job string) string {
	return filepath.Join(s.dir, string(store.FolderOf(job))+".json")
}

func (s *specs) write(one *spec) error {
	data, err := json.MarshalIndent(one, "", "\t")
	if err != nil {
		return err
	}
	return vfs.WriteFile(s.name(one.Application.ID), data)
}

// settle notes which jobs have ended, and drops those that are forgotten since. What has ended is on the disk long before it is
// forgotten, so that no master begins it again.
func (s *specs) settle(now *driver.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []spec
	for _, one := range s.apps {
		j, known := now.Job(one.Application.ID)
		switch {
		case known && j.Job.Ending != "" && !one.Ended:
			one.Ended = true
			if err := s.write(&one); err != nil {
				return err
			}
		case !known && one.Ended:
			if err := os.Remove(s.name(one.Application.ID)); err != nil {
				return err
			}
			continue
		}
		left = append(left, one)
	}
	s.apps = left
	return nil
}

// find is what was submitted as a job; nil: nothing was.
func (s *specs) find(job string) *Submission {
	for _, spec := range s.all() {
		if app := &spec.Application; app.ID == job {
			return app
		}
	}
	return nil
}

// queueOf is the queue that a job was submitted to.
func (s *specs) queueOf(job string) string {
	if app := s.find(job); app != nil {
		return app.Queue
	}
	return ""
}

// work is what a job runs.
// nil: nobody has submitted it.
func (s *specs) work(job string) json.RawMessage {
	if app := s.find(job); app != nil {
		return wire.Work{Executor: app.Executor, Start: app.Start, Resume: app.Resume}.Spec()
	}
	return nil
}
