// This file tests what lies beside the contract: options, time, foreign objects, damage that is repaired by
// hand, and stores that know nothing of each other.

package blobstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

func TestOpenRefuses(t *testing.T) {
	must.Fail(Open(t.Context(), "nobody://bucket", nil))(t, must.ErrAny, "a scheme without a driver passes")
	must.Fail(Open(t.Context(), "file:///not/there", nil))(t, must.ErrAny, "a directory that is not there passes")
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	for _, o := range []Options{{Grace: -1}, {BlockBytes: -1}} {
		must.Fail(New(bucket, &o))(t, apportion.ErrNegative, o)
	}
}

// TestLoserCleansUp: a writer whose number is taken leaves nothing behind.
func TestLoserCleansUp(t *testing.T) {
	s := memory(t)
	for _, data := range []string{"content 1", "content 1", "other content"} {
		w, err := save(t.Context(), s, 1, data)
		if data == "other content" {
			must.Err(t, err, store.ErrExists, "other content")
			err = w.Abort()
		}
		noError(t, err)
		if all := keys(t, s.on.Bucket); len(all) != 2 {
			t.Errorf("after %q there is %q, want a part and a manifest", data, all)
		}
	}
	s.check(t, 1, present, "after losers")
}

// TestLockEnds lets the context end while another writer of the store writes the manifest.
func TestLockEnds(t *testing.T) {
	s := memory(t)
	unlock, err := s.on.lock(t.Context(), "key")
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(s.on.lock(ctx, "key"))(t, context.Canceled, "a lock that is taken", "want the context's error")
	if other, err := s.on.lock(ctx, "another key"); err != nil {
		t.Errorf("another lock: %v", err)
	} else {
		other()
	}
	unlock()
	must.Equal(t, len(s.on.committing), 0, "locks stayed")
}

func TestGrace(t *testing.T) {
	s := memory(t)
	late, err := s.Begin(t.Context(), "job", 1)
	noError(t, err)
	part, err := late.Part("part")
	noError(t, err)
	noError(t, part.Close())
	count := func(what string, want int) {
		t.Helper()
		noError(t, s.Collect(t.Context()))
		if got := keys(t, s.on.Bucket); len(got) != want {
			t.Errorf("%s there is %q, want %d", what, got, want)
		}
	}
	count("at once", 1)
	*s.shift = defaultGrace + time.Minute
	count("after the grace", 1)
	must.Fail(late.Commit())(t, errLate, "Commit after the grace", "want errLate")
	*s.shift = 2*defaultGrace + time.Minute
	count("after twice the grace", 0)
	must.Do(t, late.Abort(), "Abort of what was collected")
}

// TestStoresOfOneBucket lets stores that know nothing of each other commit under one number, as two
// processes do, on media that refuse to write what exists.
func TestStoresOfOneBucket(t *testing.T) {
	for name, bucket := range map[string]subject{"memory": memory(t), "S3": newSubject(t, openURL(t, s3URL(t, nil)))} {
		const stores = 6
		for number := range int64(5) {
			number++
			errs := make([]error, stores)
			var group sync.WaitGroup
			for i := range stores {
				group.Go(func() {
					s, err := New(bucket.on.Bucket, nil)
					if err != nil {
						errs[i] = err
						return
					}
					_, errs[i] = save(t.Context(), s, number, fmt.Sprint("writer ", i))
				})
			}
			group.Wait()
			winner := slices.Index(errs, nil)
			for i, err := range errs {
				if i != winner && !errors.Is(err, store.ErrExists) {
					t.Errorf("%s: writer %d beside %d, which won: %v, want ErrExists", name, i, winner, err)
				}
			}
			must.Equal(t, must.Have(storetest.Read(t.Context(), bucket, "job", number))(t), fmt.Sprint("writer ", winner), name, "writer", winner, "had won")
		}
	}
}

// TestForeign leaves alone what the store did not write, and takes none of it for a checkpoint.
func TestForeign(t *testing.T) {
	s := memory(t)
	must.Have(save(t.Context(), s, 1, "content 1"))(t)
	place := string(store.NewPlace(time.Unix(0, 0)))
	foreign := []string{
		"README", "job/notes", "job/007/manifest", "job/0/manifest", "job/-1/manifest", "job/x/" + place + "/0",
		"job/2/" + place, "job/2/1-x/0", "job/2/" + place + "/0/1", "job/02/" + place + "/0", "a/b/2/" + place + "/0",
	}
	for _, key := range foreign {
		noError(t, s.on.Bucket.WriteAll(t.Context(), key, []byte("mine"), nil))
	}
	*s.shift = 3 * defaultGrace
	noError(t, s.Collect(t.Context()))
	all := keys(t, s.on.Bucket)
	for _, key := range foreign {
		if !slices.Contains(all, key) {
			t.Errorf("%s is gone", key)
		}
	}
	list, err := s.List(t.Context(), "job")
	if err != nil || len(list) != 1 || list[0].Number != 1 {
		t.Errorf("List: %v, %v; want number 1 alone", list, err)
	}
}

// TestCollectKeepsDamaged keeps parts of which a damaged manifest may tell.
func TestCollectKeepsDamaged(t *testing.T) {
	s := memory(t)
	must.Have(save(t.Context(), s, 1, "content 1"))(t)
	intact, err := s.on.Bucket.ReadAll(t.Context(), manifestKey("job", 1))
	noError(t, err)
	nowhere, err := store.Encode(store.Stored{Record: store.Record{Manifest: store.Manifest{Job: "job", Number: 1}}})
	noError(t, err)
	*s.shift = 3 * defaultGrace
	for _, data := range [][]byte{[]byte("damaged"), nowhere} {
		noError(t, s.on.Bucket.WriteAll(t.Context(), manifestKey("job", 1), data, nil))
		must.Fail(s.Open(t.Context(), "job", 1))(t, store.ErrCorrupt, "Open", "want ErrCorrupt")
		noError(t, s.Collect(t.Context()))
	}
	noError(t, s.on.Bucket.WriteAll(t.Context(), manifestKey("job", 1), intact, nil))
	s.check(t, 1, present, "a manifest restored by hand")
}

// TestDeletedWhileOpen tells a part that was deleted from one that is lost.
func TestDeletedWhileOpen(t *testing.T) {
	s := memory(t)
	must.Have(save(t.Context(), s, 1, "content 1"))(t)
	r, err := s.Open(t.Context(), "job", 1)
	noError(t, err)
	noError(t, s.Delete(t.Context(), "job", 1))
	must.Fail(r.Part("part"))(t, store.ErrNotFound, "Part after Delete", "want ErrNotFound")
	if all := keys(t, s.on.Bucket); len(all) > 0 {
		t.Errorf("%q stayed", all)
	}
}

// TestBlocks uploads a part in several blocks.
func TestBlocks(t *testing.T) {
	s := newSubject(t, openURL(t, s3URL(t, nil)))
	s.on.options.BlockBytes = 5 << 20
	data := strings.Repeat("0123456789abcdef", (12<<20)/16)
	must.Have(save(t.Context(), s, 1, data))(t)
	if got, err := storetest.Read(t.Context(), s, "job", 1); err != nil || got != data {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(data))
	}
}

// noError ends the test at an error.
func noError(t testing.TB, err error) {
	t.Helper()
	must.Do(t, err)
}
