// This file keeps the specifications of jobs: what was submitted, one file a job.

package master

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/studies/inhouse/agent"
)

// Submission is what a user submits: an application, and what only some deciders ask for, for instance a
// deadline, in words that they understand.
type Submission struct {
	alloc.Application
	Policy json.RawMessage `json:"policy,omitempty"`
}

// spec is a file.
type spec struct {
	// Order numbers the submissions.
	Order       int        `json:"order"`
	Application Submission `json:"application"`
}

// specs are the specifications of all jobs, in the order of submission.
type specs struct {
	dir  string
	apps []Submission
}

func openSpecs(dir string) (*specs, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var found []spec
	for _, name := range names {
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
	s := &specs{dir: dir}
	for _, f := range found {
		s.apps = append(s.apps, f.Application)
	}
	return s, nil
}

// add makes a specification durable.
func (s *specs) add(app Submission) error {
	data, err := json.MarshalIndent(spec{len(s.apps), app}, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, app.ID+".json")
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return err
	}
	s.apps = append(s.apps, app)
	return nil
}

// find returns the specification of a job.
func (s *specs) find(job string) (Submission, bool) {
	for _, app := range s.apps {
		if app.ID == job {
			return app, true
		}
	}
	return Submission{}, false
}

// work is what a job runs.
func (s *specs) work(job string) agent.Work {
	app, _ := s.find(job)
	return agent.Work{Job: job, Executor: app.Executor, Start: app.Start, Resume: app.Resume}
}
