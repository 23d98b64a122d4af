// This file implements the machine below guards: of package guard all runs that waits, renews, tells and counts, and what it asks of the
// kernel is played.

package world

// guards are the changes to files of package guard. What starts processes, and reads what they print, is not there.
var guards = []Change{
	{"keeper_linux.go", "const look = 20 * time.Millisecond", "const look = 100 * time.Millisecond"},
	{"keeper_linux.go", "type keeper struct {\n", "type keeper struct {\n\tworld *Played\n"},
	{"keeper_linux.go", "{ _ = k.reports.Encode(r) }", "{ k.world.report(r) }"},
	{"keeper_linux.go", "\t\t_ = syscall.Kill(k.trainer, syscall.Signal(w.Signal)) // it may have ended\n", "\t\tk.world.Signal(syscall.Signal(w.Signal))\n"},
	{"keeper_linux.go", "\tnow := agent.Uptime()\n", "\tk.world.Keeper()\n\tvar now agent.Stamp = k.world.Uptime()\n"},
	{"keeper_linux.go", "func (k *keeper) hear(w word, there bool) Why {\n", "func (k *keeper) hear(w word, there bool) Why {\n\tk.world.Keeper()\n"},
	{"keeper_linux.go", "func (k *keeper) endAll() {\n", "func (k *keeper) endAll() {\n\tk.world.Keeper()\n\tk.world.KillTrainer()\n\treturn\n"},
	{"renew_linux.go", "Clock: agent.Uptime()", "Clock: g.world.now()"},
	{"renew_linux.go", "\tnow := agent.Uptime()\n", "\tnow := g.world.now()\n"},
	{"renew_linux.go", "Left(agent.Uptime())", "Left(g.world.now())"},
	{"state_linux.go", "type guard struct {\n", "type guard struct {\n\tworld   *Played\n"},
	{"run_linux.go", "type kept struct {\n", "type kept struct {\n\tworld   *Played\n"},
	{"run_linux.go", "\t_ = k.words.SetWriteDeadline(time.Now().Add(late)) // which a pipe has\n", "\tk.world.say(w, k.kill)\n\treturn\n"},
	{"run_linux.go", "{ _ = k.cmd.Process.Kill() }", "{ k.world.KillKeeper() }"},
	{"alarm_linux.go", "type alarm struct{ id int32 }", "type alarm struct {\n\tid    int32\n\tworld *Played\n\tsig   syscall.Signal\n}"},
	{"alarm_linux.go", "func (a alarm) set(while, again time.Duration) {\n", "func (a alarm) set(while, again time.Duration) {\n\ta.world.Alarm(int(a.id), a.sig, while, again)\n\treturn\n"},
	{"vouch.go", "\treturn open(func(c Claim) (Grant, error) {\n", "\treturn open(vouching(v))\n}\n\nfunc vouching(v Voucher) func(Claim) (Grant, error) {\n\treturn func(c Claim) (Grant, error) {\n"},
	{"vouch.go", "\t})\n}", "\t}\n}"},
}

const played = `package guard

import (
	"context"
	"crypto/rand"
	"sync"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
)

// Kernel has the fields of kernel in package cluster, and Played is what runs on it.
type (
	Kernel = struct {
		Init                    bool
		Uptime                  func() agent.Stamp
		Guard, Keeper           func()
		Start                   func()
		Signal                  func(syscall.Signal)
		KillTrainer, KillKeeper func()
		Alarm                   func(id int, sig syscall.Signal, while, again time.Duration)
	}
	Played struct {
		Kernel
		words                 chan word
		reports               chan report
		ended                 chan syscall.WaitStatus
		guardGone, keeperGone bool
	}
)

// NewPlayed makes the pipes.
func NewPlayed(k Kernel) *Played {
	return &Played{Kernel: k, words: make(chan word, 256), reports: make(chan report, 2), ended: make(chan syscall.WaitStatus, 1)}
}

// Vouch is how an agent answers.
func Vouch(v Voucher, c Claim) (Grant, error) { return vouching(v)(c) }

func (p *Played) now() agent.Stamp {
	p.Guard()
	return p.Uptime()
}

// say and report write into a pipe.
func (p *Played) say(w word, full func()) {
	p.Guard()
	if p.guardGone {
		return
	}
	select {
	case p.words <- w:
	default:
		full()
	}
}

func (p *Played) report(r report) {
	p.Keeper()
	if !p.keeperGone {
		p.reports <- r
	}
}

// Exited is the end of the trainer.
func (p *Played) Exited(status syscall.WaitStatus) {
	select {
	case p.ended <- status:
	default:
	}
}

// GuardGone and KeeperGone close the pipes of a process that has ended.
func (p *Played) GuardGone() {
	if !p.guardGone {
		p.guardGone = true
		close(p.words)
	}
}

func (p *Played) KeeperGone() {
	if !p.keeperGone {
		p.keeperGone = true
		close(p.reports)
	}
}

// Run is Run, with a keeper on the same machine.
func (p *Played) Run(ctx context.Context, c Config) (End, error) {
	g := &guard{world: p, config: c, life: rand.Text(), renewed: make(chan struct{}, 1), refused: make(chan string, 1), saves: make(chan int64, 1),
		news: make(chan struct{}, 1), requested: make(chan struct{}, 1)}
	k := &kept{world: p, isInit: p.Init, reports: p.reports}
	g.alarm, g.waker = alarm{0, p, k.lastSignal()}, alarm{1, p, syscall.SIGCONT}
	if err := g.begin(ctx); err != nil {
		p.Guard()
		k.kill()
		return End{}, err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var under sync.WaitGroup
	under.Go(func() { g.renewAll(renewing) })
	under.Go(func() { g.tellAll(renewing) })
	g.arm()
	go p.keep(g.word())
	end, err := g.attend(ctx, k)
	p.Guard()
	p.GuardGone()
	stop()
	under.Wait()
	g.alarm.set(0, 0)
	g.waker.set(0, 0)
	g.change(func(s *State) { s.Progress.Running, s.Ended = false, &end })
	g.tell(ctx)
	return end, err
}

// keep is Keep, from its order on.
func (p *Played) keep(first word) {
	k := &keeper{world: p, words: p.words, ended: p.ended, boot: first.Boot, until: first.Until}
	defer p.KeeperGone()
	if k.over() {
		k.report(report{Fault: errLate.Error()})
		return
	}
	p.Start()
	k.report(report{Started: true})
	k.keep()
}
`

// linked is a file more of package cluster.
const linked = `package main

import "github.com/apportion/apportion/checkpoint/guard"

func init() {
	newPair = func(k kernel) pair { return guard.NewPlayed(guard.Kernel(k)) }
	vouch = guard.Vouch
}
`
