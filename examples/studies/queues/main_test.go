// This file runs the command as a user does, and checks what a month must come to.

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apportion/apportion/examples/studies/chart/charttest"
	"github.com/apportion/apportion/examples/studies/command/commandtest"
	"github.com/apportion/apportion/internal/must"
)

func TestCases(t *testing.T) { commandtest.Cases(t, study) }

func TestFigures(t *testing.T) {
	charttest.Twice(t, func(out string) error {
		return study(t.Context(), io.Discard, io.Discard, []string{"-out", out})
	}, 2, "tree", "flat")
}

// Every job starts once and ends, whatever the policy; without contention nobody waits and nothing is lost.
func TestPlay(t *testing.T) {
	jobs := madeUp(16)[:200]
	for _, p := range policies {
		o := must.Have(play(jobs, 16, p))(t)
		must.Equal(t, len(o.waiting), len(jobs), p.name, "of", "jobs have started")
		if p.reclaim != (o.taken > 0) || o.lost > float64(o.taken*16) {
			t.Errorf("%s: %d taken back, %g GPU hours of work lost", p.name, o.taken, o.lost)
		}
		o = must.Have(play(jobs, 1000, p))(t)
		for project, loss := range o.loss {
			must.Equal(t, loss, 0, p.name, project, "loses", "where there is room for all")
		}
	}
}

// Two projects of one weight, of which one has ten users: shares of users give that one ten parts of eleven, those of
// projects a half.
func TestProjectsAreEqual(t *testing.T) {
	var jobs []job
	for i := range 400 {
		project, user := "many", fmt.Sprint("u", i%10)
		if i >= 300 {
			project, user = "one", "u"
		}
		jobs = append(jobs, job{id: fmt.Sprint(i), project: project, user: user, length: hour, gpus: 1})
	}
	flat := must.Have(play(jobs, 11, policies[0]))(t)
	tree := must.Have(play(jobs, 11, policies[1]))(t)
	if flat.loss["one"] < 20 || tree.loss["one"] > 10 {
		t.Errorf("the small project loses %g under shares of users, %g under those of projects", flat.loss["one"], tree.loss["one"])
	}
}

// The busiest month of a trace begins on a day; jobs of no GPU, or too many, are left out.
func TestReadMonth(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprintln(w, "job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind")
	for i, row := range []string{"0,10,1", "5000000,10,8", "5000100,100,8", "5000200,10,9", "5000300,10,0", "9000000,10,1"} {
		fmt.Fprintf(w, "%d,%s,,,u,g,,,,,\n", i, row)
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	must.Do(t, os.WriteFile(path, packed.Bytes(), 0o644))
	jobs, err := readMonth(path, 8)
	if err != nil || len(jobs) != 2 || jobs[0].gpus != 8 || jobs[1].submit-jobs[0].submit != 100 || jobs[0].submit > month {
		t.Errorf("%+v, %v", jobs, err)
	}
	must.Fail(readMonth(filepath.Join(t.TempDir(), "none"), 8))(t, must.ErrAny, "a trace that is not there is read")
}
