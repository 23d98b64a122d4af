//go:build linux

// This file takes agents away from jobs that go on without them, and checks that no job ever runs twice.

package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/internal/must"
)

// alone is a cluster of two servers with room for one container each, and a job that is never done.
type alone struct {
	*testing.T
	*cluster.Cluster
	samples []cluster.Sample
}

// The lease and the grace of these clusters.
const shortLease, shortGrace = "1s", "2500ms"

func startAlone(t *testing.T) *alone {
	t.Helper()
	p := cluster.Place(t.TempDir())
	c := must.Have(cluster.Start(p, cluster.Programs(p, pair, []string{"-save-every", "300ms", "-grace", shortGrace}, []string{"-lease", shortLease})))(t)
	a := &alone{T: t, Cluster: c}
	t.Cleanup(func() {
		must.Do(t, c.Stop())
	})
	must.Do(t, c.Await(t.Context(), pair))
	program := must.Have(os.Executable())(t)
	argv := []string{program, "train", "-steps", strconv.Itoa(1 << 30), "-cost", "500us"}
	app := alloc.Application{ID: "lr", Weight: 1, Form: alloc.Form{Min: 1, Max: 1, Demand: apportion.Resources{1, 1}}, Start: argv, Resume: argv}
	must.Do(t, p.Call(t.Context(), "/submit", app, &master.Nothing{}))
	return a
}

// await waits until the job is as it should be.
func (a *alone) await(what string, is func(*master.View) bool) *master.View {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), time.Minute)
	defer cancel()
	for {
		var l master.List
		if err := cluster.Patiently(ctx, func(ctx context.Context) error { return a.Place.Call(ctx, "/list", master.Nothing{}, &l) }); err != nil {
			a.Fatalf("never: %s: %v\nmaster: %s", what, err, a.Log("master"))
		}
		a.samples = append(a.samples, cluster.Sample{Seen: time.Now(), List: l})
		if len(l.Jobs) == 1 && is(&l.Jobs[0]) {
			return &l.Jobs[0]
		}
		select {
		case <-ctx.Done():
			a.Fatalf("never: %s: %+v\nmaster: %s", what, l.Jobs, a.Log("master"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Whatever becomes of an agent, its job runs elsewhere only when it does not run there any more.
func TestAgentGone(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases")
	}
	for name, take := range map[string]func(a *alone, server string){
		"stopped": func(a *alone, server string) { a.Signal(server, syscall.SIGSTOP) },
		"dead":    func(a *alone, server string) { a.Down(server) },
		"cannot read its book": func(a *alone, server string) {
			must.Do(a, os.Truncate(a.Place.Join("agents", server, "book.json"), 20))
			a.KillProgram(server)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they sleep
			a := startAlone(t)
			saved := a.await("it is saved", func(v *master.View) bool { return v.Checkpoint.Number > 1 })
			server := saved.Job.Containers[0]
			take(a, server)
			v := a.await("it runs elsewhere", func(v *master.View) bool {
				return v.Job.Phase == checkpoint.Running && v.Job.Containers[0] != server && v.Progress.Step > saved.Checkpoint.Step+20
			})
			for _, p := range a.Place.Processes() {
				if p.Attempt != v.Job.Attempt && !p.Guard {
					t.Errorf("process %d of attempt %d is alive", p.PID, p.Attempt)
				}
			}
			a.Signal(server, syscall.SIGCONT)
			time.Sleep(300 * time.Millisecond)
			must.Do(t, a.Place.CheckWorkers(a.samples))
			if name == "cannot read its book" && !strings.Contains(a.Log(server), "book.json") {
				t.Errorf("its agent lives: %s", a.Log(server))
			}
		})
	}
}
