//go:build linux

// This file starts training processes and reads what they print: the container monitor of [Zheng]
// §4.1.2.

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

// process is a job that was started.
type process struct {
	job
	cmd     *exec.Cmd
	started time.Duration // since the start of the run

	mu     sync.Mutex
	loss   float64
	values int
	// The reading before: when, and how much CPU had been used.
	readAt   time.Duration
	readUsed time.Duration
}

// start starts a job on one CPU, which all processes share: FlowCon's worker. Its exit is sent to
// exits. The context kills it.
func start(ctx context.Context, j job, cpu int, exits chan<- exit) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{job: j}
	p.cmd = exec.CommandContext(ctx, program, "train", fmt.Sprint(j.train.Epochs), fmt.Sprint(j.train.Hidden),
		fmt.Sprint(j.train.Rate), fmt.Sprint(j.train.Seed))
	p.cmd.Stderr = os.Stderr
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(cpu, p.cmd); err != nil {
		return nil, err
	}
	go func() {
		readErr := p.read(output)
		err := p.cmd.Wait()
		if err == nil {
			err = readErr
		}
		exits <- exit{p, err}
	}()
	return p, nil
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
