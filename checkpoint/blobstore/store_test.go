// This file holds the store to the contract on a bucket in memory, one in a directory, and one of a server
// that speaks the protocol of S3 on the loopback.

package blobstore

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/storetest"
	"github.com/apportion/apportion/internal/must"
)

// apart are the options of a store that has an object for each part.
var apart = &Options{Form: store.Form{InlineBytes: -1}}

// subject is a Store as storetest wants it.
type subject struct {
	*Store
	// shift is how far the clock of this store and of all that were restarted from it is ahead.
	shift *time.Duration
}

func newSubject(t testing.TB, s *Store) subject {
	t.Cleanup(func() {
		must.Do(t, s.Close())
	})
	shift := new(time.Duration)
	s.on.now = func() time.Time { return time.Now().Add(*shift) }
	return subject{s, shift}
}

// inMemory is a subject whose medium is the memory of the test.
type inMemory struct{ subject }

func (inMemory) InMemory() {}

func (s subject) Damage(t testing.TB, job string, number int64, part int, how storetest.Damage) {
	t.Helper()
	key := manifestKey(store.FolderOf(job), number)
	if part != storetest.ManifestPart {
		record, err := s.on.record(t.Context(), store.FolderOf(job), number)
		noError(t, err)
		if at, inline := slices.BinarySearch(record.Inline, part); inline {
			s.damageInline(t, key, record.Contents, at, how)
			return
		}
		key = partKey(store.FolderOf(job), number, record.Place, part)
	}
	if how == storetest.Remove {
		noError(t, s.on.Bucket.Delete(t.Context(), key))
		return
	}
	data, err := s.on.Bucket.ReadAll(t.Context(), key)
	if err == nil {
		err = s.on.Bucket.WriteAll(t.Context(), key, how.Apply(data), nil)
	}
	noError(t, err)
}

func (s subject) damageInline(t testing.TB, key string, contents [][]byte, at int, how storetest.Damage) {
	t.Helper()
	data, err := s.on.Bucket.ReadAll(t.Context(), key)
	noError(t, err)
	noError(t, s.on.Bucket.WriteAll(t.Context(), key, how.Inline(data, contents, at), nil))
}

// Restart implements storetest.Restarter: the same bucket, another store, for both of which time has
// passed.
func (s subject) Restart(t testing.TB) store.Store {
	next, err := New(s.on.Bucket, &Options{Form: s.on.options.Form})
	noError(t, err)
	*s.shift = 2*defaultGrace + time.Minute
	next.on.now = s.on.now
	return subject{next, s.shift}
}

func (s subject) Leftovers(t testing.TB) int {
	count := 0
	for _, key := range keys(t, s.on.Bucket) {
		if p, ok := parsePart(key); ok {
			record, err := s.on.record(t.Context(), p.folder, p.number)
			if err != nil || record.Place != p.place {
				count++
			}
		}
	}
	return count
}

func keys(t testing.TB, bucket *blob.Bucket) []string {
	t.Helper()
	var all []string
	for objects := bucket.List(nil); ; {
		object, err := objects.Next(t.Context())
		if err == io.EOF {
			return all
		}
		noError(t, err)
		all = append(all, object.Key)
	}
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return inMemory{memory(t)} })
}

// TestInline keeps small parts with the manifest, and digests.
func TestInline(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s := memory(t)
		s.on.options.Form = store.Form{SHA256: true}
		return inMemory{s}
	})
}

// withShares is a subject whose checkpoints may have several writers.
type withShares struct {
	*store.Shards
	under subject
}

func sharded(s subject) withShares { return withShares{store.NewShards(s), s} }

func (w withShares) Restart(t testing.TB) store.Store { return sharded(w.under.Restart(t).(subject)) }

func (w withShares) Leftovers(t testing.TB) int { return w.under.Leftovers(t) }

// TestShares lets several writers write a checkpoint into a bucket, each its share.
func TestShares(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) subject{
		"memory": func(t *testing.T) subject { return memory(t) },
		"files": func(t *testing.T) subject {
			return newSubject(t, openURL(t, "file://"+t.TempDir()+"?no_tmp_dir=1&metadata=skip"))
		},
		"s3": func(t *testing.T) subject { return newSubject(t, openURL(t, s3URL(t, nil))) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.RunSharded(t, func(t *testing.T) store.Sharded { return sharded(open(t)) })
		})
	}
}

// memory returns a store in a bucket of its own in memory.
func memory(t testing.TB) subject {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	s, err := New(bucket, apart)
	noError(t, err)
	return newSubject(t, s)
}

func TestFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return newSubject(t, openURL(t, "file://"+t.TempDir()+"?no_tmp_dir=1&metadata=skip"))
	})
}

// TestPrefix is a store in a part of a bucket.
func TestPrefix(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return newSubject(t, openURL(t, "file://"+t.TempDir()+"?no_tmp_dir=1&metadata=skip&prefix=a/b/"))
	})
}

func openURL(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, apart)
	noError(t, err)
	return s
}

func TestS3(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return inMemory{newSubject(t, openURL(t, s3URL(t, nil)))} // it is the server that has the memory
	})
}

// s3URL starts a server that speaks S3 and returns the URL of an empty bucket in it. around, if it is not
// nil, sees every request first.
func s3URL(t testing.TB, around func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	noError(t, backend.CreateBucket("checkpoints"))
	handler := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if around != nil {
		handler = around(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	} {
		t.Setenv(name, value)
	}
	return "s3://checkpoints?region=us-east-1&use_path_style=true&endpoint=" + server.URL
}

// save commits a checkpoint with one part. The writer is nil if there was none.
func save(ctx context.Context, s store.Store, number int64, data string) (store.Writer, error) {
	w, err := storetest.Write(ctx, s, "job", number, data)
	if err != nil {
		return w, err
	}
	_, err = w.Commit()
	return w, err
}
