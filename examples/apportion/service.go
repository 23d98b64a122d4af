//go:build !js && !apportion_clib

// This file is the handler of "apportion serve": sessions by name, and questions that stand alone.

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apportion/apportion/examples/internal/strictjson"
)

// schemas are what requests and answers are described by.
//
//go:embed schema/*.json
var schemas embed.FS

// service answers requests. Sessions are kept in memory alone: after a restart a caller puts its problem again.
type service struct {
	*command
	token [sha256.Size]byte // of the token; of "" where there is none
	// turns has a place for each answer that is being worked out, bodies one for each request whose body is in memory.
	turns, bodies chan struct{}

	mu       sync.Mutex
	sessions map[string]*served
}

// served is a session that answers one question after the other: turn has a place for one.
type served struct {
	*session
	turn chan struct{}
	used time.Time // under the lock of the service
}

func newService(c *command, token string) *service {
	return &service{command: c, token: sha256.Sum256([]byte(token)), turns: make(chan struct{}, c.service.atOnce),
		bodies: make(chan struct{}, inMemory*c.service.atOnce), sessions: make(map[string]*served)}
}

// inMemory is how many requests may be in memory for each answer that is worked out: the others wait before their bodies are read.
const inMemory = 4

// route is one thing that can be asked; input and output are names of schemas, empty where there is none.
type route struct {
	method, path, summary string
	input, output         string
	// parameters are those of the query.
	parameters []string
	answer     func(s *service, w http.ResponseWriter, r *http.Request) error
}

// routes are all of them; the description of the service is made from the same list.
var routes = []route{
	{"GET", "/v1/sessions", "The names of all sessions.", "", "service.sessions", nil, (*service).list},
	{"PUT", "/v1/sessions/{name}", "Begins a session with a problem, and decides it. One of that name is replaced.", "session.header", "dorm.output", []string{"effort"}, (*service).put},
	{"POST", "/v1/sessions/{name}", "Tells or asks a session: what has happened, why, what if, what it is.", "session.input", "session.output", nil, (*service).ask},
	{"DELETE", "/v1/sessions/{name}", "Ends a session.", "", "", nil, (*service).drop},
	{"POST", "/v1/drf", "Who deserves how much of one pool.", "drf.input", "drf.output", nil, alone("drf")},
	{"POST", "/v1/dorm", "One decision, without a session.", "dorm.input", "dorm.output", []string{"effort"}, alone("dorm")},
	{"POST", "/v1/why", "What keeps an application from more containers.", "dorm.input", "why.output", []string{"effort", "job"}, alone("why")},
	{"POST", "/v1/verify", "What a record proves.", "record", "verify.output", nil, alone("verify")},
	{"POST", "/v1/replay", "Whether a recorded decision is the same when it is taken again.", "record", "replay.output", nil, alone("replay")},
}

// asked answers a request whose query has nothing but parameters of the route, each once.
func (r *route) asked(s *service, w http.ResponseWriter, request *http.Request) error {
	query := request.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(r.parameters, name) || len(query[name]) > 1 {
			return fmt.Errorf("the parameter %q is unknown, or there twice", name)
		}
	}
	return r.answer(s, w, request)
}

// handler returns the handler of all routes.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.method+" "+r.path, s.answering(r.asked))
	}
	mux.Handle("GET /v1/schema/", http.StripPrefix("/v1/", http.FileServerFS(schemas)))
	mux.Handle("GET /v1/openapi.json", s.answering((*service).describe))
	mux.Handle("GET /healthz", s.answering(func(_ *service, w http.ResponseWriter, _ *http.Request) error {
		return reply(w, http.StatusOK, map[string]string{"status": "ok"})
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.allowed(r) {
			_ = reply(w, http.StatusUnauthorized, failureOf(errors.New("the token is missing or wrong")))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// allowed reports whether a request shows the token. Digests are compared, so that how long it takes says nothing.
func (s *service) allowed(r *http.Request) bool {
	if s.service.token == "" {
		return true
	}
	shown, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	digest := sha256.Sum256([]byte(shown))
	return bearer && subtle.ConstantTimeCompare(digest[:], s.token[:]) == 1
}

// answering turns an error, or a panic, into the answer to this request alone.
func (s *service) answering(answer func(*service, http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				_ = reply(w, http.StatusInternalServerError, failureOf(fmt.Errorf("panic: %v", p)))
			}
		}()
		if r.ContentLength != 0 {
			select {
			case s.bodies <- struct{}{}:
				defer func() { <-s.bodies }()
			case <-r.Context().Done():
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, s.service.body)
		if err := answer(s, w, r); err != nil {
			_ = reply(w, statusOf(err), failureOf(err))
		}
	})
}

// The errors of the service itself.
var (
	errNoSession = errors.New("no session has this name")
	errTooMany   = errors.New("there are too many sessions")
	errMemory    = errors.New("there is too little memory")
	errBusy      = errors.New("too much is being worked out")
)

// statusOf returns the status for an error.
func statusOf(err error) int {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), errors.Is(err, strictjson.ErrTooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errNoSession):
		return http.StatusNotFound
	case errors.Is(err, errTooMany):
		return http.StatusTooManyRequests
	case errors.Is(err, errMemory):
		return http.StatusInsufficientStorage
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case isFault(err):
		return http.StatusUnprocessableEntity
	}
	return http.StatusBadRequest
}

// reply writes an answer, for which a reader has as long as for a request.
func reply(w http.ResponseWriter, status int, answer any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(4 * slowest)) // a recorder in tests has none
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the caller may be gone
	return nil
}

// work waits for its turns, and returns what do answers in the time that there is: what is begun does not depend on whether its caller waits.
// The turns are over when the answer is written, for which a reader may be slow.
func (s *service) work(r *http.Request, do func(ctx context.Context) (any, error), turns ...chan struct{}) (any, error) {
	waiting, cancel := context.WithTimeout(r.Context(), s.service.timeout)
	defer cancel()
	// That of all comes last: a question that waits for its session keeps no other from an answer.
	for _, turn := range append(turns, s.turns) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-waiting.Done():
			return nil, errBusy
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.service.timeout)
	defer cancel()
	return do(ctx)
}

// put begins a session.
func (s *service) put(w http.ResponseWriter, r *http.Request) error {
	effort, err := effortOf(r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("the name %q is not UTF-8, or has a control character", name)
	}
	if err := s.roomFor(name); err != nil {
		return err
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	out, err := s.work(r, func(ctx context.Context) (any, error) {
		begun, out, err := newSession(ctx, text, effort)
		if err != nil {
			return nil, err
		}
		return out, s.keep(name, begun)
	})
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, out)
}

// effortOf reads the parameter effort.
func effortOf(r *http.Request) (int64, error) {
	text := r.URL.Query().Get("effort")
	if text == "" {
		return 0, nil
	}
	effort, err := strconv.ParseInt(text, 10, 64)
	if err != nil || effort < 1 {
		return 0, fmt.Errorf("effort is %q, and must be a whole number of at least 1", text)
	}
	return effort, nil
}

// roomFor says why a session cannot be kept, before any work is done for it. Sessions that were not used for long go.
func (s *service) roomFor(name string) error {
	if s.service.memory > 0 && liveBytes() > uint64(s.service.memory) {
		return errMemory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room(name)
}

// room is roomFor under the lock.
func (s *service) room(name string) error {
	if s.service.idle > 0 {
		maps.DeleteFunc(s.sessions, func(_ string, one *served) bool { return time.Since(one.used) > s.service.idle })
	}
	if s.sessions[name] == nil && len(s.sessions) >= s.service.most {
		return errTooMany
	}
	return nil
}

// keep keeps a session under its name.
func (s *service) keep(name string, begun *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(name); err != nil {
		return err
	}
	s.sessions[name] = &served{session: begun, turn: make(chan struct{}, 1), used: time.Now()}
	return nil
}

// liveBytes returns what was in use after the last collection.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// ask asks a session one question.
func (s *service) ask(w http.ResponseWriter, r *http.Request) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	one := s.sessions[r.PathValue("name")]
	if one != nil {
		one.used = time.Now()
	}
	s.mu.Unlock()
	if one == nil {
		return errNoSession
	}
	out, err := s.work(r, func(ctx context.Context) (any, error) { return one.answer(ctx, text) }, one.turn)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, out)
}

// drop ends a session.
func (s *service) drop(w http.ResponseWriter, r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("name")
	if s.sessions[name] == nil {
		return errNoSession
	}
	delete(s.sessions, name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// list lists the names of all sessions.
func (s *service) list(w http.ResponseWriter, _ *http.Request) error {
	s.mu.Lock()
	names := slices.Sorted(maps.Keys(s.sessions))
	s.mu.Unlock()
	return reply(w, http.StatusOK, map[string][]string{"sessions": append([]string{}, names...)})
}

// alone answers with a subcommand; a query has its flags.
func alone(subcommand string) func(*service, http.ResponseWriter, *http.Request) error {
	return func(s *service, w http.ResponseWriter, r *http.Request) error {
		args := []string{subcommand}
		for _, name := range []string{"effort", "job"} {
			if value := r.URL.Query().Get(name); value != "" {
				args = append(args, "-"+name+"="+value)
			}
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		answer, err := s.work(r, func(ctx context.Context) (any, error) {
			var out bytes.Buffer
			// That a replayed answer differs is an answer, too.
			err := s.dispatch(ctx, args, bytes.NewReader(text), &out, io.Discard)
			if out.Len() > 0 {
				err = nil
			}
			return json.RawMessage(out.Bytes()), err
		})
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, answer)
	}
}
