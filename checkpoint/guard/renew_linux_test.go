// This file tests what a guard takes from the answers to its claims, by an authority that says what a test wants.

package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/internal/must"
)

// says is an authority that answers as it is told, and keeps the claims.
type says struct {
	mu     sync.Mutex
	claims []Claim
	answer func(Claim) (Grant, error)
}

func (s *says) Renew(_ context.Context, c Claim) (Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims = append(s.claims, c)
	return s.answer(c)
}

func (s *says) claimed() []Claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Claim{}, s.claims...)
}

// guardOf is a guard with an authority, of which nothing runs.
func guardOf(answer func(Claim) (Grant, error)) (*guard, *says) {
	s := &says{answer: answer}
	return &guard{config: Config{ID: ID{Job: "lr", Attempt: 5, Server: "s1", Rank: 2}, Epoch: 3, Authority: s}, life: "l", renewed: make(chan struct{}, 1),
		refused: make(chan string, 1), saves: make(chan int64, 1), news: make(chan struct{}, 1), requested: make(chan struct{}, 1)}, s
}

// ago is the clock of this boot some time before now.
func ago(d time.Duration) agent.Stamp {
	now := agent.Uptime()
	return agent.Stamp{Boot: now.Boot, At: now.At - d}
}

// A lease is as long as the longest of the grants says, each from its own clock: whatever order they come in, no length is counted from
// the clock of another grant.
func TestLeaseOfGrants(t *testing.T) {
	other := ago(0)
	other.Boot = "another"
	for name, c := range map[string]struct {
		grants []Grant
		want   time.Duration // what is left, nearly
	}{
		"one":                  {[]Grant{{Heard: ago(2 * time.Second), Length: time.Minute}}, 58 * time.Second},
		"renewed":              {[]Grant{{Heard: ago(40 * time.Second), Length: time.Minute}, {Heard: ago(0), Length: time.Minute}}, time.Minute},
		"overtaken":            {[]Grant{{Heard: ago(0), Length: time.Minute}, {Heard: ago(40 * time.Second), Length: time.Minute}}, time.Minute},
		"less and less":        {[]Grant{{Heard: ago(20 * time.Second), Length: 60 * time.Second}, {Heard: ago(0), Length: 40 * time.Second}}, 40 * time.Second},
		"less, overtaken":      {[]Grant{{Heard: ago(0), Length: 40 * time.Second}, {Heard: ago(20 * time.Second), Length: 60 * time.Second}}, 40 * time.Second},
		"shorter":              {[]Grant{{Heard: ago(0), Length: time.Minute}, {Heard: ago(0), Length: time.Second}}, time.Minute},
		"over":                 {[]Grant{{Heard: ago(time.Minute), Length: time.Second}}, 0},
		"over, then not":       {[]Grant{{Heard: ago(time.Minute), Length: time.Second}, {Heard: ago(0), Length: time.Minute}}, time.Minute},
		"of another boot":      {[]Grant{{Heard: other, Length: time.Minute}}, 0},
		"another boot's later": {[]Grant{{Heard: ago(0), Length: time.Second * 30}, {Heard: other, Length: time.Hour}}, 30 * time.Second},
		"from the future":      {[]Grant{{Heard: ago(-time.Hour), Length: time.Minute}}, 0},
		"nobody's":             {[]Grant{{Length: time.Minute}}, 0},
	} {
		g, s := guardOf(nil)
		for _, grant := range c.grants {
			s.answer = func(Claim) (Grant, error) { return grant, nil }
			must.Do(t, g.claim(t.Context(), 0), name)
		}
		left := g.left()
		if left > c.want || left < c.want-20*time.Second || c.want > 0 && left == 0 {
			t.Errorf("%s: %v are left, want %v", name, left, c.want)
		}
		if w := g.word(); c.want > 0 && w.Until-agent.Uptime().At > c.want {
			t.Errorf("%s: the keeper is told %v, want %v", name, w.Until-agent.Uptime().At, c.want)
		}
	}
}

// A claim says all that is known, with the clock before it was made.
func TestClaimSays(t *testing.T) {
	g, s := guardOf(func(c Claim) (Grant, error) { return Grant{Heard: c.Clock, Length: time.Minute}, nil })
	g.asked, g.state = 4, State{Started: true}
	g.state.Progress.Step = 7
	before := agent.Uptime()
	must.Do(t, g.claim(t.Context(), 3*time.Second))
	c := s.claimed()[0]
	if c.ID != g.config.ID || c.Epoch != 3 || c.Life != "l" || c.Asked != 4 || !c.State.Started || c.State.Progress.Step != 7 || c.Wait != 3*time.Second {
		t.Errorf("%+v", c)
	}
	if c.Clock.Boot != before.Boot || c.Clock.At < before.At || c.Clock.At > agent.Uptime().At {
		t.Errorf("its clock is %+v, before it was %+v", c.Clock, before)
	}
}

// What answers bring besides: a save once, and the newest only; the end once; and nothing by an answer that is an error or has no length.
func TestClaimHears(t *testing.T) {
	var answer Grant
	var fault error
	g, _ := guardOf(func(c Claim) (Grant, error) { answer.Heard = c.Clock; return answer, fault })
	claim := func(a Grant) error { answer = a; return g.claim(t.Context(), 0) }
	for _, save := range []int64{2, 5, 3, 5} {
		must.Do(t, claim(Grant{Length: time.Minute, Save: save}))
	}
	must.Equal(t, len(g.saves), 1, "nobody hears of the saves")
	if number := <-g.saves; number != 5 || len(g.saves) != 0 || g.asked != 5 {
		t.Errorf("save %d is asked for, %d more, %d is the newest", number, len(g.saves), g.asked)
	}
	if err := claim(Grant{Length: time.Minute, Save: 5}); err != nil || len(g.saves) != 0 {
		t.Errorf("a save that was begun is asked for again: %v", err)
	}
	must.Equal(t, len(g.renewed), 1, "the keeper is not told")
	wasWoken(g.renewed)
	for _, length := range []time.Duration{0, -1} {
		if err := claim(Grant{Length: length}); err == nil || len(g.renewed) != 0 {
			t.Errorf("length %v: %v", length, err)
		}
	}
	for range 2 {
		if err := claim(Grant{Length: time.Hour, Fenced: "over", Save: 9}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "over") {
			t.Error(err)
		}
	}
	must.Equal(t, len(g.refused), 1, "nobody hears that the run is fenced off")
	if why := <-g.refused; why != "over" || len(g.refused) != 0 || len(g.saves) != 0 || g.left() > time.Minute {
		t.Errorf("%q, %d more, %d saves, %v left", why, len(g.refused), len(g.saves), g.left())
	}
	fault = errors.New("away")
	if err := claim(Grant{Length: time.Hour}); !errors.Is(err, fault) || g.left() > time.Minute {
		t.Errorf("%v, %v left", err, g.left())
	}
}

// The first grant is waited for through errors and answers that are too old, until one is right, it is refused, or it takes too long.
func TestBegin(t *testing.T) {
	for name, c := range map[string]struct {
		answers []Grant
		start   time.Duration
		want    []error // what the error wraps; nil: it begins
		claims  int     // at least
	}{
		"at once":  {[]Grant{{Length: time.Minute}}, time.Minute, nil, 1},
		"late":     {[]Grant{{}, {Heard: ago(time.Hour), Length: time.Second}, {Length: time.Minute}}, time.Minute, nil, 3},
		"fenced":   {[]Grant{{}, {Fenced: "over"}}, time.Minute, []error{ErrRefused}, 2},
		"never":    {[]Grant{{}}, 300 * time.Millisecond, []error{ErrRefused, context.DeadlineExceeded}, 2},
		"too late": {[]Grant{{Heard: ago(time.Hour), Length: time.Second}}, 300 * time.Millisecond, []error{ErrRefused, context.DeadlineExceeded}, 2},
	} {
		var g *guard
		var s *says
		g, s = guardOf(func(claim Claim) (Grant, error) {
			answer := c.answers[min(len(s.claims), len(c.answers))-1]
			switch {
			case answer == Grant{}:
				return answer, errors.New("nobody answers")
			case answer.Heard == agent.Stamp{}:
				answer.Heard = claim.Clock
			}
			return answer, nil
		})
		g.config.Start = c.start
		err := g.begin(t.Context())
		must.Equal(t, err == nil, c.want == nil, name, err)
		for _, want := range c.want {
			must.Err(t, err, want, name)
		}
		if n := len(s.claimed()); n < c.claims {
			t.Errorf("%s: %d claims, want %d at least", name, n, c.claims)
		}
	}
}

// Claims come a sixth of the lease apart, or as often as Config.Every says, and faster when little is left; a save that was heard of is
// followed by a claim at once, which listens for the next.
func TestRenewAll(t *testing.T) {
	for name, c := range map[string]struct {
		length, every time.Duration
		want          time.Duration
	}{
		"a sixth": {60 * time.Second, 0, 10 * time.Second},
		"every":   {60 * time.Second, 2 * time.Second, 2 * time.Second},
		"rarely":  {60 * time.Second, time.Hour, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, s := guardOf(func(claim Claim) (Grant, error) { return Grant{Heard: claim.Clock, Length: c.length}, nil })
			g.config.Every = c.every
			must.Do(t, g.claim(t.Context(), 0))
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { g.renewAll(ctx); close(ended) }()
			time.Sleep(10*c.want + c.want/2)
			end()
			<-ended
			// One before, one at the beginning and one after each pause. The clock of the lease is that of the system, which has not moved.
			if n := len(s.claimed()); n < 11 || n > 13 {
				t.Errorf("%s: %d claims in ten pauses of %v", name, n, c.want)
			}
			if wait := s.claimed()[1].Wait; wait > c.want || wait < c.want-time.Second {
				t.Errorf("%s: the answer may wait for %v, want %v", name, wait, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		number := int64(0)
		g, s := guardOf(func(claim Claim) (Grant, error) {
			number = min(number+1, 5)
			return Grant{Heard: claim.Clock, Length: time.Hour, Save: number}, nil
		})
		must.Do(t, g.claim(t.Context(), 0))
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { g.renewAll(ctx); close(ended) }()
		time.Sleep(time.Second)
		end()
		<-ended
		must.Equal(t, len(s.claimed()), 6, "claims while five saves were asked for")
	})
}

// What has happened is told at once and without a wait, and the end is told although the guard was told to end.
func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s := guardOf(func(Claim) (Grant, error) { return Grant{}, errors.New("away") })
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { g.tellAll(ctx); close(ended) }()
		for range 3 {
			wake(g.news)
			synctest.Wait()
		}
		must.Equal(t, len(s.claimed()), 3, "claims")
		end()
		<-ended
		g.tell(ctx)
		claims := s.claimed()
		if len(claims) != 4 || claims[3].Wait != 0 {
			t.Errorf("%+v", claims)
		}
	})
	// An authority that hangs keeps nobody.
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		g, _ := guardOf(func(Claim) (Grant, error) { <-over; return Grant{}, nil })
		began := time.Now()
		g.tell(t.Context())
		must.Equal(t, time.Since(began), lastWords, "it took")
		close(over)
	})
}

// An end is told in words, with the reason of the guard where it has one.
func TestEndString(t *testing.T) {
	for want, e := range map[string]End{
		"exit status 3":                                {Code: 3},
		"signal: killed":                               {Code: -1, Signal: "killed"},
		"signal: killed (ended: lease)":                {Code: -1, Signal: "killed", Why: LeaseOver},
		"exit status 0 (ended: " + string(Asked) + ")": {Why: Asked},
	} {
		must.Equal(t, e.String(), want)
	}
	must.Equal(t, fmt.Sprint(End{}), "exit status 0")
}
