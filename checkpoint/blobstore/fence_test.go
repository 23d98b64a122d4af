// This file tests fences whose requests fail, and manifests that arrive behind them.

package blobstore

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// A manifest that arrives behind a fence, from a writer that nobody hears of any more, is not visible, under a number
// that was free and under one that was deleted.
func TestManifestBehindFence(t *testing.T) {
	s := memory(t)
	must.Have(save(t.Context(), s, 1, "first"))(t)
	_, err := s.on.record(t.Context(), "job", 1)
	noError(t, err)
	must.Have(save(t.Context(), s, 2, "second"))(t)
	second, err := s.on.Bucket.ReadAll(t.Context(), manifestKey("job", 2))
	noError(t, err)
	noError(t, errors.Join(s.Delete(t.Context(), "job", 2), s.Fence(t.Context(), "job", 4)))
	// The request that wrote number 2 is delivered again.
	noError(t, s.on.Bucket.WriteAll(t.Context(), manifestKey("job", 2), second, nil))
	must.Fail(s.Open(t.Context(), "job", 2))(t, store.ErrNotFound, "Open")
	list, err := s.List(t.Context(), "job")
	if err != nil || len(list) != 1 || list[0].Number != 1 {
		t.Errorf("List: %v, %v", list, err)
	}
	// A higher fence takes nothing back, nor up: what was hidden stays so.
	noError(t, s.Fence(t.Context(), "job", 9))
	must.Fail(s.Open(t.Context(), "job", 2))(t, store.ErrNotFound, "Open behind the next fence")
	must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", 1))(t), "first")
	var fences []string
	for _, key := range keys(t, s.on.Bucket) {
		if bytes.Contains([]byte(key), []byte("/fence/")) {
			fences = append(fences, key)
		}
	}
	must.Same(t, fences, []string{"job/fence/9", "job/fence/9.settled"}, "fences")
	// The number is free below the fence, and stays so, once its checkpoint was deleted.
	noError(t, s.Delete(t.Context(), "job", 1))
	must.Fail(save(t.Context(), s, 1, "first"))(t, store.ErrFenced, "commit again")
}

// A fence that was raised and not settled ends writers all the same, hides nothing, and is settled by the next call,
// whatever number that says.
func TestFenceNotSettled(t *testing.T) {
	s := memory(t)
	must.Have(save(t.Context(), s, 1, "first"))(t)
	noError(t, s.on.writeOnce(t.Context(), fenceKey("job", 5), nil))
	w, err := save(t.Context(), s, 2, "late")
	must.Err(t, err, store.ErrFenced, "a writer below a fence that is not settled")
	must.Do(t, w.Abort())
	must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", 1))(t), "first")
	noError(t, s.Fence(t.Context(), "job", 3))
	f, err := s.on.fence(t.Context(), "job")
	if err != nil || f.settled != 5 || len(f.kept) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	must.Equal(t, must.Have(storetest.Read(t.Context(), s, "job", 1))(t), "first")
	// What the writer below has written is gone with its Abort.
	if got := keys(t, s.on.Bucket); len(got) != 4 {
		t.Errorf("%q", got)
	}
}

// What one master has settled no other settles again, whatever it has seen meanwhile.
func TestSettledOnce(t *testing.T) {
	s := openURL(t, "mem://")
	key := fenceKey("job", 5) + settledEnding
	for _, text := range []string{"{}", `{"4":"another"}`} {
		noError(t, s.on.writeOnce(t.Context(), key, []byte(text)))
	}
	text := must.Have(s.on.ReadAll(t.Context(), key))(t)
	must.Equal(t, string(text), "{}")
}
