// This file implements Leads: what a master knows by its own clock of its leadership.

package etcdjournal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/apportion/apportion/checkpoint"
)

// renewals is how often the lease is renewed within its length.
const renewals = 3

// errUnsure says that the lease may be over, and may have been renewed by a request whose answer has not come.
var errUnsure = errors.New("etcdjournal: the lease may be over")

// Leads returns nil while this master leads for certain. The error wraps checkpoint.ErrFenced when it has lost the leadership,
// which does not come back; any other error says that this is not known. It asks nobody and may be called by any goroutine:
// a master that was cut off or stopped for a while knows in the first moment that its time is over, and what it has said
// until then was said before another could lead.
func (j *Journal) Leads() error {
	j.term.mu.Lock()
	defer j.term.mu.Unlock()
	switch {
	case j.term.lost:
		return fmt.Errorf("etcdjournal: epoch %d leads no more: %w", j.lead.Rev(), checkpoint.ErrFenced)
	case !time.Now().Before(j.term.until):
		return errUnsure
	}
	return nil
}

// begin renews the lease from now on, until the journal is closed, and returns when it was renewed once. The session does
// that too, but counts a lease from when an answer is read: in a process that was stopped that is any time later.
func (j *Journal) begin(ctx context.Context) error {
	if err := j.renew(ctx); err != nil {
		return j.explain(ctx, err)
	}
	alive, stop := context.WithCancel(j.client.Ctx())
	j.term.stop = stop
	j.term.under.Go(func() {
		pause := time.NewTicker(j.options.Lease / renewals)
		defer pause.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-j.session.Done():
				j.lose()
				return
			case <-pause.C:
			}
			if errors.Is(j.renew(alive), rpctypes.ErrLeaseNotFound) {
				j.lose()
				return
			}
		}
	})
	return nil
}

// renew renews the lease once.
func (j *Journal) renew(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, j.options.Lease)
	defer cancel()
	asked := time.Now()
	answer, err := j.client.KeepAliveOnce(limited, j.session.Lease())
	if err != nil {
		return err
	}
	j.term.mu.Lock()
	defer j.term.mu.Unlock()
	if until := asked.Add(time.Duration(answer.TTL) * time.Second); until.After(j.term.until) {
		j.term.until = until
	}
	return nil
}

func (j *Journal) lose() {
	j.term.mu.Lock()
	defer j.term.mu.Unlock()
	j.term.lost = true
}

func (j *Journal) end() {
	if j.term.stop != nil {
		j.term.stop()
		j.term.under.Wait()
	}
	j.lose()
}
