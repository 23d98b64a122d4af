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
// The attempt is told of by Status, as done, until a Stop names it: so a master learns of the end that
// was not there to see it.
func (s *Server) Finish(job string) { s.exit(job, runner.Progress{Done: true}) }

// Kill ends the processes of a job by accident.
// Nobody is told. A master learns of it by the next Status, or by a Save or a Confirm that fails.
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
//
// It is what neither Alive nor Status shows: whether a process that lives is the first one of its attempt.
func (s *Server) Starts(job string, attempt int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host(job).starts[attempt]
}

// Containers returns how many containers a job has here, whether or not processes live in them.
// The newest Create or Release has left them; the end of the lease takes away those in which processes
// lived.
func (s *Server) Containers(job string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host(job).containers
}

// Restart is what a kill and a new start of the agent do: another process has the same memory.
//
// Marks, epoch and witness stay, as in a book on a disk, and processes live on, as they do below guards.
// Only the life in the server's incarnation is another.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives++
	if s.broken == forgetsWitness {
		s.witness = checkpoint.Witness{}
	}
}

// Forget robs the server of its memory. Processes go with it.
//
// It is a machine that was set up anew under its old name: the book in its incarnation is another, too, which
// is all that tells a master not to rely on what it has stopped there before.
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
