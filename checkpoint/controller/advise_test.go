// This file tests an advisor on a cluster in memory whose jobs somebody else gives what it says.

package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/checkpoint/controller"
)

// advised is a cluster with an advisor, and what its jobs have.
type advised struct {
	*testing.T
	fake *fake
	a    *controller.Advisor

	mu    sync.Mutex
	has   alloc.Allocation
	blind bool
}

func newAdvised(t *testing.T) *advised {
	d := &advised{T: t, fake: &fake{}, has: alloc.Allocation{}}
	for _, id := range []string{"n1", "n2"} {
		d.fake.view.Servers = append(d.fake.view.Servers, controller.Server{Server: apportion.Server{ID: id, Capacity: apportion.Resources{4}}})
	}
	d.a = controller.NewAdvisor(controller.Config{Cluster: d.fake, Look: time.Millisecond,
		Problem: alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Theta1: 1, Theta2: 1}}, d.running)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { d.a.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return d
}

func (d *advised) running(context.Context) (alloc.Allocation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.blind {
		return nil, errors.New("nobody knows what runs")
	}
	return d.has.Clone(), nil
}

// set changes what the jobs have, and whether that is known.
func (d *advised) set(has alloc.Allocation, blind bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.has, d.blind = has, blind
}

func (d *advised) submit(id string, most int64) {
	d.fake.change(func(v *controller.View) {
		v.Jobs = append(v.Jobs, controller.Job{Application: alloc.Application{ID: id, Weight: 1, Form: alloc.Form{Demand: apportion.Resources{1}, Min: 1, Max: most}}})
	})
}

func (d *advised) says(what string, is func(controller.Taken) bool) controller.Taken {
	d.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		last := d.a.Last()
		if is(last) {
			return last
		}
		if time.Now().After(end) {
			d.Fatalf("never: %s; %+v", what, last)
		}
	}
}

func (d *advised) gives(id string, n int64) controller.Taken {
	d.Helper()
	return d.says("it gives "+id, func(t controller.Taken) bool { return t.Decision != nil && t.Decision.Allocation.Containers(id) == n })
}

// Decisions follow the cluster, start from what runs, and stay as they are while nothing changes.
func TestAdvisor(t *testing.T) {
	d := newAdvised(t)
	d.submit("a", 8)
	taken := d.gives("a", 8)
	d.set(taken.Decision.Allocation, false)
	d.says("it has seen that", func(t controller.Taken) bool { return t.Problem.Previous.Containers("a") == 8 })
	d.submit("b", 8)
	// One that cannot be decided about holds up nobody.
	d.submit("bad", -1)
	taken = d.gives("b", 4)
	if taken.Decision.Allocation.Containers("a") != 4 || taken.Problem.Previous.Containers("a") != 8 {
		t.Errorf("%+v", taken)
	}
	time.Sleep(20 * time.Millisecond)
	if again := d.a.Last(); !again.At.Equal(taken.At) {
		t.Errorf("decided at %v and again at %v", taken.At, again.At)
	}
}

// A cluster that cannot be seen has no decision, until it can be seen again.
func TestAdvisorIsBlind(t *testing.T) {
	d := newAdvised(t)
	d.submit("a", 8)
	d.gives("a", 8)
	for _, blind := range []func(bool){func(b bool) { d.set(nil, b) }, func(b bool) { d.fake.mu.Lock(); d.fake.blind = b; d.fake.mu.Unlock() }} {
		blind(true)
		d.says("it knows nothing", func(t controller.Taken) bool { return t.Decision == nil && strings.Contains(t.Fault, "nobody") })
		blind(false)
		d.gives("a", 8)
	}
	// What runs on a server that went down is not known to be gone, and is no reason to know nothing.
	d.set(alloc.Allocation{"a": {"n1": 4, "n2": 4}}, false)
	d.fake.change(func(v *controller.View) { v.Servers[1].Down = "gone" })
	d.says("it has seen that", func(t controller.Taken) bool { return t.Decision != nil && t.Decision.Allocation.Containers("a") == 4 })
}

// Whoever shows the token is told the decision, and why.
func TestAdvisorHandler(t *testing.T) {
	d := newAdvised(t)
	handler := d.a.Handler("secret")
	get := func(path, token string) *httptest.ResponseRecorder {
		r, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		handler.ServeHTTP(r, request)
		return r
	}
	d.submit("a", 8)
	d.gives("a", 8)
	var taken controller.Taken
	if r := get("/decision", "secret"); json.Unmarshal(r.Body.Bytes(), &taken) != nil || taken.Decision.Allocation.Containers("a") != 8 {
		t.Errorf("%d %s", r.Code, r.Body)
	}
	if r := get("/explain", "secret"); r.Code != http.StatusOK || !strings.Contains(r.Body.String(), "a                  8 in [1, 8]") {
		t.Errorf("%d %s", r.Code, r.Body)
	}
	for _, path := range []string{"/decision", "/explain", "/decision?token=secret"} {
		if r := get(path, "wrong"); r.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}

// Work of others that has just come moves nobody by an advisor either; what waits does.
func TestAdvisorMakesWay(t *testing.T) {
	d := newAdvised(t)
	d.submit("a", 8)
	d.gives("a", 8)
	looks := d.fake.looks.Load()
	d.fake.change(func(v *controller.View) { v.Waiting = []controller.Waiting{plain("theirs", 3)} })
	taken := d.gives("a", 5)
	if n := d.fake.looks.Load() - looks; n < 2 {
		t.Errorf("after %d looks: %+v", n, taken)
	}
}
