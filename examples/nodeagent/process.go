//go:build linux

// This file starts training jobs as processes of this machine, and reads what jobs print: the
// container monitor of [Zheng] §4.1.2.

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/apportion/apportion/examples/nodeagent/train"
)

// job is a training process to be started.
type job struct {
	name  string
	start time.Duration
	train train.Job
}

// arguments make this program the job.
func (j job) arguments() []string {
	return []string{
		"train", fmt.Sprint(j.train.Epochs), fmt.Sprint(j.train.Hidden), fmt.Sprint(j.train.Rate), fmt.Sprint(j.train.Seed),
	}
}

// runner starts jobs. They share one CPU: FlowCon's worker.
type runner interface {
	// start starts a job, which the context kills. The caller finishes the process.
	start(ctx context.Context, j job) (*process, error)
}

// process is a job that was started.
type process struct {
	job
	pid       int
	container string // its ID, if it is in one
	output    io.ReadCloser
	wait      func() error  // for the end, after all output
	started   time.Duration // since the start of the run

	mu     sync.Mutex
	loss   float64
	values int
	// The reading before: when, and how much CPU had been used.
	readAt   time.Duration
	readUsed time.Duration
}

// finish reads all that the process prints and waits for its end.
func (p *process) finish() error {
	readErr := p.read(p.output)
	p.output.Close() // a process that could not be read must not wait for its reader
	if err := p.wait(); err != nil {
		return err
	}
	return readErr
}

// local starts jobs as children on one CPU.
type local struct{ cpu int }

func (l local) start(ctx context.Context, j job) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, j.arguments()...)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(l.cpu, cmd); err != nil {
		return nil, err
	}
	return &process{job: j, pid: cmd.Process.Pid, output: output, wait: cmd.Wait}, nil
}

// exit is the end of a process.
type exit struct {
	*process
	err error
}

// startOn starts a command on one CPU: a child inherits the CPUs of the thread that starts it.
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

// lastCPU returns the last CPU that this process may use.
func lastCPU() (int, error) {
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

// read keeps the newest loss of lines "epoch loss". Other lines are skipped: jobs print more.
func (p *process) read(output io.Reader) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var epoch int
		var loss float64
		if n, _ := fmt.Sscan(lines.Text(), &epoch, &loss); n == 2 {
			p.mu.Lock()
			p.loss, p.values = loss, p.values+1
			p.mu.Unlock()
		}
	}
	return lines.Err()
}

// newest returns the newest loss, and whether there is one.
func (p *process) newest() (loss float64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loss, p.values > 0
}
