// This file reads documents, asks each manager whether they are its own, and writes what they say as a problem.

package managers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// Unread is something that the documents have and the problem has not, or not as it was meant.
type Unread struct {
	// Item names it, as `pod "a/b"`.
	Item string `json:"item"`
	// Why says what kept it out.
	Why string `json:"why"`
}

// ErrUnknownDocument is a document that no manager writes; ErrNoServers are documents without a server.
var (
	ErrUnknownDocument = errors.New("no manager is known that writes this")
	ErrNoServers       = errors.New("the documents have no server that could be read")
)

// cluster is what documents say, with quantities by the names of kinds.
type cluster struct {
	servers map[string]*server
	work    []work
	unread  []Unread
}

type server struct {
	has      map[string]int64
	labels   map[string]string
	cordoned bool
}

// work is what may become an application.
type work struct {
	id       string
	demand   map[string]int64 // of one container
	count    int64            // that it asks for
	on       map[string]int64 // that run, by server
	requires []apportion.Requirement
	priority int64
	spread   bool // no two on one server
}

// reader is a manager: it takes documents that are its own, and says at their end what they come to.
type reader interface {
	// take reports whether the document is one of this manager's; an error is one that is, and cannot be read.
	take(document json.RawMessage) (bool, error)
	// end puts what was taken into c.
	end(c *cluster)
}

// Read reads documents until their end, and returns a problem with the thresholds 0.1 of the paper, and what it could not use, in the
// order of its names. Quantities are in the units of the manager, but for processors of Kubernetes (thousandths) and memory there (MiB);
// what is in use is rounded up, what there is down. The errors are those of reading, ErrUnknownDocument and ErrNoServers.
func Read(in io.Reader) (*alloc.Problem, []Unread, error) {
	readers := []reader{&slurm{}, &kubernetes{}, &nomad{}, &yarn{}}
	decoder := json.NewDecoder(in)
	for n := 1; ; n++ {
		var document json.RawMessage
		if err := decoder.Decode(&document); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", n, err)
		}
		if err := takeBy(readers, document); err != nil {
			return nil, nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
	c := &cluster{servers: make(map[string]*server)}
	for _, r := range readers {
		r.end(c)
	}
	if len(c.servers) == 0 {
		return nil, nil, ErrNoServers
	}
	p := c.problem()
	slices.SortStableFunc(c.unread, func(a, b Unread) int { return cmp.Compare(a.Item, b.Item) })
	return p, c.unread, p.Validate()
}

func takeBy(readers []reader, document json.RawMessage) error {
	for _, r := range readers {
		if taken, err := r.take(document); taken || err != nil {
			return err
		}
	}
	return ErrUnknownDocument
}

// leaveOut notes what does not become part of the problem.
func (c *cluster) leaveOut(kind, name, format string, args ...any) {
	c.unread = append(c.unread, Unread{apportion.Item{Kind: kind, ID: name}.String(), fmt.Sprintf(format, args...)})
}

// occupy takes room of a server for what stays there. A server that is not known has none to lose.
func (c *cluster) occupy(name string, uses map[string]int64) {
	if s := c.servers[name]; s != nil {
		for kind, q := range uses {
			s.has[kind] = max(0, s.has[kind]-q)
		}
	}
}

// problem writes the cluster as a problem.
func (c *cluster) problem() *alloc.Problem {
	p := &alloc.Problem{Theta1: 0.1, Theta2: 0.1, Previous: alloc.Allocation{}}
	kinds := make(map[string]bool)
	for _, s := range c.servers {
		for kind, q := range s.has {
			kinds[kind] = kinds[kind] || q > 0
		}
	}
	maps.DeleteFunc(kinds, func(_ string, some bool) bool { return !some })
	p.Kinds = slices.Sorted(maps.Keys(kinds))
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		s := c.servers[name]
		p.Servers = append(p.Servers, apportion.Server{ID: name, Capacity: vector(p.Kinds, s.has), Labels: s.labels, Cordoned: s.cordoned})
	}
	for n := range c.work {
		c.add(p, &c.work[n])
	}
	return p
}

// add adds an application, where a container of it is something that the servers have.
func (c *cluster) add(p *alloc.Problem, w *work) {
	demand := vector(p.Kinds, w.demand)
	for _, kind := range slices.Sorted(maps.Keys(w.demand)) {
		if w.demand[kind] > 0 && !slices.Contains(p.Kinds, kind) {
			c.leaveOut("application", w.id, "it asks for %s, and no server has any", kind)
			return
		}
	}
	if !slices.ContainsFunc(demand, func(q int64) bool { return q > 0 }) {
		c.leaveOut("application", w.id, "it asks for nothing that a server has")
		return
	}
	running := int64(0)
	for _, n := range w.on {
		running += n
	}
	a := alloc.Application{ID: w.id, Weight: 1, Priority: w.priority, Form: alloc.Form{Demand: demand, Requires: w.requires, Max: max(w.count, running)}}
	// One of which a part runs may stay so: that it has not all is the manager's to say.
	if a.Min = a.Max; running > 0 {
		a.Min = running
		p.Previous[w.id] = w.on
	}
	if w.spread {
		a.PerServer = 1
	}
	p.Applications = append(p.Applications, a)
}

func vector(kinds apportion.Kinds, q map[string]int64) apportion.Resources {
	v := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		v[k] = q[kind]
	}
	return v
}
