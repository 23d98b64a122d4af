// This file keeps what a policy must remember when its master is killed: when the slots began, and what
// was promised to whom.

package oasis

import (
	"math"
	"slices"
	"time"

	"github.com/apportion/apportion/examples/live/harness"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Book is the file of a policy.
// It is written whenever a slot was decided, and read by the next master.
type Book struct {
	// Start is when slot 1 began; Slot is the last one that was decided.
	Start time.Time `json:"start,omitzero"`
	Slot  int       `json:"slot"`
	// Jobs are those that were offered, by name.
	Jobs map[string]*Entry `json:"jobs"`
	// Scheduler is the state of OASiS.
	Scheduler []byte `json:"scheduler,omitempty"`

	path string
}

// Entry is a job in the book.
type Entry struct {
	// Arrival is the slot in which the job was first offered.
	Arrival int `json:"arrival"`
	// Offers is how often it was: more than once if it was not done when its schedule ended.
	Offers int `json:"offers"`
	// Refused says why the job will never run; empty: it will.
	Refused string `json:"refused,omitempty"`
	// Containers are the servers of its containers in this slot.
	Containers []string `json:"containers"`
}

// OpenBook reads a book; without a file it is empty.
func OpenBook(path string) (*Book, error) {
	b := &Book{Jobs: map[string]*Entry{}, path: path}
	return b, harness.ReadNotes(path, b)
}

// write makes the book outlive this process, whole or as it was.
func (b *Book) write() error { return harness.WriteNotes(b.path, b) }

// lead is how long after the first job the first slot begins, so that others which come with it are seen.
const lead = time.Second

// begin starts the clock once there is a job, and returns the slot that it is and when the next one begins.
// Slot 0 lasts until the first one begins.
// length must be positive.
func (b *Book) begin(now time.Time, length time.Duration, jobs int) (slot int, next time.Duration) {
	if b.Start.IsZero() {
		if jobs == 0 {
			return 0, 0
		}
		b.Start = now.Add(lead)
	}
	slot = b.SlotAt(now, length)
	return slot, b.Start.Add(time.Duration(slot) * length).Sub(now)
}

// SlotAt returns the slot of a time, at least 0.
func (b *Book) SlotAt(at time.Time, length time.Duration) int {
	return max(0, 1+int(math.Floor(at.Sub(b.Start).Seconds()/length.Seconds())))
}

// verdict is what the book says of this slot. Where a job could not be given what it was to have, it is
// asked for again.
// It is called many times in a slot, and changes nothing.
func (b *Book) verdict(s *master.State, next time.Duration, explanation string) *master.Verdict {
	v := &master.Verdict{Targets: map[string][]string{}, Waiting: map[string]string{}, Refused: map[string]string{}, Again: next, Explanation: explanation}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		entry, offered := b.Jobs[job.Application.ID]
		switch {
		case !offered:
			v.Waiting[job.Application.ID] = "It is offered when the next slot begins."
		case entry.Refused != "":
			v.Refused[job.Application.ID] = entry.Refused
		case !slices.Equal(job.Goal(), entry.Containers):
			v.Targets[job.Application.ID] = entry.Containers
		}
	}
	return v
}
