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
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/studies/command"
	"github.com/apportion/apportion/internal/trace"
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

// known is a trace's number that is known.
func known[T any](x T) trace.Maybe[T] { return trace.Maybe[T]{Value: x, Known: true} }

// rowsOf are jobs a minute apart, of so many GPUs for so many minutes each.
func rowsOf(n int, gpus float64, minutes int) []trace.Job {
	var rows []trace.Job
	for i := range n {
		rows = append(rows, trace.Job{ID: fmt.Sprint(i), Submit: time.Duration(i) * time.Minute, GPUs: known(gpus), Duration: known(time.Duration(minutes) * time.Minute)})
	}
	return rows
}

// 61 jobs of 4 GPUs for an hour, which arrive in an hour, keep 244 GPUs busy: the sizes are parts of that, in servers of 8.
func TestSized(t *testing.T) {
	rows := rowsOf(61, 4, 60)
	var got []string
	for _, w := range sized("itp", 2, rows, nil) {
		if w.soft || w.start != 2 || len(w.rows) != len(rows) {
			t.Errorf("%+v", w)
		}
		got = append(got, fmt.Sprint(w.gpus, " ", w.size))
	}
	if want := []string{"120 0.5 x busy GPUs", "248 1 x busy GPUs", "488 2 x busy GPUs"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Sizes that are given are rounded to servers, at least one; only Chronus has soft deadlines.
	given := sized("chronus", 0, rows, []int{1, 11, 12})
	if len(given) != 3 || given[0].gpus != 8 || given[1].gpus != 8 || given[2].gpus != 16 || !given[0].soft || given[2].size != "12 GPUs" {
		t.Errorf("%+v", given)
	}
	// Jobs that come all at once span a slot, not nothing; a job of no GPU counts as one.
	if at := sized("itp", 0, rowsOf(61, 0, 60), nil); at[1].gpus != 64 {
		t.Errorf("61 jobs of no GPU: %+v", at[1])
	}
	if at := sized("itp", 0, rowsOf(1, 0, 20), nil); at[1].gpus != 8 || at[2].gpus != 8 {
		t.Errorf("one job: %+v", at)
	}
}

// Groups come by name. The windows of each begin evenly between its first job and the first of its last window, and a group of
// less than ten jobs has none.
func TestByGroup(t *testing.T) {
	var rows []trace.Job
	for i, row := range rowsOf(29, 1, 1) {
		row.Group = []string{"b", "a", "b"}[i%3]
		rows = append(rows, row)
	}
	// 10 of a, windows of two; 19 of b, of three.
	var starts []string
	for _, w := range byGroup("X ", rows, []int{8}) {
		starts = append(starts, fmt.Sprint(w.family, " ", w.rows[0].ID, " ", len(w.rows)))
	}
	if want := []string{"X a 1 2", "X a 7 2", "X a 13 2", "X a 19 2", "X a 25 2", "X b 0 3", "X b 6 3", "X b 12 3", "X b 18 3", "X b 24 3"}; !slices.Equal(starts, want) {
		t.Errorf("%q, want %q", starts, want)
	}
	if none := byGroup("", rowsOf(9, 1, 1), nil); len(none) > 0 {
		t.Errorf("%d windows of nine jobs", len(none))
	}
}

// Only jobs that run, on a GPU, with a deadline are timed; the rows that are given stay as they were.
func TestTimed(t *testing.T) {
	rows := rowsOf(4, 2, 10)
	rows[1].GPUs, rows[2].Duration = known(0.5), known(time.Duration(0))
	rows[3].Group = "own"
	deadline := func(r *trace.Job) float64 { return r.Duration.Value.Seconds() / 4 }
	got := timed(rows, "", deadline)
	if len(got) != 2 || got[0].ID != "0" || got[1].ID != "3" || got[1].Group != "own" || got[0].Extra["deadline_s"] != "150" {
		t.Errorf("%+v", got)
	}
	if all := timed(rows, "one", deadline); len(all) != 2 || all[1].Group != "one" || rows[3].Group != "own" || rows[0].Extra != nil {
		t.Errorf("%+v", all)
	}
	if none := timed(rows, "", func(*trace.Job) float64 { return 0 }); len(none) > 0 {
		t.Errorf("%+v without a deadline", none)
	}
}

func TestRatio(t *testing.T) {
	for _, test := range [][3]float64{{0, 0, 1}, {3, 2, 1.5}, {0, 2, 0}, {2, 0, math.Inf(1)}} {
		if got := ratio(test[0], test[1]); got != test[2] {
			t.Errorf("%v over %v is %v, want %v", test[0], test[1], got, test[2])
		}
	}
	// The best of the rivals, whoever else earned more.
	r := &result{worth: make([]float64, len(contenders))}
	for i := range contenders {
		r.worth[i] = 1
		if !contenders[i].rival {
			r.worth[i] = 9
		}
	}
	r.worth[5] = 4
	if !contenders[5].rival || r.rival() != 4 {
		t.Errorf("the best rival has %v, want 4", r.rival())
	}
}

// What a job runs in a slot is what its schedule has there; slots that are past are forgotten, and one that is to come waits.
func TestOrder(t *testing.T) {
	plan := func(slot int, workers int64) primaldual.SlotPlan {
		return primaldual.SlotPlan{Slot: slot, Workers: []apportion.Placement{{Server: 0, Count: workers}}}
	}
	l := &learned{schedules: map[string]primaldual.Schedule{"a": {plan(2, 1), plan(3, 2), plan(6, 3)}}}
	for _, test := range []struct {
		slot int
		want int64
		left int
	}{{1, 0, 3}, {2, 1, 3}, {4, 0, 1}, {6, 3, 1}, {7, 0, 0}} {
		got := l.order("a", test.slot)
		count := int64(0)
		for _, p := range got.On {
			count += p.Count
		}
		if got.Job != "a" || count != test.want || len(l.schedules["a"]) != test.left {
			t.Errorf("slot %d: %+v with %d plans left, want %d workers and %d plans", test.slot, got, len(l.schedules["a"]), test.want, test.left)
		}
	}
}
