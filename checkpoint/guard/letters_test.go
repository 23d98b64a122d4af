// This file tests claims by letters in a place that a test can break.

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/store"
)

// drawer is a place in memory. fails says what a call fails with.
type drawer struct {
	mu      sync.Mutex
	letters map[string]string
	puts    []string
	fails   func(call, name string) error
}

func newDrawer() *drawer {
	return &drawer{letters: map[string]string{}, fails: func(string, string) error { return nil }}
}

// Put implements Place.
func (d *drawer) Put(_ context.Context, name string, text []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fails("put", name); err != nil {
		return err
	}
	d.letters[name], d.puts = string(text), append(d.puts, name)
	return nil
}

// Get implements Place.
func (d *drawer) Get(_ context.Context, name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, there := d.letters[name]
	if err := d.fails("get", name); err != nil || !there {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return []byte(text), nil
}

// List implements Place.
func (d *drawer) List(context.Context) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.letters)), d.fails("list", "")
}

// letterOf is a claim of attempt 5 of a job at a time of its guard's clock.
func letterOf(job string, at time.Duration) Claim {
	return Claim{ID: ID{Job: job, Attempt: 5, Server: "s1"}, Epoch: 3, Life: "l", Clock: agent.Stamp{Boot: "b", At: at}}
}

// A guard finds the answer to an earlier claim of its own, and nothing else is one.
func TestLettersRenew(t *testing.T) {
	d := newDrawer()
	l := &Letters{Place: d}
	c := letterOf("lr", 7)
	if g, err := l.Renew(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nobody has answered: %+v, %v", g, err)
	}
	var left Claim
	if err := json.Unmarshal([]byte(d.letters[c.letter()+".claim"]), &left); err != nil || left.Clock != c.Clock || left.ID != c.ID || left.Life != "l" {
		t.Errorf("%+v, %v", left, err)
	}
	d.letters[c.letter()+".grant"] = `{"life": "l", "grant": {"heard": {"boot": "b", "at": 3}, "length": 1000, "save": 2}}`
	if g, err := l.Renew(t.Context(), c); err != nil || g.Heard.At != 3 || g.Length != 1000 || g.Save != 2 {
		t.Errorf("%+v, %v", g, err)
	}
	for _, text := range []string{`{"life": "m", "grant": {"length": 1000}}`, `{`, ``, `{"grant": {"length": 1000}}`, `[]`} {
		d.letters[c.letter()+".grant"] = text
		if g, err := l.Renew(t.Context(), c); err == nil || g != (Grant{}) {
			t.Errorf("%q: %+v, %v", text, g, err)
		}
	}
	fault := errors.New("full")
	d.fails = func(call, _ string) error { return map[string]error{"put": fault}[call] }
	if _, err := l.Renew(t.Context(), c); !errors.Is(err, fault) {
		t.Error(err)
	}
}

// Two runs never share a letter, whatever jobs and servers are called, and no name leads anywhere else.
func TestLetterNames(t *testing.T) {
	names, long := map[string]ID{}, strings.Repeat("long/", 60)
	for _, job := range []string{"a", "a-1", "a-1-0", "a%-1", "a/b", "..", "[", "*", "ä", "a b", long, long + "x"} {
		for _, server := range []string{"s", "1-s", "0-s", "s/t", "..", long} {
			for attempt := int64(1); attempt < 3; attempt++ {
				for rank := range 2 {
					id := ID{Job: job, Attempt: attempt, Server: server, Rank: rank}
					name := id.letter()
					if other, taken := names[name]; taken {
						t.Errorf("%+v and %+v are both %q", id, other, name)
					}
					if names[name] = id; strings.Contains(name, "/") || name == "." || name == ".." || len(name) > store.MaxFolderBytes {
						t.Errorf("%+v: %q", id, name)
					}
				}
			}
		}
	}
}

// The desk answers each new claim once. What is no claim, or one under another's name, is left alone, and what cannot be answered keeps
// nobody else from an answer.
func TestAnswerAll(t *testing.T) {
	d, desk := newDrawer(), NewDesk(3, time.Minute, time.Second, nil)
	desk.Admit("a", 5)
	desk.Admit("b", 5)
	before := map[string]Claim{}
	put := func(name string, c Claim) {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		d.letters[name] = string(text)
	}
	answers := func(want ...string) {
		t.Helper()
		d.puts = nil
		if err := desk.answerAll(t.Context(), d, before); err != nil {
			t.Error(err)
		}
		slices.Sort(d.puts)
		if !slices.Equal(d.puts, want) {
			t.Errorf("answers %v, want %v", d.puts, want)
		}
	}
	a, b := letterOf("a", 1), letterOf("b", 1)
	put(a.letter()+".claim", a)
	put(b.letter()+".claim", b)
	put("somebody-else.claim", a)
	put(letterOf("unknown", 1).letter()+".claim", letterOf("unknown", 1))
	d.letters["notes.txt"], d.letters["broken.claim"] = "nothing", "{"
	answers(a.letter()+".grant", b.letter()+".grant")
	answers()
	// A new clock is a new word of the guard, and so is another life, which is told that there is one.
	a.Clock.At = 2
	put(a.letter()+".claim", a)
	answers(a.letter() + ".grant")
	a.Life = "m"
	put(a.letter()+".claim", a)
	answers(a.letter() + ".grant")
	var g answered
	if err := json.Unmarshal([]byte(d.letters[a.letter()+".grant"]), &g); err != nil || g.Life != "m" || g.Grant.Fenced == "" {
		t.Errorf("%+v, %v", g, err)
	}
	// One that cannot be put is tried again, and told unless another desk was faster; the others are answered.
	fault := errors.New("full")
	a.Clock.At, b.Clock.At = 3, 3
	put(a.letter()+".claim", a)
	put(b.letter()+".claim", b)
	d.fails = func(call, name string) error {
		if call == "put" && name == a.letter()+".grant" {
			return fault
		}
		return nil
	}
	if err := desk.answerAll(t.Context(), d, before); !errors.Is(err, fault) || before[b.letter()].Clock.At != 3 || before[a.letter()].Clock.At != 2 {
		t.Errorf("%v, answered are %+v", err, before)
	}
	fault = fmt.Errorf("another desk: %w", fs.ErrNotExist)
	if err := desk.answerAll(t.Context(), d, before); err != nil || before[a.letter()].Clock.At != 2 {
		t.Errorf("%v, answered are %+v", err, before)
	}
	d.fails = func(string, string) error { return nil }
	answers(a.letter() + ".grant")
}

// The desk looks again after each pause until it is to end, and tells what goes wrong meanwhile.
func TestAnswerLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, desk := newDrawer(), NewDesk(3, time.Minute, time.Second, nil)
		lists := 0
		d.fails = func(call, _ string) error {
			if call == "list" {
				if lists++; lists%2 == 0 {
					return errors.New("away")
				}
			}
			return nil
		}
		ctx, end := context.WithCancel(t.Context())
		told := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			desk.AnswerLetters(ctx, d, time.Second, func(error) { told++ })
		}()
		time.Sleep(9*time.Second + time.Millisecond)
		end()
		<-ended
		if lists != 10 || told != 5 {
			t.Errorf("%d looks, %d faults told, want 10 and 5", lists, told)
		}
		// Nobody need listen, and a fault of the end is none.
		ctx, end = context.WithCancel(t.Context())
		end()
		desk.AnswerLetters(ctx, d, time.Second, nil)
		desk.AnswerLetters(ctx, d, time.Second, func(err error) { t.Errorf("told after the end: %v", err) })
	})
}
