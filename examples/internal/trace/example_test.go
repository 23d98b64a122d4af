package trace_test

import (
	"fmt"
	"strings"

	"github.com/apportion/apportion/examples/internal/trace"
)

func ExampleJobs() {
	text := "job_id,submit_s,duration_s,gpus,cpus,mem_gb,user,group,tasks,queue_s,est_s,status,kind\n" +
		"a,0,5400,8,,,,cluster07,8,,,,bert\n" +
		"b,60,,-1,,,,cluster07,1,,,,\n"
	for job, err := range trace.Jobs("day.csv", strings.NewReader(text)) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(job.ID, job.GPUs.Value, "GPUs,", job.Duration.Value)
	}
	// Output:
	// a 8 GPUs, 1h30m0s
	// day.csv:3: gpus: is negative: "-1"
}
