// This file runs the programs of a cluster as child processes and starts each again when it ends, as a
// service manager does.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/examples/studies/inhouse/master"
)

// Cluster is a master and agents as processes.
// Its methods may be called while programs die and start, but not beside Stop.
type Cluster struct {
	Place    Place
	services []*service
}

// AsProgram is set in the environment of every program and process of a cluster: it tells a test binary
// to be the program.
const AsProgram = "APPORTION_CLUSTER"

// Program is one to run: the arguments of this executable, and what runs it, for instance taskset; nil:
// nothing does.
type Program struct {
	Name string
	Args []string
	By   []string
}

// Start runs the programs until Stop. What they print is in logs in the place.
func Start(p Place, programs []Program) (*Cluster, error) {
	if err := os.MkdirAll(p.Join("logs"), 0o700); err != nil {
		return nil, err
	}
	c := &Cluster{Place: p}
	for _, program := range programs {
		if err := c.start(program); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	return c, nil
}

// service is a program that is started again whenever it ends.
// mu guards the process: keep replaces it while others signal it.
type service struct {
	name string
	argv []string
	log  *os.File

	mu      sync.Mutex
	process *os.Process
	stopped bool
	done    chan struct{}
}

// restartPause is between the end of a program and its next start.
// A program that cannot start would otherwise use a whole processor.
const restartPause = 100 * time.Millisecond

// The log begins anew.
func (c *Cluster) start(program Program) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(c.Place.Join("logs", program.Name+".log"))
	if err != nil {
		return err
	}
	argv := append(append(append([]string{}, program.By...), self), program.Args...)
	s := &service{name: program.Name, argv: argv, log: log, done: make(chan struct{})}
	c.services = append(c.services, s)
	go s.keep()
	return nil
}

func (s *service) keep() {
	defer close(s.done)
	for {
		cmd, err := s.begin()
		if err != nil {
			fmt.Fprintln(s.log, err)
		}
		if cmd != nil {
			fmt.Fprintln(s.log, s.name, "ended:", cmd.Wait())
		}
		if s.isStopped() {
			return
		}
		time.Sleep(restartPause)
	}
}

// Stop and Down set it from other goroutines.
func (s *service) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// begin starts the program unless the service was stopped.
// nil and no error: there is nothing to start any more.
func (s *service) begin() (*exec.Cmd, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, nil
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	cmd.Env = append(os.Environ(), AsProgram+"=1")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.process = cmd.Process
	return cmd, nil
}

// kill ends the program with signal 9; keep starts it again.
func (s *service) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Kill() // it may have ended by itself
	}
}

// Kill ends a random program, or a random process of a job, with signal 9 and says which; "" if there was
// none.
func (c *Cluster) Kill(random *rand.Rand) string {
	if n := random.IntN(2 * len(c.services)); n < len(c.services) {
		c.services[n].kill()
		return c.services[n].name
	}
	processes := c.Place.Processes()
	if len(processes) == 0 {
		return ""
	}
	p := processes[random.IntN(len(processes))]
	p.Kill()
	return fmt.Sprintf("process %d of job %s", p.Rank, p.Job)
}

// KillProgram ends a program with signal 9, if there is one of that name.
func (c *Cluster) KillProgram(name string) { c.each(name, (*service).kill) }

// Down ends a program with signal 9, and does not start it again.
func (c *Cluster) Down(name string) {
	c.each(name, func(s *service) {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		s.kill()
	})
}

// Signal sends a signal to a program, for instance one that stops it.
func (c *Cluster) Signal(name string, sig os.Signal) {
	c.each(name, func(s *service) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.process != nil {
			_ = s.process.Signal(sig) // it may have ended by itself
		}
	})
}

func (c *Cluster) each(name string, do func(*service)) {
	for _, s := range c.services {
		if s.name == name {
			do(s)
		}
	}
}

// Kill ends the process with signal 9.
func (p *Process) Kill() {
	if process, err := os.FindProcess(p.PID); err == nil {
		_ = process.Kill() // it may have ended by itself
	}
}

// Await waits until these servers have registered.
func (c *Cluster) Await(ctx context.Context, servers []apportion.Server) error {
	return Patiently(ctx, func(ctx context.Context) error {
		var l master.List
		if err := c.Place.Call(ctx, "/list", master.Nothing{}, &l); err != nil {
			return err
		}
		if len(l.Servers) < len(servers) {
			return fmt.Errorf("%d of %d servers have registered", len(l.Servers), len(servers))
		}
		return nil
	})
}

// Stop kills all programs and then what is left of their jobs.
func (c *Cluster) Stop() error {
	for _, s := range c.services {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		s.kill()
	}
	var err error
	for _, s := range c.services {
		<-s.done
		err = errors.Join(err, s.log.Close())
	}
	for _, p := range c.Place.Processes() {
		p.Kill()
	}
	return err
}

// Log returns what a program has printed.
func (c *Cluster) Log(name string) string {
	text, err := os.ReadFile(c.Place.Join("logs", name+".log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// Patiently repeats a call that may meet a master which is dead or dying, until it works, is refused, or the
// context ends.
// A single call may take five seconds. Refused means that the master has understood and said no.
func Patiently(ctx context.Context, do func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := do(limited)
		cancel()
		if err == nil || wire.Refused(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
