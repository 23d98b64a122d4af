// This file implements the exchange of parameters and gradients between the processes of a job.

package train

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/apportion/apportion/checkpoint/vfs"
	"gonum.org/v1/gonum/floats"
)

// patience is how long a process waits for another one before it gives up and the job fails; the
// scheduler then resumes it from its newest checkpoint.
const patience = 30 * time.Second

// hello is a worker's first message.
type hello struct{ Rank int }

// task asks for the gradient at a step; Done says that there is no other.
type task struct {
	Step   int64
	Params []float64
	Done   bool
}

// answer is the sum over the samples of a worker.
type answer struct {
	Gradient []float64
	Loss     float64
}

// peer is the other end of a connection.
type peer struct {
	conn net.Conn
	in   *gob.Decoder
	out  *gob.Encoder
}

// Decoder and encoder keep what they know of types, so that there is one of each for a connection.
func newPeer(conn net.Conn) *peer {
	return &peer{conn: conn, in: gob.NewDecoder(conn), out: gob.NewEncoder(conn)}
}

// It gives up after patience.
func (p *peer) send(message any) error {
	_ = p.conn.SetWriteDeadline(time.Now().Add(patience)) // fails on a closed connection, as Encode does
	return p.out.Encode(message)
}

// A peer that has closed is io.EOF.
func (p *peer) receive(message any) error {
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	return p.in.Decode(message)
}

// rendezvous is the file in the attempt's directory that holds the address of process 0.
func rendezvous(dir string) string { return filepath.Join(dir, "rank0.addr") }

// gather lets the other processes connect and returns them by rank; the place of process 0 is nil.
// The address is published when the listener is ready, and the file is the attempt's own, so that no
// process of another attempt finds it.
func gather(ctx context.Context, dir string, size int) ([]*peer, error) {
	peers := make([]*peer, size)
	if size == 1 {
		return peers, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	path := rendezvous(dir)
	if err := vfs.ReplaceFile(path, []byte(listener.Addr().String())); err != nil {
		return nil, err
	}
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	for range size - 1 {
		conn, err := listener.Accept()
		if err != nil {
			return peers, fmt.Errorf("train: other processes are missing: %w", err)
		}
		p := newPeer(conn)
		var h hello
		if err := p.receive(&h); err != nil || h.Rank < 1 || h.Rank >= size || peers[h.Rank] != nil {
			conn.Close()
			return peers, fmt.Errorf("train: a process that says it has rank %d connected: %v", h.Rank, err)
		}
		peers[h.Rank] = p
	}
	return peers, nil
}

// dial connects to process 0 as soon as it has published its address.
// An address without a listener is a process 0 that has died.
func dial(ctx context.Context, dir string, rank int) (*peer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		address, err := os.ReadFile(rendezvous(dir))
		if err == nil {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", string(address))
			if err != nil {
				return nil, err
			}
			p := newPeer(conn)
			return p, p.send(hello{rank})
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("train: process 0 does not appear: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// sum adds what the workers found at a step to what process 0 found itself. It adds in the order of the
// ranks, so that the same processes get the same sum.
// Loss and gradient are sums over samples, and not means.
func sum(peers []*peer, gradient []float64, loss float64) (float64, error) {
	for rank, p := range peers {
		if p == nil {
			continue
		}
		var a answer
		if err := p.receive(&a); err != nil {
			return 0, fmt.Errorf("train: process %d: %w", rank, err)
		}
		if len(a.Gradient) != len(gradient) {
			return 0, fmt.Errorf("train: process %d sends %d numbers, not %d", rank, len(a.Gradient), len(gradient))
		}
		floats.Add(gradient, a.Gradient)
		loss += a.Loss
	}
	return loss, nil
}

func tell(peers []*peer, t task) error {
	for rank, p := range peers {
		if p == nil {
			continue
		}
		if err := p.send(t); err != nil {
			return fmt.Errorf("train: process %d: %w", rank, err)
		}
	}
	return nil
}

// Workers see the end of their connection and end.
func closeAll(peers []*peer) {
	for _, p := range peers {
		if p != nil {
			p.conn.Close()
		}
	}
}
