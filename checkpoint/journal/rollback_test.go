// This file takes the end of a journal away in every way, and looks whether anybody notices.

package journal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

// life is a journal as it grows, and what a server has heard until then.
type life struct {
	data    []byte
	ends    []int
	heard   []checkpoint.Witness // by record: after the effects of it
	numbers map[int64]bool       // of all attempts
}

// live lets a job run, be saved and be moved again and again, until the journal has so many bytes.
func live(t *testing.T, bytes int64) life {
	t.Helper()
	mem := vfstest.NewMem()
	m, j := mustOpen(t, mem)
	l := life{ends: []int{int(j.Bytes())}, heard: make([]checkpoint.Witness, 1), numbers: map[int64]bool{}}
	events := []checkpoint.Event{server("s1"), server("s2"), checkpoint.Submit{Job: "a", Demand: apportion.Resources{1}}}
	servers := []string{"s1", "s2"}
	for n := 0; j.Bytes() < bytes; {
		if len(events) == 0 {
			events = append(events, checkpoint.Adjust{Targets: map[string][]string{"a": {servers[n%2]}}})
			n++
		}
		must.Do(t, m.Step(events[0]))
		events = events[1:]
		ready := m.Ready()
		must.Do(t, j.Append(ready.Record))
		heard := l.heard[len(l.heard)-1]
		for _, e := range ready.Effects {
			l.numbers[e.Attempt] = true
			if e.Action != checkpoint.Prune {
				heard = heard.Heard(e)
				events = append(events, checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: 1})
			}
		}
		if !ready.Record.Empty() {
			l.ends, l.heard = append(l.ends, int(j.Bytes())), append(l.heard, heard)
		}
	}
	l.data = must.Have(read(mem, name(1, valid)))(t)
	return l
}

// noticed opens what is left of the journal. It is damaged for all to see; or nothing was lost that a server has heard of; or
// the server's word ends the machine, now and after further masters, and no number is given out twice meanwhile.
func (l *life) noticed(t *testing.T, what string, at int, left []byte) {
	t.Helper()
	fsys := put(t, left)
	m, _, err := Open(fsys, oneKind())
	if errors.Is(err, checkpoint.ErrCorrupt) {
		return
	}
	must.Do(t, err, what, "at", at)
	kept := 0
	for kept < len(l.ends) && l.ends[kept] <= at {
		kept++
	}
	newest := l.heard[len(l.heard)-1]
	lost := kept > 0 && l.heard[kept-1] != newest
	// A server that comes late meets a master that has given out numbers of its own, or another one after it.
	for range 2 {
		must.Do(t, m.Step(checkpoint.Submit{Job: "b", Demand: apportion.Resources{1}}))
		_ = m.Step(checkpoint.Adjust{Targets: map[string][]string{"b": {"s1"}}}) // the server may be lost with the records
		if j, _ := m.Job("b"); l.numbers[j.Attempt] && j.Attempt != 0 {
			t.Fatalf("%s at %d: attempt %d is given out twice", what, at, j.Attempt)
		}
		up := checkpoint.ServerUp{Server: apportion.Server{ID: "s3", Capacity: apportion.Resources{1}}, Witness: newest}
		err := m.Step(up)
		must.Equal(t, lost, errors.Is(err, checkpoint.ErrBehind), what, "at", at, "a server that has heard of", newest, err)
		if again := m.Step(server("s9")); lost && !errors.Is(again, checkpoint.ErrBehind) {
			t.Fatalf("%s at %d: the machine goes on: %v", what, at, again)
		}
		if m, _, err = Open(fsys, oneKind()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRollback takes the end of a journal of 4 KiB away at every byte, fills it with zeros, and flips each.
func TestRollback(t *testing.T) {
	l := live(t, 4<<10)
	first := l.ends[0]
	places, step := 0, 1
	if testing.Short() {
		step = 7
	}
	for at := first; at < len(l.data); at += step {
		l.noticed(t, "cut", at, l.data[:at])
		l.noticed(t, "zeros", at, append(bytes.Clone(l.data[:at]), make([]byte, len(l.data)-at)...))
		flipped := bytes.Clone(l.data)
		flipped[at] ^= 0x10
		if _, _, err := Open(put(t, flipped), oneKind()); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Fatalf("flipped at %d: %v", at, err)
		}
		places++
	}
	// The header and the first snapshot were durable before the file had its name.
	for at := range first {
		if _, _, err := Open(put(t, l.data[:at]), oneKind()); !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	t.Logf("%d places, %d records", places, len(l.ends))
}

// TestOldCopy puts an old copy of a whole journal in its place, and none at all.
func TestOldCopy(t *testing.T) {
	l := live(t, 4<<10)
	newest := l.heard[len(l.heard)-1]
	up := checkpoint.ServerUp{Server: apportion.Server{ID: "s3", Capacity: apportion.Resources{1}}, Witness: newest}
	m, _ := mustOpen(t, put(t, l.data[:l.ends[4]]))
	if err := m.Step(up); !errors.Is(err, checkpoint.ErrBehind) || !strings.Contains(err.Error(), `server "s3"`) || !strings.Contains(err.Error(), newest.Journal) {
		t.Errorf("an old copy: %v", err)
	}
	// A server of another journal is refused, and the machine goes on.
	m, _ = mustOpen(t, vfstest.NewMem())
	must.Err(t, m.Step(up), apportion.ErrConflict, "an empty folder")
	must.Do(t, m.Step(server("s4")), "after that")
}
