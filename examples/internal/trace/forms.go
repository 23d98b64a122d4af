// This file reads jobs in the forms in which clusters print and publish them.

package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
)

// AnyJobs reads jobs in a form that the beginning of the file tells: that of [Jobs]; what "sacct -P" prints with JobID, Submit, Start, End and
// AllocTRES, steps left out; the log of jobs of Microsoft's Philly clusters, which is JSON; and Alibaba's list of pods of 2023. Of the last
// three all jobs are read before the first comes, since Submit counts from the earliest.
func AnyJobs(file string, in io.Reader) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		plain, err := decompress(in)
		if err != nil {
			yield(Job{}, &Error{File: file, Err: err})
			return
		}
		buffered := bufio.NewReaderSize(plain, maxHeader)
		head, _ := buffered.Peek(maxHeader) // what is wrong with it its reader says
		line, _, _ := bytes.Cut(head, []byte("\n"))
		jobs := Jobs(file, buffered)
		switch {
		case bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")):
			jobs = fromFirst(philly(file, buffered))
		case bytes.Contains(line, []byte("|")):
			jobs = fromFirst(rowsOf(file, unquoted{buffered}, '|', sacctColumns, sacct))
		case bytes.Contains(line, []byte("cpu_milli")):
			jobs = fromFirst(rows(file, buffered, podColumns, pod))
		}
		jobs(yield)
	}
}

// maxHeader is how many bytes a line of names may have.
const maxHeader = 1 << 14

// fromFirst counts Submit from the earliest, and leaves out jobs without an ID.
func fromFirst(jobs iter.Seq2[Job, error]) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		var all []Job
		first := time.Duration(math.MaxInt64)
		for job, err := range jobs {
			if err != nil {
				yield(Job{}, err)
				return
			}
			if job.ID != "" {
				all, first = append(all, job), min(first, job.Submit)
			}
		}
		for i := range all {
			all[i].Submit -= first
			if !yield(all[i], nil) {
				return
			}
		}
	}
}

// unquoted has other marks in place of quotation marks, which mean nothing to sacct: users may begin a name with one.
type unquoted struct{ io.Reader }

// Read implements io.Reader.
func (u unquoted) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	for i := range p[:n] {
		if p[i] == '"' {
			p[i] = '\''
		}
	}
	return n, err
}

var (
	sacctColumns = []string{"JobID", "Submit", "Start", "End", "AllocTRES"}
	podColumns   = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time", "scheduled_time", "deletion_time"}
)

// sacct decodes a job of Slurm's; a step, as 12.batch, has no ID.
func sacct(r *row) Job {
	if strings.Contains(r.text("JobID"), ".") {
		return Job{}
	}
	submit, start, end := r.moment("Submit"), r.moment("Start"), r.moment("End")
	if !submit.Known {
		r.fail("Submit", apportion.ErrEmpty)
	}
	job := Job{ID: r.id("JobID"), Submit: submit.Value, Duration: between(start, end), Queue: between(submit, start),
		User: r.optional("User"), Group: r.optional("Partition"), Status: r.optional("State")}
	for word := range strings.SplitSeq(r.text("AllocTRES"), ",") {
		name, amount, _ := strings.Cut(word, "=")
		n, err := strconv.ParseUint(amount, 10, 32)
		if err != nil {
			continue // memory, which has a unit
		}
		known := Known(float64(n))
		switch {
		case name == "cpu":
			job.CPUs = known
		case name == "gres/gpu" || strings.HasPrefix(name, "gres/gpu:") && !job.GPUs.Known:
			job.GPUs = known // the sum of all types stands before them
		}
	}
	return job
}

// moment is a time of the day as Slurm and Philly write it, since 1970; a word in its place says that it is not known.
func (r *row) moment(column string) Maybe[time.Duration] {
	at, known := moment(r.text(column))
	if !known && strings.ContainsAny(r.text(column), "0123456789") {
		r.fail(column, ErrNumber)
	}
	return Maybe[time.Duration]{at, known}
}

func moment(text string) (since time.Duration, known bool) {
	at, err := time.Parse(time.DateTime, strings.Replace(text, "T", " ", 1))
	if err != nil || at.Year() < 1970 || at.Year() > 2200 { // what a Duration holds
		return 0, false
	}
	return time.Duration(at.Unix()) * time.Second, true
}

// between is the time from one moment to another; not known where one is not, or where they are in another order.
func between(from, to Maybe[time.Duration]) Maybe[time.Duration] {
	if !from.Known || !to.Known || to.Value < from.Value {
		return Maybe[time.Duration]{}
	}
	return Known(to.Value - from.Value)
}

// optional returns the field of a column that the file need not have.
func (r *row) optional(column string) string {
	if slices.Contains(r.table.header, column) {
		return r.text(column)
	}
	return ""
}

// pod decodes a pod of Alibaba's: of each of its num_gpu it has so many thousandths.
func pod(r *row) Job {
	r.id("creation_time")
	submit, start, end := r.seconds("creation_time"), r.seconds("scheduled_time"), r.seconds("deletion_time")
	gpus, milli := r.count("num_gpu"), r.number("gpu_milli")
	part := min(milli.Value/1000, 1)
	return Job{ID: r.id("name"), Submit: submit.Value, Duration: between(start, end), Queue: between(submit, start), Kind: r.optional("qos"), Status: r.optional("pod_phase"),
		GPUs: maybe(float64(gpus.Value)*part, gpus.Known && milli.Known), CPUs: maybe(r.number("cpu_milli").Value/1000, r.text("cpu_milli") != ""),
		MemGB: maybe(r.number("memory_mib").Value/1024, r.text("memory_mib") != "")}
}

// maybe is a value that is zero unless it is known.
func maybe(value float64, known bool) Maybe[float64] {
	if !known {
		return Maybe[float64]{}
	}
	return Known(value)
}

// phillyJob is a job of the log of Philly clusters. A moment that is not known is null or a word.
type phillyJob struct {
	ID       string `json:"jobid"`
	VC       string `json:"vc"`
	User     string `json:"user"`
	Status   string `json:"status"`
	Submit   string `json:"submitted_time"`
	Attempts []struct {
		Start  string `json:"start_time"`
		End    string `json:"end_time"`
		Detail []struct {
			GPUs []string `json:"gpus"`
		} `json:"detail"`
	} `json:"attempts"`
}

// philly reads the log of Philly clusters, a job at a time.
func philly(file string, in io.Reader) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		limited := &limitedReader{in: in, left: maxRow}
		read := json.NewDecoder(limited)
		_, err := read.Token() // the bracket
		for err == nil && read.More() {
			limited.left = maxRow
			var one phillyJob
			if err = read.Decode(&one); err != nil {
				break
			}
			job, known := one.job()
			if !known {
				err = fmt.Errorf("job %q: submitted_time: %w: %q", one.ID, ErrNumber, one.Submit)
				break
			}
			if !yield(job, nil) {
				return
			}
		}
		if err == nil {
			_, err = read.Token() // the last bracket: a file that was cut off has none
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			yield(Job{}, &Error{File: file, Err: err})
		}
	}
}

// job is what the log says of a job: it has run for as long as all its attempts, with the GPUs of the last.
func (p *phillyJob) job() (job Job, known bool) {
	submit, known := moment(p.Submit)
	job = Job{ID: p.ID, Submit: submit, User: p.User, Group: p.VC, Status: p.Status}
	for i, attempt := range p.Attempts {
		from, begun := moment(attempt.Start)
		to, over := moment(attempt.End)
		ran := between(Maybe[time.Duration]{from, begun}, Maybe[time.Duration]{to, over})
		if !ran.Known {
			job.Duration = Maybe[time.Duration]{}
			break
		}
		if i == 0 {
			job.Queue = between(Known(submit), Known(from))
		}
		job.Duration = Known(job.Duration.Value + ran.Value)
		gpus := 0
		for _, server := range attempt.Detail {
			gpus += len(server.GPUs)
		}
		job.GPUs = Known(float64(gpus))
	}
	return job, known
}
