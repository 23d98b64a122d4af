// This file tests the cut of windows and their table, on small traces that it writes itself.

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/primaldual"
)

const columns = "job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind,"

// writeTrace writes rows to a compressed trace.
func writeTrace(t *testing.T, folder, name, more string, rows []string) {
	t.Helper()
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	io.WriteString(zip, columns+more+"\n"+strings.Join(rows, "\n")+"\n")
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// smallTraces writes a Chronus trace of 100 jobs and an ITP trace of two clusters of 20 and 10.
func smallTraces(t *testing.T) string {
	folder := t.TempDir()
	var chronus, itp []string
	for i := range 100 {
		chronus = append(chronus, fmt.Sprintf("c%d,%d,1800,%d,,,,,,,,,,strict,%d,10", i, 100*i, i%5, 2400+i*30))
	}
	for i := range 30 {
		itp = append(itp, fmt.Sprintf("i%d,%d,1200,%d,,,,cluster0%d,,,,,,64,100,%d", i, 300*i, 1+i%4, 2-i%3/2, 1500+i*20))
	}
	writeTrace(t, folder, "chronus_slo.csv.gz", "deadline_class,deadline_s,value", chronus)
	writeTrace(t, folder, "ms_itp_2021.csv.gz", "batch_size,iterations,deadline_s", itp)
	return folder
}

func TestReadWindows(t *testing.T) {
	windows, err := readWindows(smallTraces(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(windows) != 3*windowStarts*len(pressures) {
		t.Fatalf("%d windows", len(windows))
	}
	for i, want := range []struct {
		first string
		jobs  int
	}{{"c0", 25}, {"c0", 25}, {"c0", 25}, {"c20", 20}} {
		w := &windows[i]
		if w.rows[0].ID != want.first || len(w.rows) != want.jobs || !w.soft {
			t.Errorf("window %d: %s from %s, %d jobs, want %+v", i, w.name(), w.rows[0].ID, len(w.rows), want)
		}
	}
	// Sizes double, up to whole servers.
	if a, b, c := windows[15].gpus, windows[16].gpus, windows[17].gpus; a > b || b > c || a%8 != 0 || a < 8 {
		t.Errorf("sizes %d, %d, %d", a, b, c)
	}
	if windows[15].family != "ITP cluster01" || windows[15].soft || len(windows[15].rows) != 2 {
		t.Errorf("%s, %d jobs", windows[15].name(), len(windows[15].rows))
	}
	last := windows[len(windows)-1]
	if last.rows[len(last.rows)-1].ID != "i28" && last.rows[len(last.rows)-1].ID != "i29" {
		t.Errorf("the last window ends with %s", last.rows[len(last.rows)-1].ID)
	}
	fixed, err := readWindows(smallTraces(t), []int{3, 20, 64})
	if err != nil || fixed[0].gpus != 8 || fixed[1].gpus != 24 || fixed[2].gpus != 64 || fixed[2].size != "64 GPUs" {
		t.Errorf("%v, sizes %d, %d, %d", err, fixed[0].gpus, fixed[1].gpus, fixed[2].gpus)
	}
}

// The span of a window ends with its last deadline, and its first job arrives in slot 1 or 2.
func TestWindowWorkload(t *testing.T) {
	windows, err := readWindows(smallTraces(t), []int{8})
	if err != nil {
		t.Fatal(err)
	}
	for i := range windows {
		load, err := windows[i].workload()
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, job := range load.jobs {
			last = max(last, job.Arrival)
			if steps, ok := job.Utility.(primaldual.Steps); ok {
				last = max(last, job.Arrival+steps[len(steps)-1].Within)
			}
		}
		if load.jobs[0].Arrival > 2 || last != load.cluster.Slots || len(load.workers) != len(load.jobs) || slices.Min(load.workers) < 1 {
			t.Errorf("%s: first arrival %d, last deadline %d, %d slots", windows[i].name(), load.jobs[0].Arrival, last, load.cluster.Slots)
		}
	}
}

func TestSoftened(t *testing.T) {
	for _, test := range []struct {
		within int
		want   primaldual.Steps
	}{
		{3, primaldual.Steps{{Within: 3, Value: 10}, {Within: 5, Value: 6}, {Within: 9, Value: 2.5}}},
		{0, primaldual.Steps{{Within: 0, Value: 10}, {Within: 1, Value: 2.5}}}, // one and a half slots are one slot
	} {
		if got := softened(primaldual.Steps{{Within: test.within, Value: 10}}).(primaldual.Steps); !slices.Equal(got, test.want) {
			t.Errorf("%v, want %v", got, test.want)
		}
	}
	if got := softened(primaldual.Sigmoid{}); got != (primaldual.Sigmoid{}) {
		t.Errorf("%v", got)
	}
}

// A job with fewer workers has the same work.
func TestNarrowed(t *testing.T) {
	job := primaldual.Job{Epochs: 3, Chunks: 8, Minibatches: 7, MinibatchSlots: 0.13, CommSlots: 0.01}
	for workers := int64(1); workers <= 9; workers++ {
		got := narrowed(job, workers)
		if got.WorkerSlots() != job.WorkerSlots() || got.Chunks != min(8, workers) {
			t.Errorf("%d workers: %d worker-slots with %d at a time, want %d", workers, got.WorkerSlots(), got.Chunks, job.WorkerSlots())
		}
	}
}

// Ratios are to the best rival alone, and rows count what is ahead or level.
func TestWindowRatios(t *testing.T) {
	results := make([]result, 3)
	for i := range results {
		results[i].worth = make([]float64, len(contenders))
		for c := range contenders {
			results[i].worth[c] = 1
			if contenders[c].rival {
				results[i].worth[c] = float64(1 + c)
			}
		}
	}
	best := results[0].rival()
	results[0].worth[0], results[1].worth[0], results[2].worth[0] = best*4, best*0.995, best*0.25
	var out strings.Builder
	reportWindowRatios(&out, "x", results, func(r *result) float64 { return ratio(r.worth[0], r.rival()) })
	mean := math.Cbrt(4 * 0.995 * 0.25)
	if want := fmt.Sprintf("x\t0.250\t0.250\t0.995\t4.000\t4.000\t%.3f\t67 %%\n", mean); out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if ratio(0, 0) != 1 || !math.IsInf(ratio(1, 0), 1) {
		t.Error("ratios to nothing")
	}
}

// checkBounds checks that nobody earned more than is certified or than all jobs are worth, and that the bound says something.
func checkBounds(t *testing.T, table string) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || rows[0][2] != "certified bound" {
		t.Fatalf("%v: %v", err, rows[0])
	}
	for _, row := range rows[1:] {
		var values []float64
		for _, text := range row[1:] {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		most, bound := values[0], values[1]
		if earned := slices.Max(values[2:]); bound < earned*(1-1e-9) || bound > most*(1+1e-6) {
			t.Errorf("%s: bound %g, earned up to %g of %g", row[0], bound, earned, most)
		}
	}
}

// Of three jobs that each need every GPU of the only slot one can end, and the bound says so.
func TestCertified(t *testing.T) {
	load := &workload{cluster: traceCluster(8)}
	load.cluster.Slots = 1
	for i := range 3 {
		load.jobs = append(load.jobs, primaldual.Job{
			ID: fmt.Sprint(i), Arrival: 1, Epochs: 1, Chunks: 8, Minibatches: 1, MinibatchSlots: 1, WorkerBandwidth: 1, PSBandwidth: perPS,
			Worker: apportion.Resources{1, 0}, PS: apportion.Resources{0, 1}, Utility: primaldual.Steps{{Within: 0, Value: 10}},
		})
		load.workers = append(load.workers, 8)
	}
	policy, err := contenders[0].make(load)
	if err != nil {
		t.Fatal(err)
	}
	scenario, run, err := load.run(t.Context(), policy)
	if err != nil || run.Worth() != 10 {
		t.Fatalf("earned %g, %v", run.Worth(), err)
	}
	if bound, err := certified(load, scenario, run); err != nil || bound < 10 || bound > 11 {
		t.Errorf("bound %g, %v, want 10 or hardly more", bound, err)
	}
}

// The whole command on small traces: every contender plays, learnt prices earn no less than nothing, and the table of
// all windows is written.
func TestRunWindows(t *testing.T) {
	folder, out := smallTraces(t), t.TempDir()
	var stdout strings.Builder
	args := []string{"-windows", folder, "-every", "8", "-out", out}
	if err := command.Run(run)(t.Context(), &stdout, io.Discard, args); err != nil {
		t.Fatal(err)
	}
	for i := range contenders {
		if !strings.Contains(stdout.String(), "\n"+contenders[i].name) {
			t.Errorf("no row for %s in\n%s", contenders[i].name, stdout.String())
		}
	}
	table, err := os.ReadFile(filepath.Join(out, "windows.csv"))
	if lines := strings.Count(string(table), "\n"); err != nil || lines != 1+6 {
		t.Errorf("%v, %d lines, want a header and 6", err, lines)
	}
	checkBounds(t, string(table))
	for _, bad := range [][]string{{"-windows", t.TempDir()}, {"-gpus", "8,0"}, {"-every", "0"}} {
		if err := run(t.Context(), io.Discard, io.Discard, bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
