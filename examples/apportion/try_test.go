//go:build !js && !apportion_clib

// This file tests "apportion try": what is played, and what its page shows meanwhile.

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/internal/must"
)

// tried is what the page of a trial has.
type tried struct {
	Clock   float64
	Servers struct{ Set []page.Server }
	Jobs    struct{ Set []page.Job }
	Queues  struct{ Set []page.Queue }

	Decisions []page.Decision
}

// readPage reads the page at an address.
func readPage(t *testing.T, url string) (shown tried) {
	t.Helper()
	response := must.Have(http.Get(url))(t)
	defer response.Body.Close()
	text := must.Have(io.ReadAll(response.Body))(t)
	must.Equal(t, response.StatusCode, http.StatusOK, response.Status)
	_, state, _ := bytes.Cut(text, []byte(`id="state">`))
	state, _, _ = bytes.Cut(state, []byte("</script>"))
	must.Do(t, json.Unmarshal(state, &shown))
	return shown
}

// try begins a trial, hands the address of its page to look, ends it, and returns what it says at the end.
func try(t *testing.T, look func(url string), args ...string) (end struct{ Ended, Decisions, Restarts int }) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, out := io.Pipe()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- run(ctx, append([]string{"try"}, args...), strings.NewReader(""), out, &errs)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(in)
	var hello struct{ Page string }
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &hello) != nil || !strings.HasPrefix(hello.Page, "http://127.0.0.1:") {
		t.Fatalf("%s %s", lines.Text(), &errs)
	}
	look(hello.Page)
	stop()
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &end) != nil || <-ended != answered {
		t.Fatalf("%s %s", lines.Text(), &errs)
	}
	return end
}

// eventually looks at a page until it is so.
func eventually(t *testing.T, url, what string, is func(*tried) bool) (shown tried) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if shown = readPage(t, url); is(&shown) {
			return shown
		}
		if time.Now().After(limit) {
			t.Fatalf("never: %s\n%+v", what, shown)
		}
	}
}

// Jobs come and go, no server has more than it has room for, and a stranger sees nothing.
func TestTry(t *testing.T) {
	end := try(t, func(url string) {
		shown := eventually(t, url, "decisions", func(s *tried) bool {
			used := map[string][2]int64{}
			for _, job := range s.Jobs.Set {
				for server, n := range job.On {
					used[server] = [2]int64{used[server][0] + n*job.Demand[0], used[server][1] + n*job.Demand[1]}
				}
				if (len(job.On) > 0) != (job.State == "running") || job.Since == 0 || job.Since > s.Clock || job.Queue == "" {
					t.Errorf("at %v: %+v", s.Clock, job)
				}
			}
			for server, u := range used {
				if u[0] > tryGPUs || u[1] > tryCPUs {
					t.Errorf("%s has %v", server, u)
				}
			}
			return len(s.Decisions) > 50
		})
		if len(shown.Servers.Set) != 12 || shown.Servers.Set[11].Rack != "rack 2" || len(shown.Queues.Set) != 3 {
			t.Errorf("%+v", shown)
		}
		bare, _, _ := strings.Cut(url, "?")
		if response, err := http.Get(bare); err != nil || response.StatusCode != http.StatusUnauthorized {
			t.Errorf("a stranger: %v, %v", response, err)
		}
	}, "-servers", "12", "-speed", "20000", "-seed", "3")
	if end.Decisions <= 50 || end.Ended == 0 {
		t.Errorf("%+v", end)
	}
}

// A job that waits is told when it starts, by how long those ran that have ended.
func TestTryForesees(t *testing.T) {
	file := traceOf(t, "first,0,600,16,,,,a,,,,,\nb,1000,90000,16,,,,a,,,,,\nc,1000,90000,16,,,,a,,,,,\nd,1000,90000,16,,,,a,,,,,\n")
	try(t, func(url string) {
		eventually(t, url, "d waits, and has a forecast", func(s *tried) bool {
			for _, job := range s.Jobs.Set {
				if job.Early > 0 && (job.ID != "d" || len(job.On) > 0 || job.Early < job.Since || job.Late < job.Early) {
					t.Fatalf("%+v", job)
				}
				if job.Early > 0 {
					return true
				}
			}
			return false
		})
	}, "-servers", "2", "-speed", "1000", "-trace", file)
}

// The clock of a trial is that of the machine, as many times as fast as was asked for: nothing happens before its time.
func TestTryIsPaced(t *testing.T) {
	began := time.Now()
	try(t, func(url string) {
		shown := eventually(t, url, "ten decisions", func(s *tried) bool { return len(s.Decisions) >= 10 })
		if passed := time.Since(began).Seconds() * 5000; shown.Decisions[9].At > passed {
			t.Errorf("the decision of %v s is there after %v s", shown.Decisions[9].At, passed)
		}
	}, "-servers", "12", "-speed", "5000")
}

// traceOf writes rows as a trace.
func traceOf(t *testing.T, rows string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jobs.csv")
	must.Do(t, os.WriteFile(file, []byte("job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind\n"+rows), 0o600))
	return file
}

// A trace is played: what is not known of its jobs, and what came before, is left out.
func TestTryTrace(t *testing.T) {
	file := traceOf(t, "early,0,100,1,,,,a,,,,,\na,1000,3600,8,,,,a,,,,,\na,1000,3600,8,,,,b,,,,,\nnone,1000,3600,0,,,,b,,,,,\nunknown,1000,,1,,,,b,,,,,\nwide,1000,3600,17,,,,b,,,,,\n<b>,2000,3600,4,,,,a,,,,,\n")
	end := try(t, func(url string) {
		shown := eventually(t, url, "all have come", func(s *tried) bool { return len(s.Jobs.Set) == 3 })
		var names []string
		for _, job := range shown.Jobs.Set {
			names = append(names, job.ID+" in "+job.Queue)
		}
		if want := "a in a, a (2) in b, <b> in a"; strings.Join(names, ", ") != want {
			t.Errorf("%v, want %s", names, want)
		}
		eventually(t, url, "all have gone", func(s *tried) bool { return len(s.Jobs.Set) == 0 })
	}, "-servers", "2", "-speed", "3000", "-trace", file, "-from", "1000s")
	must.Equal(t, end.Ended, 3, end)
	slurm := filepath.Join(t.TempDir(), "sacct.txt")
	must.Do(t, os.WriteFile(slurm, []byte("JobID|Partition|Submit|Start|End|AllocTRES\n1|a|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:20:00|cpu=8,gres/gpu=4\n1.0||||2026-03-01T10:20:00|cpu=8\n2|b|2026-03-01T10:01:00|2026-03-01T10:05:00|2026-03-01T10:20:00|cpu=8,gres/gpu=8\n"), 0o600))
	for _, file := range []string{"sim.jsonl", slurm} {
		if end := try(t, func(url string) {
			eventually(t, url, "all have gone", func(s *tried) bool { return len(s.Decisions) > 1 && len(s.Jobs.Set) == 0 })
		}, "-speed", "1000", "-trace", file); end.Ended != 2 {
			t.Errorf("%s: %+v", file, end)
		}
	}
}

// The same seed draws the same jobs, another one draws others.
func TestTryDraws(t *testing.T) {
	draw := func(seed uint64) any {
		jobs, _ := (&tryOptions{servers: 4, seed: seed}).draw()
		return jobs
	}
	if !reflect.DeepEqual(draw(1), draw(1)) || reflect.DeepEqual(draw(1), draw(2)) {
		t.Error("a seed is not what chooses")
	}
}

func TestTryRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"-servers": {"-servers", "0"}, "-speed": {"-speed", "0"}, "-for": {"-for", "-1s"}, "no loopback address": {"-listen", "0.0.0.0:0"}, "no such file": {"-trace", "nowhere"}, "reads no file": {"cluster.json"},
	} {
		if code, out, errs := call(t, "", append([]string{"try"}, args...)...); code == answered || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
}
