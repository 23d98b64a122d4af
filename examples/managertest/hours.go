//go:build unix

// This file plays two hours of ten users with plain jobs and elastic ones, and measures what the controller costs the plain jobs.

package managertest

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/examples/managertest/day"
)

var (
	hoursFlag = flag.Duration("hours", 0, "in how much time TestHours plays two hours; 0: it is skipped")
	moreFlags = flag.String("flags", "", "more flags of the controller in TestHours, with blanks between; times are those of the play")
)

// What is played: in this time each of these users submits so many plain jobs, and half of them an elastic one.
const (
	playedHours  = 2 * time.Hour
	playedUsers  = 10
	plainPerUser = 3
)

// What must be seen of a play: a plain job waits no longer than alone by so much in the mean, an elastic one is started again for a
// decision so often in an hour, and the controller has no more of a core and of memory: of a core in two hours, not in the play. To six
// moves an hour, the default, come those that push jobs aside: BenchmarkHours of the controller says how many.
const (
	mostWait     = time.Minute
	mostRestarts = 8.0
	mostCore     = 0.02
	mostMemory   = 64 << 20
)

// hoursOf draws the jobs, plain ones and those that can use all slots, in the order of their arrival. A plain job takes two minutes to
// twelve of the hours, on up to a quarter of the slots; the elastic ones have work for six tenths of all slots and hours.
func hoursOf(slots int64, length time.Duration) []day.Job {
	r, all := rand.New(rand.NewPCG(1, 0)), length.Seconds()
	var jobs []day.Job
	for user := range playedUsers {
		if user%2 == 0 {
			jobs = append(jobs, day.Job{Name: fmt.Sprintf("elastic-%d", user), At: all / 20 * r.Float64(), Fixed: 1, Max: slots,
				Work: 0.6 * float64(slots) * all / (playedUsers / 2)})
		}
		for i := range plainPerUser {
			n := 1 + r.Int64N(slots/4)
			took := (2 + 10*r.Float64()) * float64(time.Minute) / float64(playedHours) * all
			jobs = append(jobs, day.Job{Name: fmt.Sprintf("plain-%d-%d", user, i), At: (0.1 + 0.8*r.Float64()) * all, Fixed: n, Max: n, Work: took * float64(n)})
		}
	}
	day.Sort(jobs)
	return jobs
}

// Hours plays the plain jobs alone, without a controller, then the same beside the elastic ones, and logs a table of both. With -faults
// daemons and the controller die meanwhile, and nodes are drained: not where plain jobs are alone, which managers lose then.
func (d Daily) Hours(t *testing.T) {
	length := *hoursFlag
	if length <= 0 {
		t.Skip("-hours is not set: make hours plays")
	}
	speed := float64(playedHours) / float64(length)
	table := "\n| play | plain jobs | mean wait, s | longest, s | elastic jobs | restarts by job and hour | those for faults | mean pause, s | slots at work | controller, CPU s | % of a core at rest | and over two hours | MiB |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	waits := map[string]float64{}
	for _, policy := range []string{Fixed, Elastic} {
		t.Run(policy, func(t *testing.T) {
			r := &day.Record{Manager: d.Manager, Policy: policy, Slots: d.Slots, Jobs: hoursOf(d.Slots, length)}
			if policy == Fixed {
				r.Jobs = day.Plain(r.Jobs)
			}
			used := playHours(d.Bench(t), r, speed)
			core := used.rest + used.cpu.Seconds()/playedHours.Seconds()
			m, err := r.Measure()
			if err != nil {
				t.Fatal(err)
			}
			restarts, pause := r.Restarts()
			mean, longest := r.Waits()
			elastic, hours := len(r.Jobs)-len(day.Plain(r.Jobs)), max(1, r.Hours(speed))
			all, faults := float64(restarts)/hours, used.faults/hours
			table += fmt.Sprintf("| %s, %s | %d | %.1f | %.1f | %d | %.2f | %.2f | %.1f | %.0f %% | %.1f | %.2f | %.2f | %.1f |\n", d.Manager, policy, len(r.Jobs)-elastic, mean, longest,
				elastic, all, faults, pause, 100*m.Held, used.cpu.Seconds(), 100*used.rest, 100*core, float64(used.memory)/(1<<20))
			waits[policy] = mean
			if decided := all - faults; decided > mostRestarts || core > mostCore || used.memory > mostMemory {
				t.Errorf("%.2f restarts, %.3f of a core, %d bytes", decided, core, used.memory)
			}
		})
	}
	t.Logf("two hours in %v, on %d slots:%s", length, d.Slots, table)
	if longer := time.Duration((waits[Elastic] - waits[Fixed]) * float64(time.Second)); longer > mostWait {
		t.Errorf("plain jobs wait for %v more", longer)
	}
}

// playHours plays jobs, of which those that can use more than one number of containers are elastic, and returns what the controller has
// used. What the program counts in time is as much shorter as the play is, and what it counts by the hour as much more.
func playHours(p Player, r *day.Record, speed float64) *usage {
	b := p.Controlled()
	b.Helper()
	shorter := func(d, least time.Duration) string {
		return max(least, time.Duration(float64(d)/speed)).String()
	}
	b.Set("-theta1", "0.2", "-theta2", "0.3", "-lease", "30s", "-every", "500ms", "-look", "1s", "-look-idle", "5s",
		"-min-run", shorter(time.Minute, 0), "-save", shorter(10*time.Minute, 5*time.Second), "-job-moves", strconv.Itoa(int(6*speed)))
	b.Set(strings.Fields(*moreFlags)...)
	if r.Policy == Fixed {
		b.End()
	}
	var harm sync.WaitGroup
	used, began := &usage{}, time.Now()
	if r.Policy == Elastic {
		harm.Go(func() { b.harm(p.Verbs(), used, time.Duration(float64(playedHours)/speed)) })
	}
	called := b.arrive(p, r, began, func(j *day.Job) bool { return j.Max > j.Fixed })
	harm.Wait()
	b.ended(p, time.Duration(2*float64(playedHours)/speed)+10*time.Minute, b.again(p, r.Policy, called))
	if r.Policy == Elastic {
		used.add(b)
		used.rests(b)
		// A manager that takes a node for lost starts plain jobs elsewhere, of which processes may live there: Slurm does.
		var theirs []string
		for name, j := range called {
			if *faultsFlag > 0 && j.Max == j.Fixed {
				theirs = append(theirs, name)
			}
		}
		b.Check(theirs...)
	}
	b.readLives(r, called, began)
	return used
}

// patience is how long a user looks at a plain job that gets nowhere: its containers wait half a minute for each other.
const patience = 90 * time.Second

// reach is how far a job has come: its step, how many of its containers have begun, whether it has done its work, and when it was seen.
type reach struct {
	step  int64
	begun int
	over  bool
	at    time.Time
}

// again returns what users do of whose plain jobs a fault has left nothing that ends, as managers may: where one has not got further for
// patience, it is cancelled and submitted anew under another name; where one has done its work, and a container of it begins again for
// which the others are not there any more, or is held for ever, it is cancelled. There is more to come as long as a job has not done its work, though its
// manager may have given it up.
func (b *Bench) again(p Player, policy string, called map[string]*day.Job) func() (more bool) {
	var looked time.Time
	known := map[string]reach{}
	more := true
	return func() bool {
		if time.Since(looked) < patience/9 {
			return more
		}
		looked, more = time.Now(), false
		jobs := b.reached()
		for name := range maps.Clone(b.plain) {
			last, was := known[name]
			now := jobs[name]
			more = more || !now.over
			switch {
			case now.over && last.over && (now.begun > last.begun || time.Since(last.at) > 2*patience):
				b.Logf("    %s is done, and is cancelled", name)
				p.Verbs().Cancel(b.plain[name])
				delete(b.plain, name)
			case now.over && last.over, was && last.step == now.step && time.Since(last.at) < patience:
			case !was || last.step != now.step || now.over:
				now.at = time.Now()
				known[name] = now
			default:
				b.Logf("    %s gets nowhere, and is submitted anew", name)
				p.Verbs().Cancel(b.plain[name])
				delete(b.plain, name)
				anew := *called[name]
				anew.Name = name + "-anew"
				called[anew.Name] = called[name]
				b.fixed(p, policy, &anew)
			}
		}
		return more
	}
}

// reached is how far jobs have come by their workers' logs, by name.
func (b *Bench) reached() map[string]reach {
	b.Helper()
	lines, err := workerlog.ReadAll(os.DirFS(filepath.Join(b.Shared, "runs")))
	if err != nil {
		b.Fatal(err)
	}
	jobs := map[string]reach{}
	for i := range lines {
		l := &lines[i]
		one := jobs[l.Job]
		one.step = max(one.step, l.Step)
		one.over = one.over || l.Worker == workerlog.End && l.Rank == 0
		if l.Worker == workerlog.Start {
			one.begun++
		}
		jobs[l.Job] = one
	}
	return jobs
}

// harm lets the faults that -faults asks for happen one after the other, as far apart as the length of the play allows: to daemons, to
// nodes, and to the controller.
func (b *Bench) harm(c *Cluster, used *usage, length time.Duration) {
	r := rand.New(rand.NewPCG(cmp.Or(*seedFlag, 1), 0))
	d := deck{all: append(b.faultsOf(c)[1:], Fault{Name: "the controller is killed", Do: func(r *rand.Rand) { // the first is of users
		used.add(b)
		b.End()
		Wait(r, 0, 8*time.Second)
		b.Begin()
	}}), r: r}
	began := time.Now()
	for n := range *faultsFlag {
		time.Sleep(time.Until(began.Add(length * time.Duration(n+1) / time.Duration(*faultsFlag+1))))
		one := d.draw(1)[0]
		b.Logf("%3d %s, after %.1f s", n, one.Name, time.Since(began).Seconds())
		one.Do(r)
	}
}

// usage is what controllers have used, one after the other, and how often they have started jobs again that nobody has moved.
type usage struct {
	cpu    time.Duration
	memory int64
	faults float64
	// rest is the part of a core at rest. What happens in two hours takes no more than cpu, however long they last; to look whether
	// something has happened takes as much again and again.
	rest float64
}

// restFor is how long a controller is measured at rest: six looks.
const restFor = 30 * time.Second

func (u *usage) rests(b *Bench) {
	before, _ := b.Used()
	time.Sleep(restFor)
	after, _ := b.Used()
	u.rest = (after - before).Seconds() / restFor.Seconds()
}

// add adds what the controller has used that leads, and the restarts that it has counted.
func (u *usage) add(b *Bench) {
	cpu, memory := b.Used()
	u.cpu, u.memory = u.cpu+cpu, max(u.memory, memory)
	for line := range strings.Lines(string(b.Ask("/metrics"))) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(count, 64); err == nil && strings.HasPrefix(name, "apportion_restarts_total{") && !strings.Contains(name, `"moved"`) {
			u.faults += n
		}
	}
}

// Used is the CPU time that the controller and the commands that it has called have used since its start, and how many bytes of memory
// it has had at most, without those commands.
func (b *Bench) Used() (cpu time.Duration, memory int64) {
	b.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", b.Process(), name))
		if err != nil {
			b.Fatal(err)
		}
		return string(text)
	}
	_, stat, _ := strings.Cut(read("stat"), ") ")
	ticks := int64(0)
	for _, word := range strings.Fields(stat)[11:15] { // of itself and of its children, see proc(5); a hundred are a second
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	_, most, _ := strings.Cut(read("status"), "VmHWM:")
	if _, err := fmt.Sscan(most, &memory); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ticks) * 10 * time.Millisecond, memory << 10
}
