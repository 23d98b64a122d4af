//go:build linux

// This file checks on real processes that limits hold, on a machine that others use as well.

package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apportion/apportion/examples/nodeagent/train"
	"github.com/apportion/apportion/internal/must"
)

// spin starts a job that uses all CPU it gets and prints seldom. It is killed at the end of the test, or
// by kill, which waits until it is gone.
func spin(t *testing.T, r Runner) (p *Process, kill func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	job := training(t, "spin", train.Job{Epochs: math.MaxInt32, Hidden: 4096, Rate: 0.001})
	if d, ok := r.(*docker); ok {
		job.Argv[0] = d.host.Program
	}
	p, err := r.start(ctx, &job)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.finish() // killed
	}()
	kill = func() {
		cancel()
		<-ended
	}
	t.Cleanup(kill)
	return p, kill
}

// prefer gives a process's group, if it has one of its own, the CPU before all others, and says whether
// it has. A share is then seen to hold on a busy machine too.
func prefer(id string) bool {
	preferred := os.WriteFile("/sys/fs/cgroup/cpu"+groupName(id)+"/cpu.shares", []byte("262144"), 0) == nil
	for _, root := range unifiedRoots {
		preferred = os.WriteFile(root+groupName(id)+"/cpu.weight", []byte("10000"), 0) == nil || preferred
	}
	return preferred
}

// rivals says whether another program of this package has groups, which may be preferred as well.
func rivals() bool {
	for _, root := range append([]string{quotaRoot}, unifiedRoots...) {
		groups, _ := filepath.Glob(root + "/apportion-*") // the pattern is good
		for _, group := range groups {
			if !strings.HasPrefix(filepath.Base(group), fmt.Sprintf("apportion-%d-", os.Getpid())) {
				return true
			}
		}
	}
	return false
}

// grouped limits by one writer and gives each process a group without a limit by another.
type grouped struct {
	Writer
	groups Writer
}

func (g grouped) add(p *Process) error { return errors.Join(g.groups.add(p), g.Writer.add(p)) }
func (g grouped) remove(id string) error {
	return errors.Join(g.Writer.remove(id), g.groups.remove(id))
}
func (g grouped) Close() error { return errors.Join(g.Writer.Close(), g.groups.Close()) }

// window is what became of the time of a CPU: the shares that a process used and that nobody used.
type window struct{ used, idle float64 }

func look(t *testing.T, pid, cpu int) window {
	t.Helper()
	began := time.Now() // so that a pause of this test makes shares smaller, not larger
	usedBefore, idleBefore := used(t, pid), idle(t, cpu)
	time.Sleep(time.Second)
	usedAfter, idleAfter := used(t, pid), idle(t, cpu)
	took := float64(time.Since(began))
	return window{float64(usedAfter-usedBefore) / took, float64(idleAfter-idleBefore) / took}
}

func used(t *testing.T, pid int) time.Duration {
	t.Helper()
	return must.Have(CPUTime(pid))(t)
}

func idle(t *testing.T, cpu int) time.Duration {
	t.Helper()
	for _, line := range strings.Split(content(t, "/proc/stat"), "\n") {
		fields := strings.Fields(line) // name, user, nice, system, idle, ...
		if fields[0] != fmt.Sprintf("cpu%d", cpu) {
			continue
		}
		ticks := must.Have(strconv.Atoi(fields[4]))(t)
		return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 everywhere
	}
	t.Fatalf("no CPU %d in /proc/stat", cpu)
	return 0
}

// within says whether a process was held to a share: never above it, and below it only where others
// took the CPU, unless it is preferred to them. Tolerance is what a change of the limit and the kernel's
// periods may move.
func (w window) within(share float64, preferred bool) bool {
	const tolerance, busy = 0.05, 0.1
	excused := !preferred && w.idle < busy
	return w.used <= share+tolerance && (w.used >= share-tolerance || excused)
}

func TestWindow(t *testing.T) {
	for _, test := range []struct {
		window
		share           float64
		preferred, want bool
	}{
		{window{0.26, 0.74}, 0.25, false, true},
		{window{0.5, 0.5}, 0.25, false, false},   // twice its share
		{window{0.12, 0.88}, 0.25, false, false}, // half, though it could have had more
		{window{0.12, 0.02}, 0.25, false, true},  // half, as others wanted the CPU
		{window{0.12, 0.02}, 0.25, true, false},  // half, though it goes before others
		{window{0.5, 0.02}, 0.25, false, false},  // too much whoever wants it
		{window{0.97, 0.02}, 1, true, true},
		{window{0.5, 0.5}, 1, false, false},
	} {
		must.Equal(t, test.within(test.share, test.preferred), test.want, test.window, "at", test.share)
	}
}

// holds checks that a writer holds a process to shares. On a machine that others use, a second may go
// astray; a writer that is wrong is wrong in every one.
func holds(t *testing.T, w Writer, r Runner) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures for seconds")
	}
	cpu := lastOf(t)
	p, kill := spin(t, r)
	must.Do(t, w.add(p))
	preferred := prefer(p.Name)
	for _, share := range []float64{0.25, 0.75, 0.5, 1} {
		must.Do(t, w.limit(p.Name, share))
		const tries = 15
		for try := 1; ; try++ {
			first := preferred && !rivals()
			got := look(t, p.pid, cpu)
			first = first && !rivals()
			t.Logf("%s: limit %.2f, measured %.3f, idle %.3f", w.Name(), share, got.used, got.idle)
			if got.within(share, first) {
				break
			}
			if try == tries && got.within(share, false) {
				t.Logf("%s: limit %v: others took the CPU all the time, so it is not known whether it gets that much", w.Name(), share)
				break
			}
			if try == tries {
				t.Errorf("%s: limit %v does not hold in any of %d seconds", w.Name(), share, tries)
				break
			}
		}
	}
	kill()
	must.Do(t, w.remove(p.Name))
}

func TestDutyCycleHolds(t *testing.T) {
	var w Writer = newDutyCycle()
	for _, candidate := range writers[:2] { // those of groups
		if groups, err := candidate.probe(Machine{}); err == nil {
			w = grouped{w, groups}
			break
		}
	}
	holds(t, w, local{lastOf(t)})
	must.Do(t, w.Close())
}

func TestQuotaHolds(t *testing.T) {
	q, err := newQuota(false)
	if err != nil {
		t.Skip(err)
	}
	holds(t, q, local{lastOf(t)})
	must.Do(t, q.Close())
}

func TestUnifiedHolds(t *testing.T) {
	u, err := newUnified(false, unifiedRoots...)
	if err != nil {
		t.Skip(err)
	}
	holds(t, u, local{lastOf(t)})
	must.Do(t, u.Close())
}

// eventually waits for a condition that a fault would keep away.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// stopped says whether a process is stopped: the state behind its name in brackets.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat := content(t, "/proc", strconv.Itoa(pid), "stat")
	return strings.HasPrefix(stat[strings.LastIndex(stat, ")"):], ") T")
}

// A process that is let go runs on.
func TestDutyCycleContinues(t *testing.T) {
	d := newDutyCycle()
	p, _ := spin(t, local{lastOf(t)})
	must.Do(t, d.add(p))
	must.Do(t, d.limit(p.Name, 0.001))
	eventually(t, "stops", func() bool { return stopped(t, p.pid) })
	must.Do(t, d.Close())
	before := used(t, p.pid)
	eventually(t, "runs on", func() bool { return used(t, p.pid) > before+50*time.Millisecond })
	must.Err(t, d.limit("nobody", 1), must.ErrAny, "no error for an unknown process")
}

// What steer stops and continues, without a clock.
func TestSteerBooks(t *testing.T) {
	p, _ := spin(t, local{lastOf(t)})
	before := used(t, p.pid) - time.Second // one second more than it may
	s := &steered{pid: p.pid, share: 0.5, used: before}
	s.steer(0)
	if !s.stopped || s.balance != before-s.used {
		t.Fatalf("after a second too much: %+v", s)
	}
	s.steer(time.Minute)
	if s.stopped || s.balance != credit {
		t.Errorf("after half a minute of credit: %+v", s)
	}
}

func TestCPUTimeOfNobody(t *testing.T) {
	if used, err := CPUTime(0); err == nil {
		t.Errorf("process 0, which would be this one, has used %v", used)
	}
}
