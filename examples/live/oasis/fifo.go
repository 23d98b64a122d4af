// This file implements FIFO on real processes: fixed numbers of workers in order of arrival, [OASiS] §5.

package oasis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// FIFO is a [master.Decider]. The first job that waits starts as soon as all its workers and parameter
// servers fit, and keeps them to its end; later ones wait for it.
type FIFO struct {
	config Config
	book   *Book
}

// NewFIFO goes on from the book if there is one. It asks for no Bounds.
// The book is its only state.
func NewFIFO(config Config) (*FIFO, error) {
	book, err := OpenBook(config.Book)
	return &FIFO{config, book}, err
}

// Decide implements [master.Decider].
func (f *FIFO) Decide(_ context.Context, s *master.State) (*master.Verdict, error) {
	slot, next := f.book.begin(f.config.now(), f.config.Slot, len(s.Jobs))
	if slot > f.book.Slot {
		if err := f.plan(slot, s); err != nil {
			return nil, err
		}
	}
	return f.book.verdict(s, next, fmt.Sprintf("slot %d: first come, first served\n", f.book.Slot)), nil
}

// plan starts jobs in the order of their arrivals while they fit.
// Room is counted anew from the book each time.
func (f *FIFO) plan(slot int, s *master.State) error {
	workers, err := harness.RoomOf(s.Kinds, f.config.Cluster.WorkerServers)
	if err != nil {
		return err
	}
	servers, err := harness.RoomOf(s.Kinds, f.config.Cluster.PSServers)
	if err != nil {
		return err
	}
	for i := range s.Jobs {
		id := s.Jobs[i].Application.ID
		if f.book.Jobs[id] == nil {
			f.book.Jobs[id] = &Entry{Arrival: slot}
		}
		for _, room := range []*harness.Room{workers, servers} {
			if err := room.Take(f.book.Jobs[id].Containers, s.Jobs[i].Application.Demand); err != nil {
				return err
			}
		}
	}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		entry := f.book.Jobs[job.Application.ID]
		if len(entry.Containers) > 0 {
			continue
		}
		terms, err := read(job.Application.ID, job.Policy)
		if err != nil {
			return err
		}
		entry.Offers++
		if entry.Containers, err = place(workers, servers, terms, job.Application.Demand); err != nil {
			return err
		}
		if entry.Containers == nil {
			break
		}
	}
	f.book.Slot = slot
	return f.book.write()
}

// place takes room for a job's workers and parameter servers, or returns nil and takes none.
func place(workers, servers *harness.Room, terms *Terms, demand apportion.Resources) ([]string, error) {
	job := terms.Job("", demand, 1, 0)
	onWorkers := workers.RoundRobin(demand, terms.Fixed)
	onServers := servers.RoundRobin(demand, job.PSFor(terms.Fixed))
	if onWorkers == nil || onServers == nil {
		return nil, errors.Join(workers.Release(onWorkers, demand), servers.Release(onServers, demand))
	}
	all := append(workers.Names(onWorkers), servers.Names(onServers)...)
	slices.Sort(all)
	return all, nil
}

// sortedJobs returns the names in a book, ascending.
func sortedJobs(b *Book) []string { return slices.Sorted(maps.Keys(b.Jobs)) }
