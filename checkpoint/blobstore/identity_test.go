// This file tests that a bucket is known again, and that another one is refused.

package blobstore

import (
	"errors"
	"sync"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/must"
)

func TestIdentityOfAnotherBucket(t *testing.T) {
	url := "file://" + t.TempDir() + "?no_tmp_dir=1&metadata=skip"
	s := openURL(t, url)
	id, err := s.Identity(t.Context())
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	again := must.Have(Open(t.Context(), url, &Options{Identity: id}))(t)
	defer again.Close()
	// The bucket is emptied while the store is in use: from then on it is not the store any more.
	noError(t, again.on.Bucket.Delete(t.Context(), identityKey))
	if got, err := again.Identity(t.Context()); !errors.Is(err, store.ErrIdentity) {
		t.Errorf("an emptied bucket says %q, %v", got, err)
	}
	if got := keys(t, again.on.Bucket); len(got) != 0 {
		t.Errorf("an emptied bucket got another identity: %q", got)
	}
	for what, other := range map[string]string{"empty": "mem://", "emptied": url} {
		must.Fail(Open(t.Context(), other, &Options{Identity: id}))(t, store.ErrIdentity, what, "bucket")
	}
}

// Many stores on one bucket ask at once, and all hear the same.
func TestIdentityAtOnce(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	var asked sync.WaitGroup
	ids := make([]store.Identity, 20)
	for i := range ids {
		s, err := New(bucket, nil)
		noError(t, err)
		asked.Go(func() { ids[i], _ = s.Identity(t.Context()) })
	}
	asked.Wait()
	for _, id := range ids {
		if !id.Valid() || id != ids[0] {
			t.Fatalf("one bucket has the identities %q", ids)
		}
	}
	// One that looked before the first wrote, and writes behind it, hears of the first.
	late, err := New(bucket, nil)
	noError(t, err)
	must.Equal(t, must.Have(late.on.makeIdentity(t.Context()))(t), ids[0], "a late one makes", "the store")
	noError(t, bucket.WriteAll(t.Context(), identityKey, []byte("apportion-store 9 x\n"), nil))
	s, err := New(bucket, nil)
	noError(t, err)
	if id, err := s.Identity(t.Context()); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a damaged identity is read as %q, %v", id, err)
	}
}
