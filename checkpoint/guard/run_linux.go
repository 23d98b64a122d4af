// This file implements Run: the guard of one run.

package guard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/apportion/apportion/checkpoint/command"
)

// Run guards a run: it starts the trainer when the authority vouches for it, and returns when nothing of it lives any
// more. The error says that it was not started; it wraps [ErrRefused] if the run is fenced off, or nobody has vouched for
// it in time. When the context ends the trainer gets SIGTERM, and SIGKILL after Config.Grace.
//
// Descendants of this process that are not the trainer's are killed as well, should the keeper die: Run needs a process
// of its own, as that of apportion-guard.
func Run(ctx context.Context, c Config) (End, error) {
	if err := c.Validate(); err != nil {
		return End{}, err
	}
	// The kernel tells the keeper of the end of the thread that has started it: that must be the guard's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A guard that is stopped when its parent dies goes on by the kernel's SIGCONT, and must live through the SIGHUP before it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if err := adopt(); err != nil {
		return End{}, fmt.Errorf("guard: %w", err)
	}
	// All channels have room for one, so that nobody who sends ever waits for the goroutine that attends to the keeper.
	g := &guard{config: c, life: rand.Text(), renewed: make(chan struct{}, 1), refused: make(chan string, 1), saves: make(chan int64, 1),
		news: make(chan struct{}, 1), requested: make(chan struct{}, 1)}
	// 1. No trainer is started for whom nobody vouches. The keeper begins meanwhile, which starts none before it has its order.
	keeper, err := g.startKeeper()
	if err == nil {
		g.alarm, err = newAlarm(keeper.lastSignal())
	}
	if err == nil {
		g.waker, err = newAlarm(syscall.SIGCONT)
	}
	if err != nil {
		return End{}, fmt.Errorf("guard: %w", err)
	}
	if err := g.begin(ctx); err != nil {
		keeper.dismiss()
		return End{}, err
	}
	// 2. Renewing goes on beside all that follows, until the end was told.
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var under sync.WaitGroup
	under.Go(func() { g.renewAll(renewing) })
	under.Go(func() { g.tellAll(renewing) })
	under.Go(func() { g.lookAll(renewing) })
	under.Go(func() { g.recordAll(renewing) })
	end, err := g.guard(ctx, keeper)
	// They end before the last words: a claim of theirs that is under way knows nothing of the end, and must not overtake it.
	stop()
	under.Wait()
	if err != nil {
		return End{}, err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	g.readAcknowledgement(last)
	// 3. The end is on record and told, as far as anybody listens.
	g.change(func(s *State) {
		s.Progress.Running, s.Ended = false, &end
		s.Progress.Done = end == End{}
		if !s.Progress.Done {
			s.Progress.Failed = end.String()
		}
	})
	if err := g.record(last); err != nil {
		fmt.Fprintln(g.stderr(), "guard: how the run ended is not on record:", err)
	}
	g.tell(ctx)
	return end, nil
}

// guard gives the keeper its order, and returns how the trainer ended.
// The error says that the trainer was not started.
func (g *guard) guard(ctx context.Context, keeper *kept) (End, error) {
	go g.readOutput(keeper.output, keeper.read) // which ends with the keeper, though the guard is told nothing any more
	g.arm()
	_ = json.NewEncoder(keeper.words).Encode(g.order()) // a keeper that is gone is seen by its reports
	// attend returns when the keeper has said its last word, or is gone without one.
	end, err := g.attend(ctx, keeper)
	// Init has ended when nothing of its namespace lives; its report has told how the trainer ended.
	_, _ = keeper.cmd.Process.Wait()
	// A keeper that died has left its children to this process, and the kernel has killed the first of them.
	if !keeper.isInit {
		keeper.cgroup.kill()
		killDescendants()
	}
	keeper.cgroup.remove()
	g.wake()
	// The output ends with the last process that could write it; what is still in the pipe is read before it is closed.
	select {
	case <-keeper.read:
	case <-time.After(lastWords):
	}
	_ = keeper.output.Close() // it was read only
	return end, err
}

// kept is the keeper as the guard sees it.
type kept struct {
	cmd     *exec.Cmd
	isInit  bool    // of a PID namespace
	cgroup  *cgroup // that of the trainer; nil: it has none
	words   *os.File
	reports chan report   // closed when the keeper is gone
	output  *os.File      // what the trainer prints
	read    chan struct{} // closed when the trainer's output has ended
}

// lastSignal is what the kernel sends to a guard that has let its lease pass, stopped or not. One that is killed takes a namespace with
// it; another must go on, and kill.
func (k *kept) lastSignal() syscall.Signal {
	if k.isInit {
		return syscall.SIGKILL
	}
	return syscall.SIGCONT
}

// say tells the keeper a word. One that has not read for so long that the pipe is full is killed: this process must not wait.
func (k *kept) say(w word) {
	_ = k.words.SetWriteDeadline(time.Now().Add(late)) // which a pipe has
	if err := json.NewEncoder(k.words).Encode(w); errors.Is(err, os.ErrDeadlineExceeded) {
		k.kill()
	}
}

// kill ends the keeper, stopped or not. It may have ended.
func (k *kept) kill() { _ = k.cmd.Process.Kill() }

// dismiss ends a keeper that was given no order, and waits for it. It has no children, so SIGKILL leaves nothing behind.
func (k *kept) dismiss() {
	_ = k.words.Close()
	k.kill()
	for range k.reports { // it has nothing to report, and its end closes the channel
	}
	_ = k.cmd.Wait() // however it ended, nothing was started
}

// order is what the keeper must know to start the trainer, and until when the lease goes.
func (g *guard) order() order {
	o := order{Argv: g.config.Argv, Env: g.config.Env, Dir: g.config.Dir, Cgroup: g.config.Cgroup, Held: g.config.Held != nil,
		Containment: g.config.Containment, User: g.config.User, word: g.word()}
	// The keeper has the environment of this process, but a trainer is given what Config says, or that.
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return o
}

// startKeeper starts the keeper, which waits for its order. Until then it ends with this process and leaves nothing behind.
func (g *guard) startKeeper() (*kept, error) {
	argv := g.config.Keeper
	if argv == nil {
		// This same program is its own keeper, see Main; one that has other uses says in Config.Keeper how it is called for that.
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		argv = []string{self, keepWord}
	}
	// Two pipes, orders down and reports up. Each side sees the end of the other's as its death.
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ordersRead.Close()
	reports, reportsWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	// This process keeps its own two ends only: as long as it held the others it would not see the keeper die.
	defer reportsWrite.Close()
	// The trainer inherits the keeper's output, which this process reads for progress.
	output, outputWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, orders.Close(), reports.Close())
	}
	defer outputWrite.Close()
	// A guard that is init of a container holds all by that.
	k := &kept{isInit: !g.config.HostPID && os.Getpid() != 1, words: orders, reports: make(chan report), output: output, read: make(chan struct{})}
	// What ends this process' group, as a terminal does, leaves the keeper to do its work: it has a group of its own.
	start := func(of *syscall.SysProcAttr) error {
		k.cmd = exec.Command(argv[0], argv[1:]...)
		k.cmd.Stdout, k.cmd.Stderr, k.cmd.ExtraFiles, k.cmd.SysProcAttr = outputWrite, g.stderr(), []*os.File{ordersRead, reportsWrite}, of
		if g.config.Held != nil {
			k.cmd.ExtraFiles = append(k.cmd.ExtraFiles, g.config.Held)
		}
		return k.cmd.Start()
	}
	// Where the system allows no namespace the two watch each other all the same.
	k.isInit = k.isInit && start(isolated()) == nil
	if !k.isInit {
		err = start(watched())
	}
	if err != nil {
		return nil, errors.Join(err, orders.Close(), reports.Close(), output.Close())
	}
	go k.hear(reports) // which ends with the pipe, when the keeper is gone
	return k, nil
}

func (k *kept) hear(from io.ReadCloser) {
	defer close(k.reports)
	defer from.Close()
	for decoder := json.NewDecoder(from); ; {
		// A report that is cut short is that of a keeper that was killed while it wrote: the same as none.
		var r report
		if decoder.Decode(&r) != nil {
			return
		}
		k.reports <- r
	}
}

// readOutput copies the trainer's output, and reads its progress there.
func (g *guard) readOutput(from io.Reader, done chan<- struct{}) {
	defer close(done)
	// A writer that blocks for ever would fill the pipe and stop the trainer: whose it is must take what comes.
	to := g.config.Stdout
	if to == nil {
		to = os.Stdout
	}
	var lines command.Readings
	// Whoever does not take the output any more must not block the trainer.
	_, _ = io.Copy(io.MultiWriter(&lines, forgiving{to}, told{g, &lines}), from)
}

// forgiving is a writer whose errors do not count.
type forgiving struct{ to io.Writer }

// Write implements io.Writer; it takes all, whatever becomes of it.
func (f forgiving) Write(p []byte) (int, error) {
	_, _ = f.to.Write(p)
	return len(p), nil
}

// told takes in the newest reading after each piece of output.
type told struct {
	g     *guard
	lines *command.Readings
}

// Write implements io.Writer. The lines have taken the same piece before, since they come first among the writers.
func (t told) Write(p []byte) (int, error) {
	if r, any := t.lines.Last(); any {
		t.g.change(func(s *State) { s.Progress.Step = r.Step })
	}
	return len(p), nil
}

// late is how much later than its lease a run may end: then the guard kills a keeper that has not ended it. After alarmLate the kernel has the
// guard itself killed, or go on.
const (
	late      = 5 * look
	alarmLate = 10 * late
)

// arm has the kernel wait for the end of the lease, and returns how long the guard itself has to.
func (g *guard) arm() time.Duration {
	left := g.left()
	g.alarm.set(left+alarmLate, 0)
	return left + late
}

// wake has the kernel send SIGCONT to this process again and again, as long as it lives. From here on a guard that is stopped must go on:
// it is not killed for what is left to do, and the run counts as over when the guard has ended.
func (g *guard) wake() {
	// One of the two is on at every moment: a guard that is stopped between these lines would be neither woken nor killed.
	g.waker.set(lastWords, lastWords)
	g.alarm.set(0, 0)
}

// attend waits for the end of the run, and passes on what happens meanwhile.
// It returns when the keeper has said its last word or is gone, and not with the context, whose end only begins a polite end.
func (g *guard) attend(ctx context.Context, k *kept) (End, error) {
	// The keeper kills all when this pipe is closed, whatever else has gone wrong here.
	defer k.words.Close()
	saves := make(chan os.Signal, 1)
	if g.config.Save != nil {
		signal.Notify(saves, g.config.Save)
		defer signal.Stop(saves)
	}
	// asked is nil once the end was asked for, and patience until then; renewed is nil once all must end. None is waited for while it is nil.
	asked, patience, renewed := ctx.Done(), (<-chan time.Time)(nil), g.renewed
	over := time.NewTimer(g.arm())
	defer over.Stop()
	why := KeeperGone // as long as nobody has ended it
	end := func(reason Why) {
		if renewed == nil {
			return // a fence is told again and again
		}
		why, renewed = reason, nil
		k.say(word{Kill: reason})
		over.Reset(lastWords)
	}
	for {
		select {
		case r, there := <-k.reports:
			switch {
			// The kernel has killed the trainer with its keeper.
			case !there:
				return End{Code: -1, Signal: syscall.SIGKILL.String(), Why: why}, nil
			case r.Fault != "":
				return End{}, fmt.Errorf("guard: the trainer was not started: %s", r.Fault)
			case r.Ended != nil:
				return *r.Ended, nil
			}
			// What is left is the word that the trainer runs, which the authority should hear before the next claim.
			k.cgroup = cgroupIn(r.Cgroup)
			g.change(func(s *State) { s.Started, s.Progress.Running = true, true })
			wake(g.news)
		// The keeper counts by itself from what it was told last, so that a guard which hangs here ends the run.
		case <-renewed:
			k.say(g.word())
			over.Reset(g.arm())
		// The keeper should have ended all by now, and may be stopped: that keeps nobody from being killed.
		case <-over.C:
			if renewed != nil && g.left() > 0 {
				over.Reset(g.arm())
				continue
			}
			if renewed != nil {
				why = LeaseOver
			}
			k.kill()
			g.wake()
		// Fenced off means at once: another attempt may be waiting for this end.
		case <-g.refused:
			end(Fenced)
		// Whoever signals the guard means the trainer: a cluster manager signals the process that it has started.
		case sig := <-saves:
			if number, ok := sig.(syscall.Signal); ok {
				k.say(word{Signal: int(number)})
			}
		// A save that the authority asks for: the file first, for a trainer that is woken looks there.
		case number := <-g.saves:
			g.request(ctx, number)
			wake(g.requested)
			if sig, ok := g.config.Save.(syscall.Signal); ok {
				k.say(word{Signal: int(sig)})
			}
		case <-asked:
			// SIGTERM goes to the trainer alone, which may want its children for a last save.
			asked = nil
			k.say(word{Signal: int(syscall.SIGTERM)})
			patience = time.After(g.config.Grace)
		// Grace is over, or was none.
		case <-patience:
			end(Asked)
		}
	}
}
