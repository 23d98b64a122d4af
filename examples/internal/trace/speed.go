// This file reads measured training speed as a function of the resources given.

package trace

import (
	"io"
	"iter"
	"time"
)

// Throughput is the speed of a type of job on a number of GPUs.
type Throughput struct {
	GPUModel, JobType string
	GPUs              Maybe[int64]
	// StepsPerSecond is 0 where the job does not fit.
	StepsPerSecond Maybe[float64]
}

// Throughputs reads training speeds by GPU model, type of job and number of GPUs.
func Throughputs(file string, in io.Reader) iter.Seq2[Throughput, error] {
	return rows(file, in, []string{"gpu_model", "job_type", "gpus", "steps_per_s"}, func(r *row) Throughput {
		return Throughput{
			GPUModel:       r.id("gpu_model"),
			JobType:        r.id("job_type"),
			GPUs:           r.count("gpus"),
			StepsPerSecond: r.number("steps_per_s"),
		}
	})
}

// StepTime is how long one training step of an application takes.
type StepTime struct {
	App string
	// Placement has one digit for each node, its number of GPUs; empty where only the numbers of
	// nodes and GPUs are known.
	Placement   string
	GPUs, Nodes Maybe[int64]
	// LocalBatch is the batch size of one GPU, in samples.
	LocalBatch Maybe[int64]
	// Step is the whole step, Sync its part spent on synchronising.
	Step, Sync Maybe[time.Duration]
}

// stepTimeColumns are the columns that both sorts of table have.
var stepTimeColumns = []string{"app", "gpus", "nodes", "local_bsz", "step_s", "sync_s"}

// Placements reads step times by placement.
func Placements(file string, in io.Reader) iter.Seq2[StepTime, error] {
	// The literal has no room to spare, so append copies and stepTimeColumns stays as it is.
	columns := append([]string{"placement"}, stepTimeColumns...)
	return rows(file, in, columns, func(r *row) StepTime {
		// Only this table has the placement, so that the common part is read first.
		time := decodeStepTime(r)
		time.Placement = r.id("placement")
		return time
	})
}

// Scalability reads step times by number of nodes and GPUs.
func Scalability(file string, in io.Reader) iter.Seq2[StepTime, error] {
	return rows(file, in, stepTimeColumns, decodeStepTime)
}

// decodeStepTime reads what both sorts of table have.
func decodeStepTime(r *row) StepTime {
	return StepTime{
		App:        r.id("app"),
		GPUs:       r.count("gpus"),
		Nodes:      r.count("nodes"),
		LocalBatch: r.count("local_bsz"),
		Step:       r.seconds("step_s"),
		Sync:       r.seconds("sync_s"),
	}
}
