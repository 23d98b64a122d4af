// This file implements what an agent throws away: pages of jobs that nobody knows any more, and copies of checkpoints that no
// process needs any more.

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
)

// maxEnded bounds what one answer tells of jobs that have ended here: the others come with the next ones.
const maxEnded = 100

// Ended is a job of which nothing lives on a server, and its newest attempt there.
type Ended struct {
	Job     string `json:"job"`
	Attempt int64  `json:"attempt"`
}

func (m *Marks) newest() int64 { return max(m.Created, m.Resumed, m.Stopped, m.Lapsed) }

// over reports whether nothing of a page lives, or is on its way to life.
func (p *Page) over() bool { return max(p.Stopped, p.Lapsed) == p.newest() }

// drop forgets a job whose newest attempt is this one and over. Attempts up to the highest that was dropped are impossible
// from then on for a job without a page, so that nothing that comes late begins a job that is forgotten. Attempts that
// another job begins are above it, or are begun again under a higher number. What that changes is durable with the next
// Flush; until then the page may come back, which does no harm.
func (b *Book) drop(e Ended) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	page, known := b.known.Jobs[e.Job]
	if !known || !page.over() || page.newest() != e.Attempt {
		return false
	}
	delete(b.known.Jobs, e.Job)
	b.known.Floor = max(b.known.Floor, e.Attempt)
	b.version++
	return true
}

// forget drops jobs that the master does not know any more, with all copies of their checkpoints, and the folder that their
// attempts shared if Config.Discard says so.
func (a *Agent) forget(jobs []Ended) {
	for _, e := range jobs {
		if !a.book.drop(e) {
			continue
		}
		a.mu.Lock()
		made, ok := a.runners[e.Job]
		delete(a.runners, e.Job)
		delete(a.ended, e.Job)
		delete(a.unknown, e.Job)
		a.mu.Unlock()
		if ok {
			a.discarded(e.Job, made.close())
		}
		folder := string(store.FolderOf(e.Job))
		go a.discard(e.Job, filepath.Join(a.config.Restored, folder))
		if a.config.Discard {
			go a.discard(e.Job, filepath.Join(a.config.Shared, folder))
		}
	}
}

func (a *Agent) discard(job, folder string) { a.discarded(job, os.RemoveAll(folder)) }

// discarded tells of what could not be thrown away.
func (a *Agent) discarded(job string, err error) {
	if err != nil {
		a.config.Report(fmt.Errorf("agent: job %q is forgotten, and something of it stays: %w", job, err))
	}
}

// discardOlder removes the copies of checkpoints that attempts before this one have begun from. Their processes have ended:
// the attempt has been created. What cannot be removed only takes room, and is tried again with the next attempt.
func (a *Agent) discardOlder(ctx context.Context, folder string, attempt int64) {
	_, _ = abandon.Do(ctx, func(context.Context) (struct{}, error) {
		entries, err := os.ReadDir(folder)
		for _, entry := range entries {
			older, err := strconv.ParseInt(entry.Name(), 10, 64)
			// What is being fetched has no number: another server of the run may be at it, and what an interrupted fetch has left
			// the next one removes.
			if err == nil && older < attempt {
				_ = os.RemoveAll(filepath.Join(folder, entry.Name()))
			}
		}
		return struct{}{}, err
	})
}
