// This file checks who an agent says it is.

package agent_test

import (
	"testing"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/internal/vfstest"
)

func (b *bench) incarnation() agent.Incarnation {
	b.t.Helper()
	s := must.Have(b.agent.Status(b.t.Context(), agent.Question{Epoch: 1 << 40}))(b.t)
	return s.Incarnation
}

// The name of the memory survives the agent, not the boot: a copy of it on another machine has another name.
func TestNameOfTheMemory(t *testing.T) {
	b := newBench(t)
	first := b.incarnation()
	b.restart()
	again := b.incarnation()
	if first.Book == "" || again.Book != first.Book || again.Life == first.Life || first.Life == "" {
		t.Errorf("%+v, and started again %+v", first, again)
	}
	now := b.config.Clock
	b.config.Clock = func() agent.Stamp { s := now(); s.Boot = "another"; return s }
	b.restart()
	if other := b.incarnation(); other.Book == first.Book {
		t.Errorf("on another machine the memory is still %q", other.Book)
	}
	b.config.Clock, b.config.Disk = now, vfstest.NewMem()
	b.restart()
	if other := b.incarnation(); other.Book == first.Book {
		t.Errorf("without a memory it is still %q", other.Book)
	}
}

// A question for another memory is answered, so that the master sees who is there, and renews no lease.
func TestQuestionForAnotherRenewsNothing(t *testing.T) {
	b := newBench(t)
	b.must(checkpoint.Create, 1, 0)
	b.must(checkpoint.Resume, 1, 0)
	book := b.incarnation().Book
	ask := func(book string) {
		must.Have(b.agent.Status(t.Context(), agent.Question{Epoch: 1, Heard: b.config.Clock(), Book: book}))(t)
	}
	b.elapse(0.6)
	ask(book)
	b.elapse(0.6)
	if alive := b.subject().Alive("suite"); len(alive) != 1 {
		t.Fatalf("%v live", alive)
	}
	ask(book + "x")
	b.elapse(0.6)
	b.awaitStop()
}
