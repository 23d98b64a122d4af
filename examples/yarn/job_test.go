// This file tests what is read of jobs.

package yarn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

// kinds are those of the cluster in the tests without one.
var kinds = apportion.Kinds{memoryKind, vcoreKind, gpuKind}

const goodJob = `{"queue":"a","max":8,"min":0,"weight":1.5,"priority":3,"preemptible":true,"adjust_cost":5,"label":"fast","save_signal":"USR1",
	"demand":{"memory-mb":500,"vcores":2,"yarn.io/gpu":1},"command":["python3","train it.py"],"env":{"A_1":"it's"}}`

// jobsOf reads jobs by their texts.
func jobsOf(t *testing.T, texts map[string]string) []submission {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	list := must.Have(readJobs(dir, kinds))(t)
	return list
}

func TestReadJobs(t *testing.T) {
	list := jobsOf(t, map[string]string{"lr.json": goodJob, "lr.json.new": "half", "note.txt": "x"})
	if len(list) != 1 || list[0].fault != nil {
		t.Fatalf("%+v", list)
	}
	s := list[0]
	if s.Job != "lr" || s.User == "" || !strings.HasPrefix(s.Stamp, "t") || s.Env["A_1"] != "it's" {
		t.Errorf("%+v", s)
	}
	// YARN's grants are multiples of 128 MiB and one core.
	a := s.application(kinds, apportion.Resources{128, 1, 0})
	if a.ID != "lr" || a.Min != 0 || a.Max != 8 || a.Weight != 1.5 || a.Priority != 3 || !a.Preemptible || *a.AdjustCost != 5 || !a.Demand.Equal(apportion.Resources{512, 2, 1}) {
		t.Errorf("%+v", a)
	}
	if there := (&apportion.Server{Labels: map[string]string{partition: "fast"}}).Satisfies(a.Requires); !there {
		t.Error("its partition does not satisfy it")
	}
	if there := (&apportion.Server{Labels: map[string]string{partition: ""}}).Satisfies(a.Requires); there {
		t.Error("another partition satisfies it")
	}
	least := jobsOf(t, map[string]string{"x.json": `{"queue":"a","max":8,"demand":{"yarn.io/gpu":1},"command":["x"]}`})[0]
	if a := least.application(kinds, apportion.Resources{128, 1, 0}); a.Min != 1 || a.Weight != 1 || !a.Demand.Equal(apportion.Resources{128, 1, 1}) {
		t.Errorf("%+v", a)
	}
}

func TestBadJobs(t *testing.T) {
	for want, change := range map[string]func(string) string{
		"maxi":        func(s string) string { return strings.Replace(s, `"max"`, `"maxi"`, 1) },
		"user":        func(s string) string { return strings.Replace(s, `"queue"`, `"user":"root","queue"`, 1) },
		"1048576":     func(s string) string { return s + strings.Repeat(" ", longestJob) },
		"queue":       func(s string) string { return strings.Replace(s, `"queue":"a",`, "", 1) },
		"command":     func(s string) string { return strings.Replace(s, `"python3","train it.py"`, "", 1) },
		"A-1":         func(s string) string { return strings.Replace(s, "A_1", "A-1", 1) },
		"save_signal": func(s string) string { return strings.Replace(s, "USR1", "KILL", 1) },
		"this cluster has memory-mb, vcores, yarn.io/gpu": func(s string) string { return strings.Replace(s, "yarn.io/gpu", "gpu", 1) },
		"unexpected EOF": func(s string) string { return s[:40] },
	} {
		list := jobsOf(t, map[string]string{"lr.json": change(goodJob)})
		if len(list) != 1 || list[0].fault == nil || !strings.Contains(list[0].fault.Error(), want) {
			t.Errorf("%s: %v", want, list[0].fault)
		}
	}
}

// A link is nobody's job: its file may be somebody else's.
func TestLinksAreNoJobs(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "other.json")
	must.Do(t, os.WriteFile(other, []byte(goodJob), 0o600))
	must.Do(t, os.Symlink(other, filepath.Join(dir, "lr.json")))
	if list, err := readJobs(dir, kinds); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	s := submission{}
	must.Err(t, s.read(filepath.Join(dir, "lr.json"), kinds), must.ErrAny, "a link is followed")
	must.Do(t, errors.Join(os.Remove(filepath.Join(dir, "lr.json")), os.Link(other, filepath.Join(dir, "lr.json")), syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600)))
	if list, err := readJobs(dir, kinds); err != nil || len(list) != 1 || list[0].User != "" || list[0].fault == nil {
		t.Errorf("a second name of somebody's file: %+v, %v", list, err)
	}
	if err := s.read(filepath.Join(dir, "pipe.json"), kinds); err == nil || s.User != "" {
		t.Errorf("a pipe is %q's: %v", s.User, err)
	}
}

// Everybody puts files into the folder of the jobs, and nobody takes others' away or has those that are over.
func TestJobsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	for range 2 {
		must.Do(t, makeJobs(dir))
	}
	for name, mode := range map[string]os.FileMode{dir: os.ModeDir | os.ModeSticky | 0o777, filepath.Join(dir, over): os.ModeDir | 0o755} {
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	// One that an operator has made for a group stays as it is.
	must.Do(t, errors.Join(os.Chmod(dir, 0o770), makeJobs(dir)))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o770 {
		t.Errorf("%v, %v", info, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("a file of another user needs root")
	}
	must.Do(t, os.Chown(filepath.Join(dir, over), 65534, 65534))
	must.Err(t, makeJobs(dir), must.ErrAny, "a folder of somebody else's is taken for the files of jobs that are over")
}

// Jobs come in the order in which they were submitted, and a file that was put aside is the one that was seen.
func TestBury(t *testing.T) {
	y := newYARN(conf{}, guarded())
	y.jobs = t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(y.jobs, over), 0o700))
	for i, name := range []string{"z", "a", "m"} {
		file := filepath.Join(y.jobs, name+jobEnding)
		must.Do(t, os.WriteFile(file, []byte(goodJob), 0o600))
		at := time.Unix(1000+int64(i), 0)
		must.Do(t, os.Chtimes(file, at, at))
	}
	list, err := readJobs(y.jobs, kinds)
	if err != nil || len(list) != 3 || list[0].Job != "z" || list[1].Job != "a" || list[2].Job != "m" {
		t.Fatalf("%+v, %v", list, err)
	}
	y.stamps["z"], y.stamps["a"] = list[0].Stamp, "t1"
	for _, job := range []string{"z", "a", "gone"} {
		must.Do(t, y.bury(job))
	}
	for name, there := range map[string]bool{"z.json": false, "over/z." + list[0].Stamp + ".json": true, "a.json": true} {
		if _, err := os.Stat(filepath.Join(y.jobs, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}
