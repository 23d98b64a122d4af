// This file declares what a journal is made of.

package etcdjournal

import (
	"context"
	"errors"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// ErrNoAnswer: etcd has not answered for Options.Limit, as when most of its members are gone. What was asked counts or not.
var ErrNoAnswer = errors.New("etcdjournal: no answer from etcd")

// Journal keeps the records of one machine. It implements driver.Journal, and belongs to one goroutine.
type Journal struct {
	client  *clientv3.Client
	session *concurrency.Session
	lead    *concurrency.Election
	keys    keys
	options Options
	term    term
	// next is the number of the next record, bytes the length of those since the newest snapshot.
	next  int64
	bytes int64
	err   error // of the first call that failed; the journal is of no use from then on
}

// term is how long a master leads for certain. Its methods are safe for concurrent use.
type term struct {
	mu sync.Mutex
	// until is when the lease may be over, by the clock of this process: it counts from before etcd was asked.
	until time.Time
	lost  bool
	stop  context.CancelFunc
	under sync.WaitGroup
}
