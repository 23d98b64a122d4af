// This file tests what a guard may say of runs that are not its own: nothing.

package guard_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apportion/apportion/checkpoint/guard"
)

// A job with its own credential neither tells that another's run has ended nor claims it first, at a desk that has just begun as well.
func TestOwnRunOnly(t *testing.T) {
	d, _ := desk()
	d.Admit("lr", 5)
	server := httptest.NewServer(d.Handler(secret.Gate()))
	defer server.Close()
	says := func(job string, attempt int64, c guard.Claim) (guard.Grant, error) {
		h := guard.HTTP{URL: server.URL, Credential: secret.Credential(guard.Party(job, attempt))}
		return h.Renew(t.Context(), c)
	}
	ended := claim(5, "x")
	ended.State = guard.State{Started: true, Ended: &guard.End{}}
	id := claim(5, "x").ID
	// Of another job, of another attempt, and of jobs whose names look like it.
	for _, from := range []struct {
		job     string
		attempt int64
	}{{"other", 5}, {"lr", 4}, {"lr", 6}, {"5/lr", 5}, {"/lr", 5}, {"", 5}} {
		for _, c := range []guard.Claim{claim(5, "x"), ended} {
			if g, err := says(from.job, from.attempt, c); err == nil || !strings.Contains(err.Error(), "of another run") {
				t.Errorf("a guard of attempt %d of job %q claims for another: %+v, %v", from.attempt, from.job, g, err)
			}
		}
	}
	if _, known := d.Seen(id); known || d.AllOver(id, []int{0}) {
		t.Errorf("another's word counts: known %t, over %t", known, d.AllOver(id, []int{0}))
	}
	if g, err := says("lr", 5, claim(5, "a")); err != nil || g.Length == 0 {
		t.Errorf("the run's own guard: %+v, %v", g, err)
	}
}

// Nothing is kept of claims of which no run was ever vouched for, and not more of one job than it can have guards.
func TestStrangersAreNotKept(t *testing.T) {
	d, now := desk()
	d.Begin("lr", 100000)
	// After this nothing that another desk has vouched for lives any more.
	*now = now.Add(13e9)
	kept := 0
	for attempt := int64(1); attempt <= 20001; attempt++ {
		for _, c := range []guard.Claim{claim(attempt, "x"), claim(100000+attempt, "x")} {
			_, _ = d.Answer(c) // whatever it says
			if _, known := d.Seen(c.ID); known {
				kept++
			}
		}
	}
	stranger := claim(1, "x")
	stranger.Job = "never heard of"
	_, _ = d.Answer(stranger)
	if _, known := d.Seen(stranger.ID); known || kept > 0 {
		t.Errorf("%d claims of runs that were never vouched for are kept, and of an unknown job: %t", kept, known)
	}
	own := claim(100000, "a")
	var err error
	for own.Rank = 0; err == nil && own.Rank <= 1<<16; own.Rank++ {
		_, err = d.Answer(own)
	}
	if err == nil || !strings.Contains(err.Error(), "has 65536 guards already") {
		t.Errorf("%d guards of one job: %v", own.Rank, err)
	}
}
