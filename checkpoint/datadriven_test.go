// This file runs the scripts in testdata/cases: events in, effects and phases out.

package checkpoint_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
)

func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

// script is a machine and the effects that nobody has answered.
type script struct {
	m     *checkpoint.Machine
	open  []checkpoint.Effect
	now   time.Time
	fails map[string]int // kind and job: how many of these effects still fail
	out   strings.Builder
}

// run does one command:
//
//	config limit=1 retries=-1 restarts=0 keep=1: begins anew
//	server s1=2 s2=2: servers with slots
//	submit a b min=2
//	adjust a=(s1,s1) b=() within=30
//	drain s1 within=30, drain s1 over: within seconds
//	cordon s1 within=30, cordon s1 over: for so many seconds
//	fail save/a=2 stop/b=-1: lets so many effects fail, -1 all
//	play n=3: answers effects in order until none is left, or so many
//	answer 7 outcome=damaged: answers one effect
//	tick 60: seconds
//	silent s1, lost s1, stalled a, exited a attempt=7, refused a, finished a, cancel a, checkpoint a, forget a
//	recover: another machine from the records
//	jobs: all of them
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "config":
		s.config(t, d)
	case "play":
		n := 1000
		d.MaybeScanArgs(t, "n", &n)
		s.play(n)
	case "fail":
		for _, arg := range d.CmdArgs {
			s.fails[arg.Key], _ = strconv.Atoi(arg.Vals[0])
		}
	case "recover":
		s.recover()
	case "jobs":
		for _, j := range s.m.Jobs() {
			fmt.Fprintln(&s.out, line(&j))
		}
		fmt.Fprintf(&s.out, "stale: %d\n", s.m.Stale())
	default:
		for _, event := range s.events(t, d) {
			s.step(event)
		}
	}
	return s.out.String()
}

func (s *script) config(t *testing.T, d *datadriven.TestData) {
	config := checkpoint.Config{Kinds: slotKinds, MaxTick: time.Hour}
	for field, to := range map[string]*int{
		"limit": &config.Limit, "retries": &config.Retries, "restarts": &config.Restarts, "keep": &config.Keep,
	} {
		d.MaybeScanArgs(t, field, to)
	}
	m, err := checkpoint.New(config, 1)
	if err != nil {
		fmt.Fprintln(&s.out, err)
		return
	}
	*s = script{m: m, now: time.Unix(0, 0), fails: make(map[string]int)}
	s.step(checkpoint.Tick{Now: s.now})
}

// events are those of a command, one for each argument that is no option.
func (s *script) events(t *testing.T, d *datadriven.TestData) (events []checkpoint.Event) {
	least := 0
	d.MaybeScanArgs(t, "min", &least)
	if d.Cmd == "adjust" {
		targets := make(map[string][]string)
		for _, arg := range d.CmdArgs {
			if arg.Key == "within" {
				continue
			}
			targets[arg.Key] = arg.Vals
			if len(arg.Vals) == 1 && arg.Vals[0] == "" {
				targets[arg.Key] = nil
			}
		}
		return []checkpoint.Event{checkpoint.Adjust{Targets: targets, Deadline: s.deadline(t, d)}}
	}
	if d.Cmd == "drain" {
		return []checkpoint.Event{checkpoint.Drain{ID: d.CmdArgs[0].Key, Deadline: s.deadline(t, d), Over: d.HasArg("over")}}
	}
	if d.Cmd == "cordon" {
		return []checkpoint.Event{checkpoint.Cordon{ID: d.CmdArgs[0].Key, Detail: "no disk", Until: s.deadline(t, d), Over: d.HasArg("over")}}
	}
	for _, arg := range d.CmdArgs {
		if arg.Key == "min" || arg.Key == "outcome" || arg.Key == "attempt" {
			continue
		}
		events = append(events, s.event(d, arg, least))
	}
	return events
}

// deadline is that of a command which says within how many seconds.
func (s *script) deadline(t *testing.T, d *datadriven.TestData) time.Time {
	within := 0
	if d.MaybeScanArgs(t, "within", &within); within == 0 {
		return time.Time{}
	}
	return s.now.Add(time.Duration(within) * time.Second)
}

func (s *script) event(d *datadriven.TestData, arg datadriven.CmdArg, least int) checkpoint.Event {
	attempt := int64(0)
	if j := s.m.Look(arg.Key); j != nil {
		attempt = j.Attempt
	}
	if at, ok := d.Arg("attempt"); ok {
		attempt, _ = strconv.ParseInt(at.Vals[0], 10, 64)
	}
	number, _ := strconv.ParseInt(arg.Key, 10, 64)
	switch d.Cmd {
	case "server":
		slots, _ := strconv.ParseInt(arg.Vals[0], 10, 64)
		return checkpoint.ServerUp{Server: apportion.Server{ID: arg.Key, Capacity: apportion.Resources{slots}}}
	case "submit":
		return checkpoint.Submit{Job: arg.Key, Demand: slot, Min: least}
	case "tick":
		s.now = s.now.Add(time.Duration(number) * time.Second)
		return checkpoint.Tick{Now: s.now}
	case "silent":
		return checkpoint.ServerSilent{ID: arg.Key}
	case "lost":
		return checkpoint.ServerFenced{ID: arg.Key}
	case "stalled":
		return checkpoint.Stalled{Job: arg.Key, Attempt: attempt, Detail: "no step for long"}
	case "exited":
		return checkpoint.Exited{Job: arg.Key, Attempt: attempt, Detail: "signal 9"}
	case "refused":
		return checkpoint.Exited{Job: arg.Key, Attempt: attempt, Detail: "others have the room", Refused: true}
	case "finished":
		return checkpoint.Finished{Job: arg.Key, Attempt: attempt}
	case "cancel":
		return checkpoint.Cancel{Job: arg.Key}
	case "forget":
		return checkpoint.Forget{Job: arg.Key}
	case "answer":
		return s.answer(d, number)
	}
	return checkpoint.Checkpoint{Job: arg.Key}
}

func (s *script) answer(d *datadriven.TestData, number int64) checkpoint.Event {
	reply := checkpoint.Reply{ID: number, Outcome: checkpoint.Done, Step: number}
	if arg, ok := d.Arg("outcome"); ok {
		reply.Outcome, reply.Detail = checkpoint.Outcome(arg.Vals[0]), "by script"
	}
	for i, e := range s.open {
		if e.ID == number {
			reply.Job = e.Job
			s.open = slices.Delete(s.open, i, i+1)
			break
		}
	}
	return reply
}

// step does one event, and prints the effects that follow and the jobs that have changed.
func (s *script) step(event checkpoint.Event) {
	if err := s.m.Step(event); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return
	}
	if fault := s.m.Audit(); fault != "" {
		fmt.Fprintf(&s.out, "the books: %s\n", fault)
	}
	ready := s.m.Ready()
	for i := range ready.Record.Jobs {
		fmt.Fprintln(&s.out, line(&ready.Record.Jobs[i]))
	}
	s.issued(ready.Effects)
}

func (s *script) issued(effects []checkpoint.Effect) {
	for _, e := range effects {
		s.open = append(s.open, e)
		fmt.Fprintf(&s.out, "  -> %d %s %s#%d", e.ID, e.Action, e.Job, e.Attempt)
		if e.Action == checkpoint.Release {
			fmt.Fprintf(&s.out, " on %v, keep %v", e.Servers, e.Containers)
		} else if e.Action != checkpoint.Prune && e.Action != checkpoint.Verify {
			fmt.Fprintf(&s.out, " %v", e.Containers)
		}
		if e.Checkpoint != 0 {
			fmt.Fprintf(&s.out, " checkpoint %d", e.Checkpoint)
		}
		fmt.Fprintln(&s.out)
	}
}

func (s *script) play(n int) {
	for ; n > 0 && len(s.open) > 0; n-- {
		e := s.open[0]
		s.open = s.open[1:]
		if e.Action == checkpoint.Prune {
			continue
		}
		reply := checkpoint.Reply{ID: e.ID, Job: e.Job, Outcome: checkpoint.Done, Step: 10 * e.ID}
		key := string(e.Action) + "/" + e.Job
		if left := s.fails[key]; left != 0 {
			s.fails[key] = left - 1
			reply.Outcome, reply.Detail = checkpoint.Failed, "by script"
		}
		fmt.Fprintf(&s.out, "%d %s %s#%d: %s\n", e.ID, e.Action, e.Job, e.Attempt, reply.Outcome)
		s.step(reply)
	}
}

func (s *script) recover() {
	m, err := checkpoint.Recover(s.m.Config(), s.m.Epoch()+1, s.m.Snapshot())
	if err != nil {
		fmt.Fprintln(&s.out, err)
		return
	}
	s.m, s.open = m, nil
	ready := m.Ready()
	if !ready.Record.Empty() {
		fmt.Fprintln(&s.out, "a record of nothing")
	}
	s.issued(ready.Effects)
	s.step(checkpoint.Tick{Now: s.now})
}

func line(j *checkpoint.Job) string {
	text := fmt.Sprintf("%s %s", j.Name, j.Phase)
	add := func(show bool, format string, args ...any) {
		if show {
			text += fmt.Sprintf(format, args...)
		}
	}
	add(j.Ending != "", " (%s)", j.Ending)
	add(true, " %v", j.Containers)
	add(fmt.Sprint(j.Target) != fmt.Sprint(j.Containers), " to %v", j.Target)
	add(len(j.Fallback) > 0, " or %v", j.Fallback)
	add(j.Reserved, " reserved")
	add(j.Order != 0, " wants %v", j.Wanted)
	add(j.Live(), " #%d", j.Attempt)
	add(j.Broken, " broken")
	add(j.Tries > 0, " tries=%d", j.Tries)
	add(j.Restarts > 0, " restarts=%d", j.Restarts)
	add(j.Deaths > 1, " deaths=%d", j.Deaths)
	add(!j.Deadline.IsZero(), " by %ds", j.Deadline.Unix())
	add(len(j.Checkpoints) > 0, " checkpoints=%v", checkpoints(j.Checkpoints))
	add(j.Reason.Constraint != "", " (%s: %s)", j.Reason.Constraint, j.Reason.Text)
	return text
}

// checkpoints are number and step of each; one that could not be read has a question mark.
func checkpoints(list []checkpoint.Confirmed) []string {
	var words []string
	for _, c := range list {
		word := fmt.Sprintf("{%d %d}", c.Number, c.Step)
		if c.Unread {
			word += "?"
		}
		words = append(words, word)
	}
	return words
}
