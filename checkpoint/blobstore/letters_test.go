// This file checks that a run is vouched for by objects in a bucket, and no longer than somebody answers.

package blobstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/blobstore"
	"github.com/apportion/apportion/checkpoint/guard"
)

var _ guard.Place = (*blobstore.Letters)(nil)

// A guard is vouched for through the bucket, one that is fenced off is told so, and what else lies there is left alone.
func TestLetters(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	place := &blobstore.Letters{Bucket: bucket, Prefix: "leases/"}
	d := guard.NewDesk(3, time.Minute, time.Second, nil)
	d.Admit("team/lr", 5)
	claim := guard.Claim{ID: guard.ID{Job: "team/lr", Attempt: 5, Server: "s1"}, Epoch: 3, Life: "a", Clock: agent.Stamp{Boot: "b", At: time.Minute}}
	for name, text := range map[string]string{"leases/stray.claim": "{", "leases/other": "x", "elsewhere.claim": "{}",
		"leases/long.claim": `{"job":"` + strings.Repeat("x", 1<<17) + `"}`} {
		if err := bucket.WriteAll(t.Context(), name, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	authority := &guard.Letters{Place: place}
	if g, err := authority.Renew(t.Context(), claim); err == nil {
		t.Fatalf("nobody has answered: %+v", g)
	}
	if text, err := place.Get(t.Context(), "long.claim"); err != nil || len(text) != 1<<16 {
		t.Errorf("%d bytes of a long letter, %v", len(text), err)
	}
	names, err := place.List(t.Context())
	if err != nil || len(names) != 4 {
		t.Errorf("%v, %v", names, err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		d.AnswerLetters(ctx, place, time.Millisecond, func(err error) { t.Error(err) })
		close(ended)
	}()
	eventually := func(want func(guard.Grant, error) bool) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			claim.Clock.At++
			g, err := authority.Renew(t.Context(), claim)
			if want(g, err) {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%+v, %v", g, err)
			}
		}
	}
	eventually(func(g guard.Grant, err error) bool {
		return err == nil && g.Length == time.Minute && g.Heard.At > time.Minute && g.Heard.At <= claim.Clock.At
	})
	d.Fence("team/lr", 5)
	eventually(func(g guard.Grant, err error) bool { return err == nil && g.Fenced != "" })
	end()
	<-ended
	if err := bucket.Close(); err != nil {
		t.Fatal(err)
	}
	var told error
	ctx, end = context.WithTimeout(t.Context(), time.Minute)
	defer end()
	d.AnswerLetters(ctx, place, time.Millisecond, func(err error) { told = err; end() })
	if told == nil {
		t.Error("nobody is told that the bucket is gone")
	}
}
