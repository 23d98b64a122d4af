// This file checks the book: what it says is durable is, also where the disk fails or the machine crashes.

package agent_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func open(t *testing.T, fsys vfs.FS) *agent.Book {
	t.Helper()
	return must.Have(agent.OpenBook(fsys, "here"))(t)
}

func effect(epoch int64, action checkpoint.Action, attempt int64) checkpoint.Effect {
	return checkpoint.Effect{Epoch: epoch, Action: action, Job: "lr", Attempt: attempt, Containers: []string{"here", "here", "there"}}
}

// An effect that was admitted is remembered after a crash of the machine, and never half: whichever
// operation of the disk fails or is the last one, the next book knows the effects that were admitted, and at
// most one more.
func TestBookSurvives(t *testing.T) {
	day := []checkpoint.Effect{
		effect(1, checkpoint.Create, 1), effect(1, checkpoint.Stop, 1), effect(1, checkpoint.Release, 1),
		effect(2, checkpoint.Create, 2), effect(2, checkpoint.Stop, 3), effect(3, checkpoint.Create, 4),
	}
	cases := 0
	for k := 1; ; k++ {
		mem := vfstest.NewMem()
		hook := func(vfstest.Op, string) error { return nil }
		b := open(t, vfstest.Hooked(mem, func(op vfstest.Op, name string) error { return hook(op, name) }))
		hook = vfstest.FailAt(k, vfstest.ErrInjected)
		admitted, failed := 0, false
		var before, after agent.Fence
		for _, e := range day {
			after, _ = before.Admit(e)
			if _, err := b.Admit(e); err != nil {
				failed = true
				break
			}
			before = after
			admitted++
		}
		again := open(t, mem.Crash(nil))
		page := again.Page("lr")
		found := agent.Fence{Epoch: again.Epoch(), Marks: page.Marks}
		if found != before && !(failed && found == after) {
			t.Fatalf("operation %d: after %d effects the book says %+v, want %+v", k, admitted, found, before)
		}
		if !failed {
			break
		}
		cases++
	}
	if cases < 20 {
		t.Errorf("only %d operations failed", cases)
	}
}

// A write that failed is made up for by the next one.
func TestBookRecovers(t *testing.T) {
	mem := vfstest.NewMem()
	fail := true
	b := open(t, vfstest.Hooked(mem, func(op vfstest.Op, _ string) error {
		if fail && op == vfstest.Sync {
			return vfstest.ErrInjected
		}
		return nil
	}))
	must.Fail(b.Admit(effect(1, checkpoint.Create, 1)))(t, vfstest.ErrInjected)
	fail = false
	if v, err := b.Admit(effect(1, checkpoint.Create, 1)); err != nil || v.Ruling != agent.Perform {
		t.Fatalf("%+v, %v", v, err)
	}
	must.Equal(t, open(t, mem.Crash(nil)).Page("lr").Created, 1, "attempt", "was created")
}

func TestContainers(t *testing.T) {
	b := open(t, vfstest.NewMem())
	for _, c := range []struct {
		action  checkpoint.Action
		attempt int64
		list    string
		want    int
	}{
		{checkpoint.Create, 1, "here here there", 2},
		{checkpoint.Release, 1, "here here here", 2},
		{checkpoint.Release, 1, "here there", 1},
		{checkpoint.Create, 2, "here here here", 3},
		{checkpoint.Release, 1, "there", 3}, // late
	} {
		e := effect(1, c.action, c.attempt)
		e.Containers = strings.Fields(c.list)
		must.Have(b.Admit(e))(t)
		must.Equal(t, b.Page("lr").Containers, c.want, c.action, "of attempt", c.attempt, "with", c.list, "containers")
	}
}

// Effects of many jobs at the same time all become durable, with fewer writes than effects.
func TestBookSharesWrites(t *testing.T) {
	mem := vfstest.NewMem()
	var mu sync.Mutex
	writes, first, others := 0, make(chan struct{}), make(chan struct{})
	b := open(t, vfstest.Hooked(mem, func(op vfstest.Op, name string) error {
		if op != vfstest.Sync {
			return nil
		}
		mu.Lock()
		writes++
		n := writes
		mu.Unlock()
		if n == 1 {
			close(first)
			<-others // the first write takes until all others wait for theirs
		}
		return nil
	}))
	const jobs = 20
	var all sync.WaitGroup
	admit := func(i int) {
		e := effect(1, checkpoint.Create, int64(i+1))
		e.Job = strings.Repeat("x", i+1)
		must.Have(b.Admit(e))(t)
	}
	all.Go(func() { admit(0) })
	take(t, "the first write", first)
	for i := range jobs - 1 {
		all.Go(func() { admit(i + 1) })
	}
	eventually(t, "all are noted", func() bool { return len(b.Jobs()) == jobs })
	close(others)
	all.Wait()
	if writes < 2 || writes > 3 {
		t.Errorf("%d effects took %d writes", jobs, writes)
	}
	if known := open(t, mem.Crash(nil)).Jobs(); len(known) != jobs {
		t.Errorf("%d jobs are known", len(known))
	}
}

func TestDamagedBook(t *testing.T) {
	for _, text := range []string{`{"epoch":`, `{"epoch":1,"jobs":{}} and more`, `{"epoch":1,"jobs":{},"colour":"red"}`, `[]`, `{"epoch":1,"jobs":null}`} {
		mem := vfstest.NewMem()
		file := must.Have(mem.Create(agent.BookFile))(t)
		must.Have(io.WriteString(file, text))(t)
		if _, err := agent.OpenBook(mem, "here"); err == nil || !strings.Contains(err.Error(), agent.BookFile) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
