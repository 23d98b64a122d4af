// This file tests every reader on rows as the public traces have them.

package trace

import (
	"bytes"
	"compress/gzip"
	"iter"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion/internal/must"
)

// collect returns the rows before the first error, and the error.
func collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for row, err := range rows {
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
	return all, nil
}

// wantRows fails unless the reader gives exactly want.
func wantRows[T any](t *testing.T, rows iter.Seq2[T, error], want ...T) {
	t.Helper()
	got := must.Have(collect(rows))(t)
	must.Equal(t, cmp.Diff(want, got), "")
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	must.Have(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	return packed.Bytes()
}

var fixtureJobs = []Job{
	{
		ID: "j0", Duration: Known(18431*time.Second + 920*time.Millisecond), GPUs: Known(0.46), CPUs: Known(6.0),
		MemGB: Known(12.0), User: "u0", Group: "g0", Tasks: Known(int64(1)), Queue: Known(time.Duration(0)),
		Estimate: Known(6 * time.Hour), Status: "Pass", Kind: "LS", Extra: map[string]string{"batch_size": "128"},
	},
	{
		ID: "j1", Submit: 1126233 * time.Second, GPUs: Known(8.0), Extra: map[string]string{"batch_size": ""},
	},
	{
		ID: "j2", Submit: 12537496*time.Second + 500*time.Millisecond, Duration: Known(4399 * time.Second),
		GPUs: Known(0.0), Group: "g1", Tasks: Known(int64(2)), Queue: Known(3962980 * time.Second), Status: "Failed",
		Kind: "gpt2", Extra: map[string]string{"batch_size": ""},
	},
}

// An unknown duration (j1) must not become a duration of zero, nor a known zero (j2's GPUs) unknown.
func TestJobs(t *testing.T) {
	for _, name := range []string{"testdata/files/jobs.csv", "testdata/files/jobs.csv.gz"} {
		f := must.Have(os.Open(name))(t)
		wantRows(t, Jobs(name, f), fixtureJobs...)
		must.Do(t, f.Close())
	}
}

func TestJobsWithoutExtraColumnsHaveNoMap(t *testing.T) {
	text := strings.Join(jobColumns, ",") + "\nj,0,,,,,,,,,,,\n"
	wantRows(t, Jobs("jobs", strings.NewReader(text)), Job{ID: "j"})
}

func TestColumnsInAnyOrder(t *testing.T) {
	text := "value,step,t_s\n0.5,3,1.25\n"
	wantRows(t, Curve("curve", strings.NewReader(text)),
		Point{Step: Known(3.0), At: Known(1250 * time.Millisecond), Value: Known(0.5)})
}

// A run that diverged has real NaN and infinite values; a missing value is none of these.
func TestCurveKeepsDivergence(t *testing.T) {
	points := must.Have(collect(Curve("curve", strings.NewReader("step,t_s,value\n1,,nan\n2,,inf\n3,,-inf\n4,,\n5,,-1.5\n"))))(t)
	values := make([]Maybe[float64], 0, len(points))
	for _, p := range points {
		if p.At.Known {
			t.Errorf("step %v: a time of %v, want none", p.Step.Value, p.At.Value)
		}
		values = append(values, p.Value)
	}
	if !values[0].Known || !math.IsNaN(values[0].Value) {
		t.Errorf("first value %v, want a known NaN", values[0])
	}
	want := []Maybe[float64]{Known(math.Inf(1)), Known(math.Inf(-1)), {}, Known(-1.5)}
	must.Equal(t, cmp.Diff(want, values[1:]), "")
}

func TestCurveIndex(t *testing.T) {
	text := "file,points,family,model,dataset,metric,better,t_s_is,note\n" +
		`a.csv,500,transformer (GPT),"GPT-2 124M, Muon",FineWeb,"training loss (every step, thinned)",min,measured,` + "\n"
	wantRows(t, CurveIndex("INDEX", strings.NewReader(text)), CurveInfo{
		File: "a.csv", Points: Known(int64(500)), Family: "transformer (GPT)", Model: "GPT-2 124M, Muon",
		Dataset: "FineWeb", Metric: "training loss (every step, thinned)", Better: "min", TimeIs: "measured"})
}

func TestThroughputs(t *testing.T) {
	text := "gpu_model,job_type,gpus,steps_per_s\nk80,ResNet-18 (batch size 16),1,4.795295\n"
	wantRows(t, Throughputs("speed", strings.NewReader(text)), Throughput{
		GPUModel: "k80", JobType: "ResNet-18 (batch size 16)", GPUs: Known(int64(1)), StepsPerSecond: Known(4.795295)})
}

func TestStepTimes(t *testing.T) {
	want := StepTime{App: "cifar10", GPUs: Known(int64(6)), Nodes: Known(int64(2)), LocalBatch: Known(int64(32)),
		Step: Known(140906 * time.Microsecond), Sync: Known(99412 * time.Microsecond)}
	wantRows(t, Scalability("s", strings.NewReader("app,nodes,gpus,local_bsz,step_s,sync_s\ncifar10,2,6,32,0.140906,0.099412\n")), want)
	want.Placement = "24"
	wantRows(t, Placements("p", strings.NewReader(
		"app,placement,gpus,nodes,local_bsz,step_s,sync_s\ncifar10,24,6,2,32,0.140906,0.099412\n")), want)
}
