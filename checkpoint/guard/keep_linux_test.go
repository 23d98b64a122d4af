// This file tests what a guard writes down while its run goes on, and what it reads of the trainer's.

package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/internal/must"
)

// quiet is a guard whose goroutines do not run.
func quiet(t *testing.T) *guard {
	dir := t.TempDir()
	c := Config{ID: ID{Job: "lr", Attempt: 5, Server: "s1"}, Epoch: 3, Request: filepath.Join(dir, "request"), Acknowledgement: filepath.Join(dir, "ack"), Record: filepath.Join(dir, "record")}
	return &guard{config: c, news: make(chan struct{}, 1), requested: make(chan struct{}, 1)}
}

// wasWoken reports whether somebody was woken, and takes the word.
func wasWoken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A save is under way from the moment when it was asked for until it, or a later one, is acknowledged.
func TestSaving(t *testing.T) {
	ack := func(request int64) *command.Acknowledgement { return &command.Acknowledgement{Request: request} }
	for _, c := range []struct {
		asked int64
		ack   *command.Acknowledgement
		want  bool
	}{{0, nil, false}, {0, ack(1), false}, {1, nil, true}, {2, ack(1), true}, {2, ack(2), false}, {2, ack(3), false}} {
		g := guard{asked: c.asked, state: State{Checkpoint: c.ack}}
		must.Equal(t, g.saving(), c.want, "save", c.asked, "acknowledged", c.ack)
	}
}

// An acknowledgement is news once. What is not there, half written, no file or not JSON changes nothing, and nobody waits for it.
func TestReadAcknowledgement(t *testing.T) {
	g := quiet(t)
	read := func(request int64, news bool) {
		t.Helper()
		g.readAcknowledgement(t.Context())
		got := int64(0)
		if g.state.Checkpoint != nil {
			got = g.state.Checkpoint.Request
		}
		if woken := wasWoken(g.news); got != request || woken != news {
			t.Errorf("save %d is acknowledged, and that is news: %t; want %d, %t", got, woken, request, news)
		}
	}
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(g.config.Acknowledgement, []byte(text), 0o600))
	}
	read(0, false)
	write(`{"request": 1, "files": ["a"]}`)
	read(1, true)
	read(1, false)
	for _, half := range []string{"", "{", `{"request": 2, "files": ["b"`, `{"request": "2"}`, "[]", "\x00"} {
		write(half)
		read(1, false)
	}
	write(`{"request": 2, "files": ["b"], "step": 7}`)
	read(2, true)
	if ack := g.state.Checkpoint; ack.Step == nil || *ack.Step != 7 || len(ack.Files) != 1 {
		t.Errorf("%+v", ack)
	}
	// A job may put anything in the place of the file.
	must.Do(t, errors.Join(os.Remove(g.config.Acknowledgement), syscall.Mkfifo(g.config.Acknowledgement, 0o600)))
	read(2, false)
	must.Do(t, errors.Join(os.Remove(g.config.Acknowledgement), os.Mkdir(g.config.Acknowledgement, 0o700)))
	read(2, false)
	g.config.Acknowledgement = ""
	read(2, false)
}

// A request is the number of its save on a line of its own, the newest in the place of the one before; without a file there is none.
func TestRequest(t *testing.T) {
	g := quiet(t)
	for _, number := range []int64{1, 22, 3} {
		g.request(t.Context(), number)
		text, err := os.ReadFile(g.config.Request)
		if want := map[int64]string{1: "1\n", 22: "22\n", 3: "3\n"}[number]; err != nil || string(text) != want {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
	}
	g.config.Request = ""
	g.request(t.Context(), 4)
	// What cannot be written is told, and keeps nobody.
	log := must.Have(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	defer log.Close()
	g.config.Stderr, g.config.Request = log, filepath.Join(t.TempDir(), "nowhere", "request")
	g.request(t.Context(), 5)
	if text, err := os.ReadFile(log.Name()); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// The record is what is known, read back as it was written; none is written where no file is named.
func TestRecordIsReadBack(t *testing.T) {
	g := quiet(t)
	must.Fail(ReadRecord(g.config.Record))(t, fs.ErrNotExist)
	step := int64(7)
	states := []State{
		{},
		{Started: true, Progress: runner.Progress{Step: 4, Running: true}},
		{Started: true, Progress: runner.Progress{Step: 9, Done: true}, Checkpoint: &command.Acknowledgement{Request: 2, Step: &step, Files: []string{"a"}}, Ended: &End{}},
		{Started: true, Progress: runner.Progress{Failed: "killed"}, Ended: &End{Code: -1, Signal: "killed", Why: LeaseOver}},
	}
	for _, state := range states {
		g.change(func(s *State) { *s = state })
		must.Do(t, g.record(t.Context()))
		got := must.Have(ReadRecord(g.config.Record))(t)
		must.Equal(t, cmp.Diff(Record{g.config.ID, 3, state}, got), "")
	}
	must.Do(t, os.WriteFile(g.config.Record, []byte(`{"job": "lr"`), 0o600))
	if r, err := ReadRecord(g.config.Record); err == nil {
		t.Errorf("half a record is %+v", r)
	}
	g.config.Record = filepath.Join(t.TempDir(), "nowhere", "record")
	must.Err(t, g.record(t.Context()), must.ErrAny, "a record was written where there is no folder")
	g.config.Record = ""
	must.Do(t, g.record(t.Context()))
}

// What has changed is written down within moments, and what could not be written is written later; the end of the guard is the end.
func TestRecordAll(t *testing.T) {
	g := quiet(t)
	folder := filepath.Join(t.TempDir(), "late")
	g.config.Record = filepath.Join(folder, "record")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { g.recordAll(ctx); close(ended) }()
	defer func() { stop(); <-ended }()
	must.Do(t, os.Mkdir(folder, 0o700))
	for _, want := range []int64{0, 5} {
		g.change(func(s *State) { s.Progress.Step = want })
		for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			r, err := ReadRecord(g.config.Record)
			if err == nil && r.State.Progress.Step == want {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("never written: step %d; %+v, %v", want, r, err)
			}
		}
	}
}

// A second word of the same kind says nothing new, and waits for nobody.
func TestWake(t *testing.T) {
	c, over := make(chan struct{}, 1), make(chan struct{})
	go func() { wake(c); wake(c); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("a second word waits until the first is heard")
	}
	if !wasWoken(c) || wasWoken(c) {
		t.Error("two words of one kind are not one")
	}
}
