// This file throws arbitrary bytes at the readers.

package trace

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apportion/apportion/internal/must"
)

// FuzzJobs checks that a reader of any form never panics, that an error is an *Error and the last thing it
// gives, and that rows keep the contract.
func FuzzJobs(f *testing.F) {
	for _, name := range []string{"testdata/files/jobs.csv", "testdata/files/jobs.csv.gz"} {
		data := must.Have(os.ReadFile(name))(f)
		f.Add(data)
	}
	for _, text := range []string{"JobID|User|Submit|Start|End|AllocTRES\n7|a|2026-03-01T10:00:30|2026-03-01T10:01:00|Unknown|cpu=8,gres/gpu:a=1\n7.0|||||\n",
		`[{"jobid": "a", "submitted_time": "2017-10-09 07:02:00", "attempts": [{"start_time": "2017-10-09 07:03:00", "end_time": "None", "detail": [{"gpus": ["g"]}]}]}]`,
		strings.Join(podColumns, ",") + "\np,6000,2048,1,460,1,,3\n"} {
		f.Add([]byte(text))
	}
	f.Add([]byte(strings.Join(jobColumns, ",") + "\nj,1e9,-0,1e-400,0x1p-2,_,,,,,,,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		failed := false
		for job, err := range AnyJobs("fuzz", bytes.NewReader(data)) {
			if failed {
				t.Fatal("a row after an error")
			}
			if err != nil {
				failed = true
				if fault := (*Error)(nil); !errors.As(err, &fault) || fault.File != "fuzz" {
					t.Errorf("error %v, want an *Error of file fuzz", err)
				}
				continue
			}
			checkContract(t, &job)
		}
	})
}

func checkContract(t *testing.T, job *Job) {
	t.Helper()
	if job.ID == "" || job.Submit < 0 || job.Duration.Value < 0 || job.Queue.Value < 0 || job.Estimate.Value < 0 {
		t.Errorf("an empty id or a negative time: %+v", job)
	}
	for _, x := range []Maybe[float64]{job.GPUs, job.CPUs, job.MemGB} {
		if !(x.Value >= 0) || math.IsInf(x.Value, 1) || !x.Known && x.Value != 0 {
			t.Errorf("quantity %v: %+v", x, job)
		}
	}
	if job.Tasks.Value < 0 {
		t.Errorf("%d tasks", job.Tasks.Value)
	}
}
