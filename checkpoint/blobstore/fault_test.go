// This file lets requests fail, hang and lose their answers.

package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// requestLog is a server that notes every request: method, last element of the path, condition.
type requestLog struct {
	next  http.Handler
	mu    sync.Mutex
	lines []string
}

func (l *requestLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.lines = append(l.lines, fmt.Sprint(r.Method, " ", r.URL.Path[strings.LastIndex(r.URL.Path, "/"):], " ", r.Header.Get("If-None-Match")))
	l.mu.Unlock()
	l.next.ServeHTTP(w, r)
}

// logged returns a store and the log of the requests that it makes.
func logged(t *testing.T) (subject, *requestLog) {
	log := &requestLog{}
	return newSubject(t, openURL(t, s3URL(t, func(next http.Handler) http.Handler {
		log.next = next
		return log
	}))), log
}

func TestManifestLast(t *testing.T) {
	s, log := logged(t)
	must.Have(save(t.Context(), s, 1, "content"))(t)
	// The last one looks for a fence.
	must.Same(t, log.lines, []string{"PUT /0 ", "PUT /manifest *", "GET /checkpoints "}, "the requests of a commit")
}

// TestAbortUploadsNothing gives a part up that was not closed.
func TestAbortUploadsNothing(t *testing.T) {
	s, log := logged(t)
	w, err := s.Begin(t.Context(), "job", 1)
	noError(t, err)
	part, err := w.Part("part")
	noError(t, err)
	must.Have(io.WriteString(part, "content"))(t)
	noError(t, w.Abort())
	if slices.Contains(log.lines, "PUT /0 ") {
		t.Errorf("the requests are %q: the part was uploaded", log.lines)
	}
}

// TestExplain: whatever a driver says after the end of the context, callers find the context's error.
func TestExplain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	driver := errors.New("connection closed")
	must.Equal(t, explain(ctx, driver), driver, "with a live context")
	cancel()
	if err := explain(ctx, driver); !errors.Is(err, context.Canceled) || !errors.Is(err, driver) {
		t.Errorf("after the end of the context: %v", err)
	}
	must.Do(t, explain(ctx, nil), "no error became")
}

// fault is what a server does with one request or with all from one on.
type fault string

const (
	refuses  fault = "refuses one request"
	forgets  fault = "does one request and answers with an error"
	mutes    fault = "does one request and answers that and the next with an error"
	vanishes fault = "refuses all requests from one on" // as if the process had died there
)

// faultyServer counts requests; from is the one with the fault, counted from 1.
type faultyServer struct {
	next  http.Handler
	fault fault
	from  int64
	count atomic.Int64
}

// ServeHTTP implements http.Handler. The error is one that no client tries again.
func (f *faultyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.count.Add(1)
	if n == f.from && (f.fault == forgets || f.fault == mutes) {
		f.next.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n == f.from || n == f.from+1 && f.fault == mutes || n > f.from && f.fault == vanishes {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "fault", http.StatusForbidden)
		return
	}
	f.next.ServeHTTP(w, r)
}

// session commits twice, lists, and deletes the first; it returns what each step said.
func session(ctx context.Context, s *Store) (first, second, deleted error) {
	steps := func(number int64) error {
		w, err := save(ctx, s, number, fmt.Sprint("content ", number))
		if err != nil && w != nil {
			_ = w.Abort() // may fail as well
		}
		return err
	}
	first, second = steps(1), steps(2)
	_, _ = s.List(ctx, "job") // changes nothing
	return first, second, s.Delete(ctx, "job", 1)
}

// TestRequestsFail lets each request of a session fail in each way. Afterwards each checkpoint is whole
// or not visible, those that were said to be committed are there, and after the grace nothing is left
// over.
func TestRequestsFail(t *testing.T) {
	cases := 0
	for _, fault := range []fault{refuses, forgets, mutes, vanishes} {
		for from := int64(1); ; from++ {
			server := &faultyServer{fault: fault, from: from}
			url := s3URL(t, func(next http.Handler) http.Handler {
				server.next = next
				return server
			})
			first, second, deleted := session(t.Context(), openURL(t, url))
			if server.count.Load() < from {
				break
			}
			cases++
			server.from, server.fault = 0, refuses // repaired
			s := newSubject(t, openURL(t, url))
			outcome := fmt.Sprintf("the server %s, number %d: %v; %v; %v", fault, from, first, second, deleted)
			s.check(t, 1, cond(deleted == nil, absent), outcome) // a Delete that fails may have deleted
			s.check(t, 2, cond(second == nil, present), outcome)
			*s.shift = 2*defaultGrace + time.Minute
			noError(t, s.Collect(t.Context()))
			if n := s.Leftovers(t); n > 0 {
				t.Errorf("%s: %d leftovers stayed: %q", outcome, n, keys(t, s.on.Bucket))
			}
			s.check(t, 2, cond(second == nil, present), outcome+", after Collect")
		}
	}
	t.Logf("%d cases", cases)
}

// expected is what is known of a checkpoint.
type expected int

const (
	maybe   expected = iota // it may be there
	present                 // it must be there
	absent                  // it must not
)

// cond returns e if it is known to hold.
func cond(known bool, e expected) expected {
	if known {
		return e
	}
	return maybe
}

// check compares a checkpoint with what is known. If it is there it is whole.
func (s subject) check(t *testing.T, number int64, want expected, outcome string) {
	t.Helper()
	data, err := storetest.Read(t.Context(), s, "job", number)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		t.Errorf("%s: reading %d: %v", outcome, number, err)
	case err != nil && want == present:
		t.Errorf("%s: %d is lost", outcome, number)
	case err == nil && want == absent:
		t.Errorf("%s: %d is there", outcome, number)
	case err == nil && data != fmt.Sprint("content ", number):
		t.Errorf("%s: %d holds %q", outcome, number, data)
	}
}

// TestAnswerLost has a server that does what it is told and breaks the connection: the client tries again
// by itself, is told that the manifest exists, and Commit finds that it is its own.
func TestAnswerLost(t *testing.T) {
	var broken atomic.Int64
	s := newSubject(t, openURL(t, s3URL(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, manifestName) && broken.Add(1) == 1 {
				next.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	})))
	must.Have(save(t.Context(), s, 1, "content 1"))(t)
	if broken.Load() < 2 {
		t.Error("the client did not try again")
	}
	s.check(t, 1, present, "after a lost answer")
}

// TestHangs has a server that never answers: the end of the context ends each method.
func TestHangs(t *testing.T) {
	var hanging atomic.Bool
	arrived := make(chan struct{}, 100)
	s := newSubject(t, openURL(t, s3URL(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hanging.Load() {
				arrived <- struct{}{}
				_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	})))
	must.Have(save(t.Context(), s, 1, "content 1"))(t)
	opened, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := s.Open(opened, "job", 1)
	noError(t, err)
	hanging.Store(true)
	for name, call := range map[string]func(ctx context.Context) error{
		"Part":    func(ctx context.Context) error { _, err := save(ctx, s, 2, "content 2"); return err },
		"Open":    func(ctx context.Context) error { _, err := s.Open(ctx, "job", 1); return err },
		"List":    func(ctx context.Context) error { _, err := s.List(ctx, "job"); return err },
		"Delete":  func(ctx context.Context) error { return s.Delete(ctx, "job", 1) },
		"Collect": s.Collect,
		"Reader": func(ctx context.Context) error {
			defer context.AfterFunc(ctx, cancel)()
			_, err := r.Part("part")
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- call(ctx) }()
		<-arrived
		cancel()
		select {
		case err := <-answer:
			must.Err(t, err, context.Canceled, name)
		case <-time.After(time.Minute):
			t.Fatalf("%s did not return", name)
		}
	}
	hanging.Store(false)
	s.check(t, 1, present, "after all that hung")
	s.check(t, 2, absent, "after all that hung")
}
