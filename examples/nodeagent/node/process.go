//go:build linux

// This file starts training jobs as processes of this machine, and reads what jobs print: the
// container monitor of [Zheng] §4.1.2.

package node

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/apportion/apportion/growth"
	"golang.org/x/sys/unix"
)

// Job is a training process to be started.
type Job struct {
	Name string
	// Start is when it starts, from the start of the run.
	Start time.Duration
	// Argv is its program and the arguments; Env its environment as in os.Environ, nil: that of this
	// process.
	Argv, Env []string
	// Read takes the evaluation function from a line of output; ok is false for lines that do not have
	// it: jobs print more.
	Read func(line []byte) (value float64, ok bool)
	// Better says which of its values are better; EitherWay where nobody knows.
	Better growth.Direction
	// Stderr gets what the job prints there; nil: this process's.
	Stderr io.Writer
}

// Runner starts jobs. They share one CPU: FlowCon's worker.
type Runner interface {
	// start starts a job, which the context kills. The caller finishes the process.
	start(ctx context.Context, j *Job) (*Process, error)
}

// Process is a job that was started.
// mu guards the values, which one goroutine reads from the job and another asks for.
type Process struct {
	*Job
	pid       int
	container string // its ID, if it is in one
	output    io.ReadCloser
	wait      func() error  // for the end, after all output
	started   time.Duration // since the start of the run

	mu     sync.Mutex
	value  float64 // the newest
	values int
	first  firstValue

	counter growth.Counter // of the CPU time at readings
	opened  bool           // a run has taken a reading
}

// firstValue is the first value of a job's evaluation function, when it came, and the CPU time until then.
type firstValue struct {
	value float64
	at    time.Time
	used  time.Duration
}

// finish reads all that the process prints and waits for its end.
// It is called once, in a goroutine of its own.
func (p *Process) finish() error {
	readErr := p.read(p.output)
	p.output.Close() // a process that could not be read must not wait for its reader
	if err := p.wait(); err != nil {
		return err
	}
	return readErr
}

// local starts jobs as children on one CPU.
// The process is a child and ends with the context.
type local struct{ cpu int }

// The caller reads the output to its end, or the process would wait for it.
func (l local) start(ctx context.Context, j *Job) (*Process, error) {
	cmd := exec.CommandContext(ctx, j.Argv[0], j.Argv[1:]...)
	cmd.Env, cmd.Stderr = j.Env, j.stderr()
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(l.cpu, cmd); err != nil {
		return nil, err
	}
	return &Process{Job: j, pid: cmd.Process.Pid, output: output, wait: cmd.Wait}, nil
}

// What nobody asks for is seen by whoever runs the agent.
func (j *Job) stderr() io.Writer {
	if j.Stderr == nil {
		return os.Stderr
	}
	return j.Stderr
}

// exit is the end of a process.
type exit struct {
	*Process
	err error
}

// startOn starts a command on one CPU: a child inherits the CPUs of the thread that starts it.
// The thread has its own CPUs back before it is used for anything else.
func startOn(cpu int, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	err := cmd.Start()
	if restoreErr := unix.SchedSetaffinity(0, &before); err == nil {
		err = restoreErr
	}
	return err
}

// LastCPU returns the last CPU that this process may use.
func LastCPU() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, err
	}
	last := 0
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			last = cpu
		}
	}
	return last, nil
}

// read keeps the first and the newest value.
// A line may be at most 64 KiB long.
func (p *Process) read(output io.Reader) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if value, ok := p.Read(lines.Bytes()); ok {
			p.mu.Lock()
			if p.values == 0 {
				used, _ := CPUTime(p.pid) // it may have ended
				p.first = firstValue{value, time.Now(), used}
			}
			p.value, p.values = value, p.values+1
			p.mu.Unlock()
		}
	}
	return lines.Err()
}

// newest returns the newest value and the first, and whether there is one.
func (p *Process) newest() (value float64, first firstValue, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value, p.first, p.values > 0
}
