// This file tests that an agent saves the share of its server, and fetches what its processes need.

package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// ranked is a runner on one server, whose processes save a part that is called like the server and need those of some.
type ranked struct {
	*fake
	server string
	needs  []string
	found  []string // in the folder to begin from
}

func (r *ranked) Save(_ context.Context, run runner.Run) (runner.Saved, error) {
	return runner.Saved{Dir: run.Dir, Files: []string{r.server}, Step: 7}, os.WriteFile(filepath.Join(run.Dir, r.server), []byte("of "+r.server), 0o600)
}

func (r *ranked) Needs(_ runner.Run, part string) bool { return slices.Contains(r.needs, part) }

func (r *ranked) Resume(_ context.Context, run runner.Run) error {
	r.set(func() { r.alive[run.Attempt] = true })
	entries, err := os.ReadDir(run.Restore)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(run.Restore, e.Name()))
		if err != nil {
			return err
		}
		r.found = append(r.found, e.Name()+" "+string(text))
	}
	if run.Restore == "" {
		return nil
	}
	return err
}

// crew is an agent on each of three servers, with one store and one shared folder.
func crew(t *testing.T, s store.Store) (map[string]*bench, map[string]*ranked) {
	benches, runners := map[string]*bench{}, map[string]*ranked{}
	shared := t.TempDir()
	for _, server := range []string{"a", "b", "c"} {
		b := newBench(t)
		r := &ranked{fake: b.fake, server: server}
		b.end()
		b.config.Server, b.config.Shared, b.config.Store = server, shared, s
		b.config.Runner = func(string, json.RawMessage) (runner.Runner, error) { return r, nil }
		b.restart()
		benches[server], runners[server] = b, r
	}
	return benches, runners
}

func (b *bench) tell(action checkpoint.Action, attempt, number int64, share store.Share, containers ...string) checkpoint.Reply {
	b.t.Helper()
	reply := must.Have(b.agent.Do(b.t.Context(), agent.Order{Share: share, Heard: b.heard, Effect: checkpoint.Effect{
		ID: 1, Epoch: 1, Action: action, Job: "lr", Attempt: attempt, Checkpoint: number, Containers: containers, Servers: containers}}))(b.t)
	return reply
}

// Three agents save a share each. Then two servers go on, each with its own share, and one with that of the third as well.
func TestSharesOfServers(t *testing.T) {
	s := store.NewShards(&storetest.MemStore{})
	benches, runners := crew(t, s)
	all := []string{"a", "b", "c"}
	for i, server := range all {
		b := benches[server]
		for _, reply := range []checkpoint.Reply{
			b.tell(checkpoint.Create, 1, 0, store.Share{}, all...), b.tell(checkpoint.Resume, 1, 0, store.Share{}, all...),
			b.tell(checkpoint.Save, 1, 5, store.Share{Index: i, Of: 3}, all...), b.tell(checkpoint.Save, 1, 5, store.Share{Index: i, Of: 3}, all...),
		} {
			must.Equal(t, reply.Outcome, checkpoint.Done, server, reply)
		}
	}
	if list, err := s.List(t.Context(), "lr"); err != nil || len(list) != 0 {
		t.Errorf("before they are joined: %+v, %v", list, err)
	}
	must.Have(s.Join(t.Context(), "lr", 5, 3))(t)
	for _, b := range benches {
		if reply := b.tell(checkpoint.Stop, 1, 0, store.Share{}, all...); reply.Outcome != checkpoint.Done {
			t.Fatalf("%+v", reply)
		}
	}
	runners["a"].needs, runners["b"].needs = []string{"a", "c"}, []string{"b"}
	for server, want := range map[string][]string{"a": {"a of a", "c of c"}, "b": {"b of b"}} {
		b := benches[server]
		created, resumed := b.tell(checkpoint.Create, 2, 0, store.Share{}, "a", "b"), b.tell(checkpoint.Resume, 2, 5, store.Share{}, "a", "b")
		if created.Outcome != checkpoint.Done || resumed.Outcome != checkpoint.Done {
			t.Fatalf("%s: %+v, %+v", server, created, resumed)
		}
		must.Same(t, runners[server].found, want, server, "begins from")
	}
}

// A share for a store that takes whole checkpoints only is refused, and nothing is saved.
func TestShareWithoutStore(t *testing.T) {
	s := &storetest.MemStore{}
	benches, _ := crew(t, s)
	b := benches["a"]
	b.tell(checkpoint.Create, 1, 0, store.Share{}, "a")
	b.tell(checkpoint.Resume, 1, 0, store.Share{}, "a")
	reply := b.tell(checkpoint.Save, 1, 5, store.Share{Of: 1}, "a")
	if reply.Outcome != checkpoint.Failed || !strings.Contains(reply.Detail, "whole checkpoints") {
		t.Errorf("%+v", reply)
	}
	if list, err := s.List(t.Context(), "lr"); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
