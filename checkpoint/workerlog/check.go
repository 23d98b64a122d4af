// This file implements Check: what the logs of all workers say about their jobs.

package workerlog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options say what else is known; nil: nothing.
type Options struct {
	// Slack is how far the clocks of two servers may be apart; 0: they are one.
	Slack time.Duration
	// Every is how many steps lie between two lines of a worker at most; 0: it writes a line for each.
	Every int64
	// Confirmed are checkpoints of which their master has said that they count, in any order.
	Confirmed []Confirmed
}

// Confirmed is a checkpoint that counted, at a time when somebody knew of it.
type Confirmed struct {
	Job string `json:"job"`
	// Step is the number of steps that it holds.
	Step int64 `json:"step"`
	// At is when it was known to count, in nanoseconds since 1970.
	At int64 `json:"at"`
}

// The kinds of faults, [Fault.Kind]; the package documentation says what they are.
const (
	Twice  = "twice"
	Resume = "resume"
	Lost   = "lost"
	Form   = "form"
)

// Fault is something that must not be in logs.
type Fault struct {
	Kind string `json:"kind"`
	Job  string `json:"job"`
	Text string `json:"text"`
}

// Error returns the fault in words.
func (f *Fault) Error() string {
	return fmt.Sprintf("workerlog: %s: job %q: %s", f.Kind, f.Job, f.Text)
}

// life is a process of a job, with its lines in the order in which it wrote them.
type life struct {
	lines       []Line
	first, last Line
}

// Check returns all faults in the logs of all workers, joined, each a [*Fault]; nil: there is none. The lines of one
// process are in the order in which they were written, as [ReadAll] returns them.
//
// O(lines + processes of a job squared).
func Check(lines []Line, o *Options) error {
	o = cmp.Or(o, &Options{})
	jobs := map[string][]*life{}
	for _, l := range livesOf(lines) {
		jobs[l.first.Job] = append(jobs[l.first.Job], l)
	}
	var errs []error
	for job, lives := range jobs {
		slices.SortFunc(lives, func(a, b *life) int {
			return cmp.Or(cmp.Compare(a.first.Attempt, b.first.Attempt), cmp.Compare(a.first.At, b.first.At), cmp.Compare(a.first.Life, b.first.Life))
		})
		c := &checker{o: o, job: job, lives: lives}
		c.check()
		errs = append(errs, c.faults...)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// livesOf divides lines by the processes that wrote them, in the order of their first lines. A name of a process counts within
// its attempt only: a worker that writes the same one twice is then seen as two that overlap, or as a fault of form.
func livesOf(lines []Line) []*life {
	type key struct {
		job     string
		attempt int64
		life    string
	}
	var all []*life
	known := map[key]*life{}
	for _, line := range lines {
		k := key{line.Job, line.Attempt, line.Life}
		l := known[k]
		if l == nil {
			l = &life{first: line}
			known[k] = l
			all = append(all, l)
		}
		l.lines, l.last = append(l.lines, line), line
	}
	return all
}

// checker checks one job, whose processes are in the order of attempts.
type checker struct {
	o      *Options
	job    string
	lives  []*life
	faults []error
}

func (c *checker) fault(kind, format string, args ...any) {
	c.faults = append(c.faults, &Fault{kind, c.job, fmt.Sprintf(format, args...)})
}

func (l *life) String() string {
	return fmt.Sprintf("attempt %d rank %d on %s (%s)", l.first.Attempt, l.first.Rank, l.first.Server, l.first.Life)
}

// check finds all faults. Each process is held against itself and against all before it, and the attempts against each other.
// O(processes squared, and lines for each pair that overlaps).
func (c *checker) check() {
	for i, l := range c.lives {
		c.checkForm(l)
		c.checkSteps(l)
		for _, earlier := range c.lives[:i] {
			c.checkPair(earlier, l)
		}
	}
	c.checkResumes()
}

// checkForm checks that a process begins with its start, writes no second one, and nothing after its end.
func (c *checker) checkForm(l *life) {
	for i, line := range l.lines {
		switch {
		case (line.Worker == Start) != (i == 0):
			c.fault(Form, "%v: its line %d is %q at step %d", l, i+1, line.Worker, line.Step)
		case i > 0 && l.lines[i-1].Worker == End:
			c.fault(Form, "%v: it writes on after its end", l)
		}
	}
}

// checkPair checks that of two processes that must not live at the same time the later one began after the last line of
// the earlier one. The earlier one is of an earlier attempt, or of the same and began earlier.
func (c *checker) checkPair(earlier, later *life) {
	a, b := &earlier.first, &later.first
	// The ranks of one attempt live side by side.
	if a.Attempt == b.Attempt && a.Rank != b.Rank {
		return
	}
	slack := time.Duration(0)
	if a.Server != b.Server {
		slack = c.o.Slack
	}
	// In one and the same nanosecond nobody can say who was first, and by the slack neither.
	late := time.Duration(earlier.last.At - b.At)
	if late <= slack {
		return
	}
	steps := 0
	for _, line := range earlier.lines {
		if line.Worker == Step && line.At >= b.At {
			steps++
		}
	}
	c.fault(Twice, "%v began %v before the last line of %v, which did %d steps meanwhile", later, late, earlier, steps)
}

// checkSteps checks that a process does one step after the other, from where it began.
func (c *checker) checkSteps(l *life) {
	before := l.first.Step
	for _, line := range l.lines[1:] {
		if line.Worker != Step {
			continue
		}
		switch {
		// Who does not know where it begins says so by the first step that it does.
		case before < 0:
		case line.Step <= before:
			c.fault(Lost, "%v does step %d after step %d", l, line.Step, before)
		case line.Step > before+max(1, c.o.Every):
			c.fault(Lost, "%v goes on with step %d after step %d", l, line.Step, before)
		}
		// After a fault the next step is held against this one, so that one gap is told once.
		before = line.Step
	}
}

// checkResumes checks where the attempts begin. Those that do not know it are passed over: other ranks of theirs do.
func (c *checker) checkResumes() {
	// begun is the highest step that an earlier attempt has begun with, of which there was a checkpoint that counted.
	begun, of := int64(0), int64(0)
	saved := map[int64]int64{0: 0} // the steps of which there is a checkpoint, and the attempt that was first with it
	next := begun
	for _, l := range c.lives {
		if l.first.Attempt > of {
			begun, of = next, l.first.Attempt
		}
		if from := l.first.Step; l.first.Worker == Start && from >= 0 {
			if from < begun {
				c.fault(Resume, "%v begins with step %d, an earlier one began with %d", l, from, begun)
			}
			if by, ok := saved[from]; !ok || by >= l.first.Attempt {
				c.fault(Resume, "%v begins with step %d, of which no earlier attempt has saved a checkpoint", l, from)
			}
			c.checkConfirmed(l)
			next = max(next, from)
		}
		for _, line := range l.lines {
			if _, known := saved[line.Step]; line.Worker == Saved && !known {
				saved[line.Step] = line.Attempt
			}
		}
	}
}

// checkConfirmed checks that a process begins no earlier than what was confirmed before it began.
func (c *checker) checkConfirmed(l *life) {
	for _, k := range c.o.Confirmed {
		if k.Job == c.job && k.At+int64(c.o.Slack) < l.first.At && k.Step > l.first.Step {
			c.fault(Resume, "%v begins with step %d, and step %d was confirmed %v before", l, l.first.Step, k.Step, time.Duration(l.first.At-k.At))
			return
		}
	}
}
