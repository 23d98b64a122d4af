//go:build unix

// This file implements front: the one address behind which controllers follow each other, as a name or an address that moves
// does for a cluster of machines.

package managertest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// front hands connections on to whichever controller is in charge. Its methods are safe for concurrent use.
type front struct {
	listener net.Listener

	mu sync.Mutex
	// to is the address of the controller in charge, and open are the connections that were handed on and are not over.
	to   string
	open map[net.Conn]bool
	all  sync.WaitGroup
}

// newFront listens on an address of the loopback until the test ends.
func newFront(t testing.TB) *front {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{listener: listener, open: map[net.Conn]bool{}}
	f.all.Go(f.accept)
	t.Cleanup(func() {
		_ = listener.Close() // which ends accept
		f.turn("")
		f.all.Wait()
	})
	return f
}

// address is where the front listens.
func (f *front) address() string { return f.listener.Addr().String() }

// turn hands what comes from now on to another address, and ends what was handed to the one before; "": nobody is there.
func (f *front) turn(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = to
	for c := range f.open {
		_ = c.Close() // it may have ended
	}
	clear(f.open)
}

func (f *front) accept() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return // it was closed
		}
		f.all.Go(func() { f.hand(from) })
	}
}

// hand hands a connection on until either end closes it, or somebody else is in charge.
// It asks twice who is in charge: a connection that was made while that changed would stay with the old
// one.
func (f *front) hand(from net.Conn) {
	defer func() { _ = from.Close() }()
	f.mu.Lock()
	at := f.to
	f.mu.Unlock()
	to, err := net.Dial("tcp", at)
	if err != nil {
		return // nobody is there, which whoever asks sees
	}
	defer func() { _ = to.Close() }()
	f.mu.Lock()
	isInCharge := f.to == at
	if isInCharge {
		f.open[from], f.open[to] = true, true
	}
	f.mu.Unlock()
	if !isInCharge {
		return
	}
	// One end closes, and the deferred calls close the other, which ends the second copy.
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{to, from}, {from, to}} {
		f.all.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // an end of either is one of both
			ended <- struct{}{}
		})
	}
	<-ended
	f.mu.Lock()
	delete(f.open, from)
	delete(f.open, to)
	f.mu.Unlock()
}
