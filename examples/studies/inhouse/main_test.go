// This file plays small clusters of real processes, with and without kills.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent/agenttest"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
	"github.com/apportion/apportion/examples/studies/inhouse/train"
	"github.com/apportion/apportion/internal/must"
)

// TestMain lets the test binary be every program of a cluster.
func TestMain(m *testing.M) {
	if os.Getenv(cluster.AsProgram) != "" {
		command.Main("inhouse", run)
	}
	os.Exit(m.Run())
}

func small(t *testing.T, steps int64, killEvery time.Duration) (*drive, *bytes.Buffer) {
	t.Helper()
	const cost = 200 * time.Microsecond
	a, err1 := newArrival(0, "first", train.Job{Model: "network", Steps: steps, Seed: 5, Cost: cost}, 1, 7)
	b, err2 := newArrival(time.Second, "second", train.Job{Model: "logistic", Steps: steps / 2, Seed: 6, Cost: cost}, 1, 4)
	must.Do(t, errors.Join(err1, err2))
	var out bytes.Buffer
	return &drive{place: cluster.Place(t.TempDir()), stdout: &out, arrivals: []arrival{a, b}, killEvery: killEvery, killMost: 12,
		servers: servers[:2], random: rand.New(rand.NewPCG(uint64(steps), 0))}, &out
}

func play(t *testing.T, d *drive, out *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	must.Do(t, d.run(ctx), out, "master", d.live.Log("master"))
	if left := d.place.Processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	t.Logf("\n%s", out)
}

func TestResize(t *testing.T) {
	d, out := small(t, 1000, 0) // the first job sleeps for 1.8 s at least, and the second comes after 1 s
	play(t, d, out)
	if d.outcomes[0].runs < 2 {
		t.Errorf("the first job was not resized: %d runs", d.outcomes[0].runs)
	}
	must.Equal(t, len(d.figures()), 2, "figures")
}

// Programs and processes of jobs are killed; every job ends with the curve of an undisturbed run.
func TestSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	d, out := small(t, 800, 500*time.Millisecond)
	play(t, d, out)
	if d.killed < 5 {
		t.Errorf("only %d kills", d.killed)
	}
}

// What the command line says and does, against a live cluster.
func TestCommandLine(t *testing.T) {
	p := cluster.Place(t.TempDir())
	c := must.Have(cluster.Start(p, programs(p, servers[:1])))(t)
	defer func() {
		must.Do(t, c.Stop())
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, c.Await(ctx, servers[:1]))
	dir := []string{"-dir", string(p)}
	do := func(args ...string) (string, error) {
		var out, errs bytes.Buffer
		err := run(ctx, &out, &errs, append(args[:1:1], append(dir, args[1:]...)...))
		return out.String() + errs.String(), err
	}
	program := must.Have(os.Executable())(t)
	job := []string{"submit", "-name", "lr", "-max", "3", "-demand", "1,2", "--", program, "train", "-steps", "1000000", "-cost", "1ms"}
	if text, err := do(job...); err != nil {
		t.Fatal(text, err)
	}
	if _, err := do(job...); err == nil || !strings.Contains(err.Error(), "is there twice") {
		t.Errorf("submitted twice: %v", err)
	}
	if _, err := do("submit", "-name", "x", "-demand", "1", "--", "true"); err == nil || !strings.Contains(err.Error(), "wrong length") {
		t.Errorf("demand of one kind: %v", err)
	}
	await := func(want string, args ...string) {
		t.Helper()
		for {
			text, err := do(args...)
			if err == nil && strings.Contains(text, want) {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%v: no %q: %s, %v", args, want, text, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	await("running  north north north", "list")
	await("it has its maximum of 3", "explain")
	must.Have(do("move", "-name", "lr", "-to", "north"))(t)
	must.Have(do("cancel", "-name", "lr"))(t)
	await("cancelled", "list")
	must.Fail(do("cancel", "-name", "nobody"))(t, must.ErrAny, "cancelled a job that is not there")
}

// A second master takes over: the first one learns of it when it has something to write down, and ends.
func TestTwoMasters(t *testing.T) {
	p := cluster.Place(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	secret := must.Have(p.Secret())(t)
	party := wire.Party{Role: wire.Agent, Name: servers[0].ID}
	start := func() (*wire.Client, chan error) {
		before, _ := os.ReadFile(p.Join(cluster.URLFile))
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, io.Discard, io.Discard, []string{"master", "-dir", string(p)}) }()
		for {
			if now, _ := os.ReadFile(p.Join(cluster.URLFile)); !bytes.Equal(now, before) {
				break
			}
			if ctx.Err() != nil {
				t.Fatal("no master")
			}
			time.Sleep(10 * time.Millisecond)
		}
		client := must.Have(p.Master())(t)
		return secret.Credential(party).Client(client.Base), ended
	}
	first, firstEnded := start()
	second, secondEnded := start()
	mux := http.NewServeMux()
	wire.HandleAgent(mux, secret.Credential(party).Gate(), &agenttest.Server{ID: servers[0].ID})
	listening := httptest.NewServer(mux)
	defer listening.Close()
	server := master.Registration{URL: listening.URL, Server: servers[0]}
	must.Err(t, first.Call(ctx, "/register", server, &master.Nothing{}), must.ErrAny, "a master that was replaced let an agent in")
	must.Err(t, <-firstEnded, checkpoint.ErrFenced, "the first master ended with")
	must.Do(t, second.Call(ctx, "/register", server, &master.Nothing{}), "the second master")
	cancel()
	must.Do(t, <-secondEnded, "the second master ended with")
}

func TestUnknownSubcommand(t *testing.T) {
	var errs bytes.Buffer
	err := run(t.Context(), io.Discard, &errs, []string{"dance"})
	if !errors.Is(err, command.ErrUsage) || !strings.Contains(errs.String(), "agent, cancel, demo") {
		t.Errorf("%v: %s", err, &errs)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"overhead -seconds 5,0":   "-seconds: each must be positive",
		"overhead -seconds 5,":    "invalid value",
		"agent -capacity 4,eight": `"eight"`,
		"submit -name x":          "the command is missing",
	} {
		var errs bytes.Buffer
		if err := run(t.Context(), io.Discard, &errs, strings.Fields(args)); !errors.Is(err, command.ErrUsage) || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %v, %s", args, err, &errs)
		}
	}
}

// One adjustment costs far less than a second, and the table says so.
func TestOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("plays two jobs")
	}
	var out bytes.Buffer
	must.Do(t, run(t.Context(), &out, io.Discard, []string{"overhead", "-seconds", "1", "-dir", t.TempDir(), "-out", t.TempDir()}))
	if !strings.Contains(out.String(), "an adjustment (s)") {
		t.Errorf("%s", &out)
	}
}
