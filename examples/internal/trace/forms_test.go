// This file checks that jobs are read in the forms of others.

package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/examples/internal/trace"
	"github.com/apportion/apportion/internal/must"
)

// anyJobs is what is read of a text, a line for each job.
func anyJobs(text string) (string, error) {
	var got strings.Builder
	for job, err := range trace.AnyJobs("jobs", strings.NewReader(text)) {
		if err != nil {
			return got.String(), err
		}
		fmt.Fprintf(&got, "%s %v ran %v waited %v gpus %v cpus %v mem %v %s/%s %s %s\n", job.ID, job.Submit, job.Duration, job.Queue, job.GPUs, job.CPUs, job.MemGB, job.User, job.Group, job.Status, job.Kind)
	}
	return got.String(), nil
}

const (
	sacctHead  = "JobID|User|Partition|Submit|Start|End|AllocTRES|State\n"
	sacctText  = sacctHead + "7|ann|gpu|2026-03-01T10:00:30|2026-03-01T10:01:00|2026-03-01T11:01:00|billing=8,cpu=8,gres/gpu=4,gres/gpu:a=1,gres/gpu:b=3,mem=64G,node=1|COMPLETED\n7.batch|||2026-03-01T10:01:00|2026-03-01T10:01:00|2026-03-01T11:01:00|cpu=8|COMPLETED\n6_1|bob|\"gpu|2026-03-01T10:00:00|Unknown|Unknown||PENDING\n8|ann|gpu|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T10:00:05|cpu=2,gres/gpu:a=2|FAILED\n"
	phillyText = `[{"status": "Pass", "vc": "v1", "jobid": "application_1", "user": "u1", "submitted_time": "2017-10-09 07:02:00", "attempts": [
 {"start_time": "2017-10-09 07:03:00", "end_time": "2017-10-09 07:04:00", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
 {"start_time": "2017-10-09 08:00:00", "end_time": "2017-10-09 08:00:30", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu3"]}]}]},
{"status": "Killed", "vc": "v2", "jobid": "application_2", "submitted_time": "2017-10-09 07:01:00", "attempts": [{"start_time": "None", "end_time": null, "detail": []}]}, {"jobid": "application_3", "submitted_time": "2017-10-09 07:01:30", "attempts": []}]`
	podText = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\np1,6000,2048,1,460,,LS,Running,100,300,110\np2,1500,1024,4,1000,V100,BE,Failed,90,,\n"
)

func TestAnyJobs(t *testing.T) {
	for text, want := range map[string]string{
		sacctText: "7 30s ran {1h0m0s true} waited {30s true} gpus {4 true} cpus {8 true} mem {0 false} ann/gpu COMPLETED \n" +
			"6_1 0s ran {0s false} waited {0s false} gpus {0 false} cpus {0 false} mem {0 false} bob/'gpu PENDING \n" +
			"8 24h0m0s ran {5s true} waited {0s true} gpus {2 true} cpus {2 true} mem {0 false} ann/gpu FAILED \n",
		phillyText: "application_1 1m0s ran {1m30s true} waited {1m0s true} gpus {3 true} cpus {0 false} mem {0 false} u1/v1 Pass \n" +
			"application_2 0s ran {0s false} waited {0s false} gpus {0 false} cpus {0 false} mem {0 false} /v2 Killed \n" +
			"application_3 30s ran {0s false} waited {0s false} gpus {0 false} cpus {0 false} mem {0 false} /  \n",
		podText: "p1 10s ran {3m10s true} waited {10s true} gpus {0.46 true} cpus {6 true} mem {2 true} / Running LS\n" +
			"p2 0s ran {0s false} waited {0s false} gpus {4 true} cpus {1.5 true} mem {1 true} / Failed BE\n",
		"job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind\na,5,7,2,,,,g,,,,,\n": "a 5s ran {7s true} waited {0s false} gpus {2 true} cpus {0 false} mem {0 false} /g  \n",
	} {
		got, err := anyJobs(text)
		must.Do(t, err)
		must.Equal(t, got, want)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err = io.WriteString(w, text)
		must.Do(t, errors.Join(err, w.Close()))
		got, err = anyJobs(packed.String())
		must.Do(t, err)
		must.Equal(t, got, want, "packed")
	}
}

// A fault in another form names the file, and the line and column where there are some.
func TestAnyJobsFaults(t *testing.T) {
	for text, want := range map[string]struct {
		err  error
		says string
	}{
		"":                                      {apportion.ErrEmpty, "jobs: "},
		"JobID|Submit\n1|2026-03-01T10:00:00\n": {trace.ErrColumn, "jobs:1: Start: "},
		sacctHead + "1|a|p|Unknown|Unknown|Unknown||PENDING\n":    {apportion.ErrEmpty, "jobs:2: Submit: "},
		sacctHead + "1|a|p|2026-13-01T10:00:00|x|x||PENDING\n":    {trace.ErrNumber, "jobs:2: Submit: "},
		strings.Replace(podText, "1,460", "-1,460", 1):            {apportion.ErrNegative, "jobs:2: num_gpu: "},
		phillyText[:len(phillyText)-1]:                            {io.ErrUnexpectedEOF, "jobs: "},
		phillyText[:200]:                                          {io.ErrUnexpectedEOF, "jobs: "},
		`[{"jobid": "x", "submitted_time": "None"}]`:              {trace.ErrNumber, `jobs: job "x": submitted_time`},
		`[{"jobid": "` + strings.Repeat("x", 1<<21) + `"}]`:       {trace.ErrTooLong, "jobs: "},
		"\x1f\x8b" + strings.Repeat("no gzip", 3) + sacctHead[:5]: {gzip.ErrHeader, "jobs: "},
	} {
		got, err := anyJobs(text)
		must.Err(t, err, want.err, got)
		if err != nil && !strings.HasPrefix(err.Error(), want.says) {
			t.Errorf("%v, want %s...", err, want.says)
		}
	}
}
