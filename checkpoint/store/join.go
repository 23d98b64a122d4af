// This file implements the list of shares: how Join makes it, and how it becomes the manifest of a checkpoint.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apportion/apportion"
)

// list is the content of that part: the parts of each share. It has their sums as well, so that a share that was written anew
// behind the Join, by whatever hand, is told from the one that was joined.
type list struct {
	Shares [][]Part `json:"shares"`
}

// parts are those of all shares, in their order.
// It is never nil: the JSON of a manifest without parts has an empty list.
func (l list) parts() []Part {
	all := []Part{}
	for _, parts := range l.Shares {
		all = append(all, parts...)
	}
	return all
}

// check returns an error if two parts have one name.
// Two servers that call their files alike are a likely fault of a job that learns to save in shares, so the
// error names both. O(parts).
func (l list) check() error {
	of := map[string]int{}
	for i, parts := range l.Shares {
		for _, part := range parts {
			if first, taken := of[part.Name]; taken {
				return fmt.Errorf("shares %d and %d have a part %.60q each: %w: %w", first, i, part.Name, apportion.ErrDuplicate, ErrName)
			}
			of[part.Name] = i
		}
	}
	return nil
}

// Join implements Sharded.
// It may be called by several masters, and again when its answer was lost. It costs the manifest
// of each share and one small commit, whatever the model weighs.
func (s *Shards) Join(ctx context.Context, job string, number int64, shares int) (Manifest, error) {
	if err := enterShards(ctx, job, number); err != nil {
		return Manifest{}, err
	}
	if err := (Share{Index: 0, Of: shares}).Check(job); err != nil {
		return Manifest{}, Wrap(job, number, err)
	}
	// 1. Every share is there. A share that was committed stays as it is, so that what is listed now is true for good. O(shares)
	// requests, one after the other: the commit below is what counts, and it comes once.
	var l list
	for i := range shares {
		parts, err := s.committed(ctx, shardOf(job, i), number)
		if err != nil {
			return Manifest{}, Wrap(job, number, fmt.Errorf("share %d of %d: %w", i, shares, err))
		}
		l.Shares = append(l.Shares, parts)
	}
	// 2. Whoever reads asks for a part by its name alone.
	if err := l.check(); err != nil {
		return Manifest{}, Wrap(job, number, err)
	}
	// 3. Of several who join the same, each succeeds: the lists are equal. A fence that was raised meanwhile refuses it here.
	if err := s.commit(ctx, job, number, l); err != nil {
		return Manifest{}, err
	}
	return Manifest{Job: job, Number: number, Parts: l.parts()}, nil
}

// committed returns the parts of a share, which need not be read: its commit has made them durable.
// That a share is of this save follows from its number alone: every attempt to save has a number of its own.
func (s *Shards) committed(ctx context.Context, shard string, number int64) ([]Part, error) {
	// The store behind says ErrNotFound of a share that is not committed, which is what Join answers.
	r, err := s.under.Open(ctx, shard, number)
	if err != nil {
		return nil, err
	}
	parts := r.Manifest().Parts
	return parts, r.Close()
}

// commit commits the list. This is the moment from which on the checkpoint is there.
// Where its answer is lost the list may be there, and the next Join commits the same again.
func (s *Shards) commit(ctx context.Context, job string, number int64, l list) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	w, err := s.under.Begin(ctx, job, number)
	if err != nil {
		return err
	}
	part, err := w.Part(listName)
	if err == nil {
		_, err = part.Write(text)
		err = errors.Join(err, part.Close())
	}
	if err == nil {
		_, err = w.Commit()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}

// isList reports whether a checkpoint consists of shares. One of a single writer has no part of that name, see writer.Part.
func isList(m Manifest) bool { return len(m.Parts) == 1 && m.Parts[0].Name == listName }

// readList reads the list of a checkpoint that consists of shares.
// The reader is that of the store behind, which compares the sums of what it reads. The caller closes it.
func readList(r Reader) (list, error) {
	part, err := r.Part(listName)
	if err != nil {
		return list{}, err
	}
	text, err := io.ReadAll(part)
	if err := errors.Join(err, part.Close()); err != nil {
		return list{}, err
	}
	var l list
	err = json.Unmarshal(text, &l)
	if err == nil {
		err = l.check()
	}
	// The sums are right, so this was committed so: by another version, or by another hand.
	if err != nil {
		err = fmt.Errorf("the list of shares: %w: %w", err, ErrCorrupt)
	}
	return l, err
}
