// This file implements what is told to browsers: everything, or what has changed since.

package page

import (
	"bytes"
	"encoding/json"
	"slices"
)

// frame is a state, item by item as JSON.
type frame struct {
	clock                 float64
	head                  []byte
	servers, jobs, queues list
	decisions             []Decision
}

// list has items by ID.
type list struct {
	order []string
	items map[string][]byte
}

func newFrame(s *State, decisions []Decision) (*frame, error) {
	f := &frame{clock: s.Clock, decisions: decisions}
	var err error
	if f.head, err = json.Marshal(&s.Head); err != nil {
		return nil, err
	}
	if f.servers, err = newList(s.Servers, func(s *Server) string { return s.ID }); err != nil {
		return nil, err
	}
	if f.jobs, err = newList(s.Jobs, func(j *Job) string { return j.ID }); err != nil {
		return nil, err
	}
	f.queues, err = newList(s.Queues, func(q *Queue) string { return q.ID })
	return f, err
}

func newList[T any](items []T, id func(*T) string) (list, error) {
	l := list{items: make(map[string][]byte, len(items))}
	for i := range items {
		text, err := json.Marshal(&items[i])
		if err != nil {
			return list{}, err
		}
		name := id(&items[i])
		if l.items[name] == nil {
			l.order = append(l.order, name)
		}
		l.items[name] = text
	}
	return l, nil
}

// told is what goes to browsers. The lists are left out where nothing in them has changed.
type told struct {
	Clock     float64         `json:"clock"`
	Head      json.RawMessage `json:"head,omitempty"`
	Servers   *difference     `json:"servers,omitempty"`
	Jobs      *difference     `json:"jobs,omitempty"`
	Queues    *difference     `json:"queues,omitempty"`
	Decisions []Decision      `json:"decisions,omitempty"`
}

// difference is what has changed in a list: items, each with its id, and the order of all where that is another.
type difference struct {
	Order *[]string         `json:"order,omitempty"`
	Set   []json.RawMessage `json:"set,omitempty"`
}

// since returns what has changed since another frame, and whether anything has; nil: everything. The clock goes on by itself.
func (f *frame) since(before *frame) (text []byte, changed bool, err error) {
	whole := before == nil
	if whole {
		before = &frame{}
	}
	t := told{Clock: f.clock, Servers: f.servers.since(&before.servers, whole), Jobs: f.jobs.since(&before.jobs, whole), Queues: f.queues.since(&before.queues, whole)}
	if !bytes.Equal(f.head, before.head) {
		t.Head = f.head
	}
	last := int64(0)
	if n := len(before.decisions); n > 0 {
		last = before.decisions[n-1].Number
	}
	for _, d := range f.decisions {
		if d.Number > last {
			t.Decisions = append(t.Decisions, d)
		}
	}
	changed = t.Head != nil || t.Servers != nil || t.Jobs != nil || t.Queues != nil || t.Decisions != nil
	text, err = json.Marshal(&t)
	return text, changed, err
}

// since returns what has changed; nil: nothing. The whole has an order even where that is empty.
func (l *list) since(before *list, whole bool) *difference {
	var d difference
	for _, id := range l.order {
		if !bytes.Equal(l.items[id], before.items[id]) {
			d.Set = append(d.Set, l.items[id])
		}
	}
	if whole || !slices.Equal(l.order, before.order) {
		d.Order = &l.order
		if l.order == nil {
			d.Order = &[]string{}
		}
	}
	if d.Order == nil && d.Set == nil {
		return nil
	}
	return &d
}
