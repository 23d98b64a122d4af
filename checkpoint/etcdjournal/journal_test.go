// This file tests the journal: who may write, what the next master knows, and what becomes of it when etcd fails.

package etcdjournal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/internal/must"
)

// TestJournal shares one cluster among its parts, each with a prefix of its own; those that stop members come last.
func TestJournal(t *testing.T) {
	c := newCluster(t)
	for i, test := range []struct {
		name string
		run  func(t *testing.T, c *cluster, prefix string)
	}{
		{"follows", testFollows}, {"refuses", testRefuses}, {"long", testLong}, {"pieces", testLeftPieces}, {"compacted", testCompacted}, {"corrupt", testCorrupt},
		{"answer", testLostAnswer}, {"paused", testPaused}, {"slow", testSlow}, {"silent", testSilent}, {"leads", testLeads},
		{"driver", testDrivers}, {"parted", testParted}, {"killed", testKilled}, {"majority", testMajority},
	} {
		t.Run(test.name, func(t *testing.T) {
			// From the ninth on they wait for leases and elections.
			if testing.Short() && i >= 8 {
				t.Skip("waits for leases")
			}
			test.run(t, c, "/"+test.name+"/")
		})
	}
}

// A master that has given up, or died, is followed by the one that stands in line, with a higher epoch and all records; the
// first may not write any more.
func testFollows(t *testing.T, c *cluster, prefix string) {
	first := open(t, c.machine(), prefix)
	for i := range 5 {
		must.Do(t, first.append(server(fmt.Sprint("s", i))))
	}
	next := make(chan *master)
	go func() { next <- open(t, c.machine(), prefix) }()
	select {
	case <-next:
		t.Fatal("the second does not wait")
	case <-time.After(300 * time.Millisecond):
	}
	must.Do(t, errors.Join(first.j.Compact(first.m.Snapshot()), first.append(server("late"))))
	must.Do(t, first.j.Close())
	second := <-next
	if n := len(second.m.Servers()); n != 6 || second.m.Epoch() <= first.m.Epoch() {
		t.Errorf("%d servers in epoch %d after %d", n, second.m.Epoch(), first.m.Epoch())
	}
	must.Err(t, first.append(server("x")), fs.ErrClosed, "append to a closed journal")
	first.j.err = nil // as a process would that has not heard of its end
	must.Err(t, first.append(server("y")), checkpoint.ErrFenced, "append beside another")
	if again := first.append(server("z")); !errors.Is(again, checkpoint.ErrFenced) || errors.Is(first.j.Compact(first.m.Snapshot()), nil) {
		t.Errorf("append after an error: %v", again)
	}
	if a, b := first.m.Snapshot().Journal, second.m.Snapshot().Journal; a == "" || a != b {
		t.Errorf("journal %q is %q for the next", a, b)
	}
}

// What would refuse to be opened does not stand in line.
func testRefuses(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	must.Do(t, first.append(server("a")))
	began := time.Now()
	typo := checkpoint.Config{Kinds: apportion.Kinds{"a", "b"}}
	if _, _, err := Open(t.Context(), at.client, typo, brisk(prefix)); !errors.Is(err, checkpoint.ErrCorrupt) {
		t.Errorf("two kinds for one quantity: %v", err)
	}
	if _, _, err := Open(t.Context(), at.client, checkpoint.Config{}, brisk(prefix)); !errors.Is(err, apportion.ErrEmpty) {
		t.Errorf("no kinds: %v", err)
	}
	bad := &Options{Lease: 1500 * time.Millisecond, Limit: -1}
	if _, _, err := Open(t.Context(), at.client, oneKind(), bad); !errors.Is(err, apportion.ErrRange) || !errors.Is(err, apportion.ErrNegative) {
		t.Errorf("bad options: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("they waited for %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := Open(ctx, at.client, oneKind(), brisk(prefix)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNoAnswer) {
		t.Errorf("who does not want to wait any more: %v", err)
	}
	must.Do(t, first.append(server("b")), "the first is disturbed")
}

// A record of some pieces is whole or not there.
func testLong(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	long := strings.Repeat("x", 400)
	for i := range 100 {
		must.Do(t, first.m.Step(server(fmt.Sprint(long, i))))
	}
	for i := range 3 * 2000 {
		must.Do(t, first.m.Step(checkpoint.Submit{Job: fmt.Sprint(long, i), Demand: apportion.Resources{1}}))
	}
	must.Do(t, first.j.Append(first.m.Ready().Record))
	length := first.j.Bytes()
	if length < 2*maxPiece {
		t.Errorf("only %d bytes", length)
	}
	must.Do(t, errors.Join(first.append(server("a")), first.j.Close()))
	second := open(t, at, prefix)
	must.Equal(t, len(second.m.Servers()), 101, "servers")
	must.Equal(t, len(second.m.Jobs()), 6000, "jobs")
	// The records and pieces before the snapshot are gone.
	got, err := at.client.Get(t.Context(), prefix+"record/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	pieces, err2 := at.client.Get(t.Context(), prefix+"piece/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err := errors.Join(err, err2); err != nil || got.Count != 1 || pieces.Count > length/maxPiece+1 {
		t.Errorf("%d records and %d pieces are left, %v", got.Count, pieces.Count, err)
	}
}

// Pieces of a record that never came are in nobody's way.
func testLeftPieces(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	must.Have(first.j.value(t.Context(), bytes.Repeat([]byte("?"), 2*maxPiece)))(t)
	must.Do(t, first.j.Close())
	second := open(t, at, prefix)
	must.Have(second.j.value(t.Context(), bytes.Repeat([]byte("!"), 2*maxPiece)))(t, "a piece under the same key")
}

// etcd compacts its history while the journal is read and written.
func testCompacted(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	for i := range 2*page + 3 {
		must.Do(t, first.append(server(fmt.Sprint("s", i))))
	}
	now, err := at.client.Get(t.Context(), "x")
	if err == nil {
		_, err = at.client.Compact(t.Context(), now.Header.Revision)
	}
	must.Do(t, errors.Join(err, first.append(server("late")), first.j.Close()))
	if second := open(t, at, prefix); len(second.m.Servers()) != 2*page+4 {
		t.Errorf("%d servers", len(second.m.Servers()))
	}
}

// Records that somebody else has changed are not dropped silently.
func testCorrupt(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	for i, harm := range []func(ctx context.Context, k keys) error{
		func(ctx context.Context, k keys) error { _, err := at.client.Delete(ctx, k.record(2)); return err },
		func(ctx context.Context, k keys) error { _, err := at.client.Delete(ctx, k.record(1)); return err },
		func(ctx context.Context, k keys) error { _, err := at.client.Put(ctx, k.record(2), "{}"); return err },
		func(ctx context.Context, k keys) error {
			_, err := at.client.Put(ctx, k.record(2), "pieces 2")
			return err
		},
		func(ctx context.Context, k keys) error { _, err := at.client.Put(ctx, k.head(), "one"); return err },
		func(ctx context.Context, k keys) error {
			_, err := at.client.Delete(ctx, string(k)+"record/", clientv3.WithPrefix())
			return err
		},
	} {
		k := keys(fmt.Sprintf("%s%d/", prefix, i))
		first := open(t, at, string(k))
		must.Do(t, errors.Join(first.append(server("a")), first.append(server("b")), first.j.Close(), harm(t.Context(), k)))
		if _, _, err := Open(t.Context(), at.client, oneKind(), brisk(string(k))); !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), string(k)) {
			t.Errorf("harm %d: %v", i, err)
		}
	}
}

// An answer that is lost is asked for again, and the record counts once.
func testLostAnswer(t *testing.T, c *cluster, prefix string) {
	at, other := c.machine(), c.machine()
	first := open(t, at, prefix)
	for i := range 3 {
		at.deaf()
		done := make(chan error)
		go func() { done <- first.append(server(fmt.Sprint("s", i))) }()
		// It is done in etcd, and nobody has heard of it.
		for k := first.j.keys.record(int64(i + 2)); ; time.Sleep(10 * time.Millisecond) {
			if got, err := other.client.Get(t.Context(), k); err == nil && got.Count == 1 {
				break
			}
		}
		at.restore()
		at.reset() // what was lost does not come late
		must.Do(t, <-done, "record", i)
	}
	must.Do(t, first.j.Close())
	second := open(t, other, prefix)
	if n := len(second.m.Servers()); n != 3 || second.j.next != 6 {
		t.Errorf("%d servers by %d records, want 3 by 5", n, second.j.next-1)
	}
}

// A master whose machine is cut off for longer than its lease is replaced, and hears of it when it is back.
func testPaused(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	must.Do(t, first.append(server("a")))
	began := time.Now()
	at.cut()
	second := open(t, c.machine(), prefix)
	t.Logf("replaced after %v", time.Since(began))
	if err := second.append(server("b")); err != nil || !servers(second.m)["a"] {
		t.Fatal(err)
	}
	at.restore()
	must.Err(t, first.append(server("c")), checkpoint.ErrFenced, "the first, back again")
	must.Do(t, second.append(server("d")))
	must.Do(t, second.j.Close())
	third := open(t, at, prefix)
	if got := servers(third.m); len(got) != 3 || got["c"] {
		t.Errorf("%v, want a, b and d", got)
	}
}

// A road that is slow makes records slow, and no more.
func testSlow(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	at.slow(150 * time.Millisecond)
	for i := range 5 {
		must.Do(t, first.append(server(fmt.Sprint("s", i))))
	}
	at.restore()
	must.Do(t, first.j.Close())
	if second := open(t, at, prefix); len(second.m.Servers()) != 5 {
		t.Errorf("%d servers", len(second.m.Servers()))
	}
}

// Whoever hears nothing at all says so, after its limit and not for ever.
func testSilent(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	at.deaf()
	began := time.Now()
	err := first.append(server("a"))
	if took := time.Since(began); !errors.Is(err, ErrNoAnswer) || took > 2*brisk("").Limit {
		t.Errorf("after %v: %v", took, err)
	}
	if again := first.append(server("b")); !errors.Is(again, ErrNoAnswer) {
		t.Errorf("then: %v", again)
	}
	at.restore()
	at.reset()
	// The record counts or not; the one after it was never written.
	if second := open(t, c.machine(), prefix); servers(second.m)["b"] {
		t.Error("a record counts that was refused")
	}
}

// keep appends records until one fails or enough is done, and returns those that were answered.
func (ms *master) keep(stop <-chan struct{}) (acknowledged []string, err error) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return acknowledged, nil
		default:
		}
		id := fmt.Sprintf("e%d-%d", ms.m.Epoch(), i)
		if err := ms.append(server(id)); err != nil {
			return acknowledged, err
		}
		acknowledged = append(acknowledged, id)
		time.Sleep(time.Millisecond)
	}
}

// through lets a master append while something happens to etcd, and checks what the next one knows: all that was answered,
// each once.
func (c *cluster) through(t *testing.T, at *machine, prefix string, happens func(leader int), after func(leader int)) {
	t.Helper()
	first := open(t, at, prefix)
	stop := make(chan struct{})
	type kept struct {
		acknowledged []string
		err          error
	}
	done := make(chan kept)
	go func() {
		acknowledged, err := first.keep(stop)
		done <- kept{acknowledged, err}
	}()
	time.Sleep(300 * time.Millisecond)
	leader := c.leader()
	happens(leader)
	time.Sleep(2 * time.Second)
	close(stop)
	k := <-done
	t.Logf("%d records were answered, then %v", len(k.acknowledged), k.err)
	if k.err != nil && !errors.Is(k.err, ErrNoAnswer) && !errors.Is(k.err, checkpoint.ErrFenced) {
		t.Errorf("it ended with %v", k.err)
	}
	after(leader)
	_ = first.j.Close() // a lease that cannot be given back ends by itself
	second := open(t, c.machine(), prefix)
	known := servers(second.m)
	for _, id := range k.acknowledged {
		if !known[id] {
			t.Fatalf("%s was answered, and is lost", id)
		}
	}
	// One more may be there: its answer was lost.
	if len(known) > len(k.acknowledged)+1 || len(k.acknowledged) < 10 {
		t.Errorf("%d servers for %d records", len(known), len(k.acknowledged))
	}
	must.Do(t, errors.Join(second.append(server("after")), second.j.Close()), "afterwards")
}

// The leader of etcd is cut off from the other members, and the master with it or not.
func testParted(t *testing.T, c *cluster, prefix string) {
	c.through(t, c.machine(), prefix+"all/", func(leader int) { c.part(leader, true) }, func(leader int) { c.part(leader, false) })
	leader := c.leader()
	c.through(t, c.machine(leader), prefix+"one/", func(now int) {
		if now != leader {
			t.Skip("etcd has chosen another leader meanwhile")
		}
		c.part(leader, true)
	}, func(int) { c.part(leader, false) })
}

// The leader of etcd dies.
func testKilled(t *testing.T, c *cluster, prefix string) {
	c.through(t, c.machine(), prefix, c.stop, c.start)
}

// Two of three members die: a clear error, and when they are back all goes on.
func testMajority(t *testing.T, c *cluster, prefix string) {
	at := c.machine()
	first := open(t, at, prefix)
	must.Do(t, first.append(server("a")))
	c.stop(0)
	c.stop(1)
	began := time.Now()
	err := first.append(server("b"))
	if took := time.Since(began); !errors.Is(err, ErrNoAnswer) || took > 2*brisk("").Limit {
		t.Errorf("after %v: %v", took, err)
	}
	t.Logf("without a majority: %v", err)
	if _, _, err := Open(t.Context(), at.client, oneKind(), &Options{Prefix: prefix, Limit: time.Second}); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("open without a majority: %v", err)
	}
	// Both begin at the same time, for neither is ready without the other.
	c.start(0)
	c.start(1)
	_ = first.j.Close()
	second := open(t, at, prefix)
	if !servers(second.m)["a"] {
		t.Error("what was answered is lost")
	}
	must.Do(t, second.append(server("c")))
}
