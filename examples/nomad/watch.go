// This file keeps looks at a Nomad cluster cheap: what has been listed counts until Nomad's event stream tells of a change, and what is
// asked for by itself is asked for side by side.

package nomad

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/apportion/apportion/checkpoint/managed"
)

// lists are what a look is read from.
type lists struct {
	allocations []*api.AllocationListStub
	jobs        []*api.JobListStub
	nodes       []*api.NodeListStub
}

// listsAge is how old lists may be whatever the events say, and how seldom a stream is asked for that cannot be had.
const listsAge = time.Minute

// watch says whether lists still hold. Its zero has none.
type watch struct {
	mu sync.Mutex
	// follows says that events are heard, and tried when that was begun last; changed that one has come since the lists were asked
	// for, which was at listed.
	follows, changed bool
	tried, listed    time.Time
	lists            *lists
}

// lists returns what Nomad has, from what was listed before where that still holds. Events are heard until the context ends.
func (n *nomad) lists(ctx context.Context) (*lists, error) {
	w := &n.watch
	w.mu.Lock()
	if w.lists != nil && w.follows && !w.changed && time.Since(w.listed) < listsAge {
		defer w.mu.Unlock()
		return w.lists, nil
	}
	if !w.follows && time.Since(w.tried) >= listsAge {
		w.tried = time.Now()
		n.follow(ctx)
	}
	// What changes while the lists are read is read again by the next look.
	w.changed, w.listed = false, time.Now()
	w.mu.Unlock()
	found, err := n.list(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists = found
	return found, err
}

// follow hears events from now on, where Nomad lets it. The caller holds the lock.
func (n *nomad) follow(ctx context.Context) {
	w := &n.watch
	all := []string{string(api.TopicAll)}
	stream, err := n.client.EventStream().Stream(ctx, map[api.Topic][]string{api.TopicAllocation: all, api.TopicJob: all, api.TopicNode: all}, 0, &api.QueryOptions{})
	if err != nil {
		return // each look lists all, as without events
	}
	w.follows = true
	go func() {
		for events := range stream {
			w.mu.Lock()
			w.changed = true
			w.mu.Unlock()
			if events.Err != nil {
				break
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.follows, w.tried = false, time.Time{}
	}()
}

// callers is how many requests are under way at the same time.
const callers = 16

// sideBySide does something for the numbers below n, and returns what went wrong.
func sideBySide(n int, do func(i int) error) error {
	return errors.Join(managed.Each(n, callers, do)...)
}
