// This file implements Letters: a place in a bucket by which guards and their desk speak, see package guard.

package blobstore

import (
	"context"
	"errors"
	"io"
	"strings"

	"gocloud.dev/blob"
)

// Letters keeps small texts under names below a prefix of a bucket. It is a guard.Place: a run's lease is renewed by objects
// where servers and master have nothing in common but the bucket. The prefix must not be that of a job's folder; one that
// ends in a slash is best. Each look costs a list and a read of each letter.
type Letters struct {
	Bucket *blob.Bucket
	Prefix string
}

// maxLetter bounds a letter that is read, in bytes.
const maxLetter = 1 << 16

// Put puts a text in the place of the one before, whole or not at all.
func (l *Letters) Put(ctx context.Context, name string, text []byte) error {
	return l.Bucket.WriteAll(ctx, l.Prefix+name, text, nil)
}

// Get returns a text; what is longer than any letter is cut, and is none.
func (l *Letters) Get(ctx context.Context, name string) ([]byte, error) {
	r, err := l.Bucket.NewReader(ctx, l.Prefix+name, nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxLetter))
	return text, errors.Join(err, r.Close())
}

// List returns the names below the prefix. O(letters).
func (l *Letters) List(ctx context.Context) ([]string, error) {
	var names []string
	for objects := l.Bucket.List(&blob.ListOptions{Prefix: l.Prefix}); ; {
		o, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(o.Key, l.Prefix))
	}
}
