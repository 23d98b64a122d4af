// This file implements what a test does to a Server, and what it sees of it.

package agenttest

import (
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/runner"
)

// Work lets every process that lives do a number of steps.
//
// It stands for time in which training goes on; the numbers are for checks of what was saved and
// restored.
func (s *Server) Work(steps int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.jobs {
		if h.running != 0 {
			h.progress.Step += steps
		}
	}
}

// Finish lets the processes of a job end well. Where none live it does nothing, as Kill.
func (s *Server) Finish(job string) { s.exit(job, runner.Progress{Done: true}) }

// Kill ends the processes of a job by accident.
func (s *Server) Kill(job string) { s.exit(job, runner.Progress{Failed: "signal: killed"}) }

// exit ends the processes of a job, if any live, and says how from then on. Containers and marks stay: the agent learns of it as of
// any death, when it looks.
func (s *Server) exit(job string, end runner.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(job)
	if h.running == 0 {
		return
	}
	// The step stays as it was: a process that dies takes back nothing of what it has told.
	end.Step = h.progress.Step
	h.running, h.progress = 0, end
}

// Alive returns the attempts of a job whose processes live here.
//
// It looks at the lease first, as processes do that end by themselves.
func (s *Server) Alive(job string) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lapse()
	if running := s.host(job).running; running != 0 {
		return []int64{running}
	}
	return nil
}

// Starts returns how often processes of an attempt were started here, also after the server has lost its memory.
func (s *Server) Starts(job string, attempt int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host(job).starts[attempt]
}

// Containers returns how many containers a job has here, whether or not processes live in them.
func (s *Server) Containers(job string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host(job).containers
}

// Restart is what a kill and a new start of the agent do: another process has the same memory.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives++
	if s.broken == forgetsWitness {
		s.witness = checkpoint.Witness{}
	}
}

// Forget robs the server of its memory. Processes go with it.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives++
	if s.broken != keepsName {
		s.memories++
	}
	s.epoch, s.heard, s.witness = 0, agent.Lease{}, checkpoint.Witness{}
	for _, h := range s.jobs {
		// The starts are kept, because they are the test's memory and not the server's.
		h.Marks, h.containers, h.running, h.progress = agent.Marks{}, 0, 0, runner.Progress{}
	}
}
