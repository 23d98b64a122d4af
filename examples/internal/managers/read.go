// This file reads documents, asks each manager whether they are its own, and writes what they say as a problem.

package managers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	least    int64            // that are enough; 0: nothing is said
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
			s.has[kind] = max(0, s.has[kind]-max(0, q))
		}
	}
}

// sift leaves out servers and work that no problem may have. What runs takes its room all the same, once.
func (c *cluster) sift() {
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		if why := unfit(name, c.servers[name].has); why != "" {
			c.leaveOut("server", name, "%s", why)
			delete(c.servers, name)
		}
	}
	seen := make(map[string]bool)
	c.work = slices.DeleteFunc(c.work, func(w work) bool {
		why := unfit(w.id, w.demand)
		switch {
		case seen[w.id]:
			c.leaveOut("application", w.id, "it is there twice")
			return true
		case why == "" && w.count < 1:
			why = fmt.Sprintf("it asks for %d containers", w.count)
		}
		seen[w.id] = true
		if why == "" {
			return false
		}
		c.leaveOut("application", w.id, "%s", why)
		for server, n := range w.on {
			for kind, q := range w.demand {
				c.occupy(server, map[string]int64{kind: times(max(0, n), max(0, q))})
			}
		}
		return true
	})
}

// unfit says what keeps something out of a problem; empty: nothing does.
func unfit(name string, q map[string]int64) string {
	if !isName(name) {
		return "it has no name that can be read"
	}
	if kind := below0(q); kind != "" {
		return "it has a negative amount of " + kind
	}
	return ""
}

// isName reports whether a text may name something in a problem.
func isName(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// below0 returns the first kind of which there is a negative amount.
func below0(q map[string]int64) string {
	for _, kind := range slices.Sorted(maps.Keys(q)) {
		if q[kind] < 0 {
			return kind
		}
	}
	return ""
}

// plus and times are the largest number where the sum or product of numbers that are not negative is larger.
func plus(a, b int64) int64 {
	if sum := a + b; a < 0 || b < 0 || sum >= 0 {
		return sum
	}
	return math.MaxInt64
}

func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// problem writes the cluster as a problem.
func (c *cluster) problem() *alloc.Problem {
	p := &alloc.Problem{Theta1: 0.1, Theta2: 0.1, Previous: alloc.Allocation{}, Applications: []alloc.Application{}} // a list in JSON too
	c.sift()
	kinds := make(map[string]bool)
	for _, s := range c.servers {
		for kind, q := range s.has {
			kinds[kind] = kinds[kind] || q > 0
		}
	}
	maps.DeleteFunc(kinds, func(kind string, some bool) bool {
		bad := !isName(kind) || strings.ContainsFunc(kind, unicode.IsSpace) || strings.Contains(kind, "=")
		if some && bad {
			c.leaveOut("kind", kind, "no kind may be called so")
		}
		return !some || bad
	})
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
	runs := running(w.on)
	a := alloc.Application{ID: w.id, Weight: 1, Priority: w.priority, Form: alloc.Form{Demand: demand, Requires: w.requires, Max: max(w.count, runs)}}
	// One of which a part runs may stay so: that it has not all is the manager's to say.
	if a.Min = a.Max; runs > 0 {
		a.Min = runs
		p.Previous[w.id] = w.on
	}
	if w.least > 0 {
		a.Min = min(a.Min, w.least)
	}
	if w.spread {
		a.PerServer = 1
	}
	p.Applications = append(p.Applications, a)
}

// running counts what runs.
func running(on map[string]int64) (n int64) {
	for _, count := range on {
		n += count
	}
	return n
}

func vector(kinds apportion.Kinds, q map[string]int64) apportion.Resources {
	v := make(apportion.Resources, len(kinds))
	for k, kind := range kinds {
		v[k] = q[kind]
	}
	return v
}
