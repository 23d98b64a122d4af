// This file implements the book: what an agent must remember when it is killed.

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/vfs"
)

// bookFile is where the book is kept.
const bookFile = "book.json"

// book is what the agent has been told: see the promises at [checkpoint.Effect].
type book struct {
	// Epoch is the highest of a master that was obeyed.
	Epoch int64            `json:"epoch"`
	Jobs  map[string]*page `json:"jobs"`

	disk vfs.FS
}

// page is what is known of one job.
type page struct {
	// Created and Stopped are the highest attempts that a Create and a Stop named.
	Created int64 `json:"created"`
	Stopped int64 `json:"stopped"`
	// Lapsed is the highest attempt that the agent ended itself, as it had not heard of a master. The
	// master may not know yet: such an attempt has failed, it is not fenced off by a newer one.
	Lapsed int64 `json:"lapsed,omitempty"`
	// Containers is how many containers the job has here.
	Containers int `json:"containers"`
	// Work is what the newest attempt runs, and Run where; nil before it was resumed.
	Work *Work       `json:"work,omitempty"`
	Run  *runner.Run `json:"run,omitempty"`
}

// openBook reads the book, or begins one.
func openBook(disk vfs.FS) (*book, error) {
	b := &book{Jobs: map[string]*page{}, disk: disk}
	file, err := disk.Open(bookFile)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%s: %w", bookFile, err)
	}
	return b, nil
}

// page returns the page of a job.
func (b *book) page(job string) *page {
	p, ok := b.Jobs[job]
	if !ok {
		p = &page{}
		b.Jobs[job] = p
	}
	return p
}

// write makes the book durable. The agent does nothing before.
func (b *book) write() error {
	const temporary = bookFile + ".new"
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := b.disk.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := b.disk.Create(temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := b.disk.Rename(temporary, bookFile); err != nil {
		return err
	}
	return b.disk.SyncDir(".")
}

// admit decides whether an effect may be done, and notes what it says. ErrFenced: no.
func (b *book) admit(e *checkpoint.Effect, here string) error {
	if e.Epoch < b.Epoch {
		return fmt.Errorf("master %d, there is one of number %d: %w", e.Epoch, b.Epoch, checkpoint.ErrFenced)
	}
	b.Epoch = e.Epoch
	p := b.page(e.Job)
	switch e.Action {
	case checkpoint.Stop:
		p.Stopped = max(p.Stopped, e.Attempt)
	case checkpoint.Release:
		if e.Attempt >= p.Created {
			p.Containers = min(p.Containers, containersOn(e.Containers, here))
		}
	default:
		if e.Attempt < p.Created || e.Attempt <= p.Stopped {
			return fmt.Errorf("attempt %d of job %q, %d was created and %d stopped: %w", e.Attempt, e.Job, p.Created, p.Stopped, checkpoint.ErrFenced)
		}
		if e.Attempt <= p.Lapsed {
			return fmt.Errorf("attempt %d of job %q was ended, as no master was heard", e.Attempt, e.Job)
		}
		if e.Action != checkpoint.Create && e.Attempt > p.Created {
			return fmt.Errorf("attempt %d of job %q was not created here", e.Attempt, e.Job)
		}
		p.Created, p.Containers = e.Attempt, containersOn(e.Containers, here)
	}
	return b.write()
}

// live reports whether processes of the newest attempt may run here.
func (p *page) live() bool { return p.Run != nil && p.Run.Attempt > max(p.Stopped, p.Lapsed) }

// containersOn counts the containers on a server.
func containersOn(containers []string, server string) int {
	n := 0
	for _, s := range containers {
		if s == server {
			n++
		}
	}
	return n
}
