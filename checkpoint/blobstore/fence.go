// This file implements fences: objects that say below which number nothing is committed any more, and what was.

package blobstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"gocloud.dev/blob"

	"github.com/apportion/apportion/checkpoint/store"
)

// fence is that of a job. It is two objects, each written once: the first one has the number in its key, the second one,
// written later, what was committed below it. A writer looks for the first behind its manifest. So it either finds it and
// takes its manifest back, or its manifest was there before, and is among those that count. One that arrives later is not.
type fence struct {
	// raised is the number below which nothing is committed any more; 0: there is no fence.
	raised int64
	// settled is the highest number of which the second object is there, and kept are the places of the manifests below
	// it, by number.
	settled int64
	kept    map[int64]store.Place
}

// The keys of fences are <job>/fence/<number> and, with the ending, that of the second object.
const (
	fenceFolder   = "fence"
	settledEnding = ".settled"
)

func fenceKey(folder store.Folder, number int64) string {
	return path.Join(string(folder), fenceFolder, strconv.FormatInt(number, 10))
}

// Fence implements store.Medium. It costs one request for each checkpoint of the job, and five more.
func (s *bucket) Fence(ctx context.Context, folder store.Folder, number int64) error {
	before, err := s.fence(ctx, folder)
	if err != nil || before.settled >= max(number, before.raised) {
		return err
	}
	number = max(number, before.raised)
	if err := s.writeOnce(ctx, fenceKey(folder, number), nil); err != nil {
		return err
	}
	// From here on no writer below the number commits unseen: those that were there are listed now, once and for all.
	kept, err := s.keptBelow(ctx, folder, number, before)
	if err != nil {
		return err
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := s.writeOnce(ctx, fenceKey(folder, number)+settledEnding, text); err != nil {
		return err
	}
	// The fence before says nothing any more. What is left of it costs two objects.
	for _, lower := range []int64{before.raised, before.settled} {
		if lower > 0 && lower < number {
			_ = s.deleteKey(ctx, fenceKey(folder, lower))
			_ = s.deleteKey(ctx, fenceKey(folder, lower)+settledEnding)
		}
	}
	return nil
}

// keptBelow returns the places of the manifests below a number that are visible now.
func (s *bucket) keptBelow(ctx context.Context, folder store.Folder, number int64, before fence) (map[int64]store.Place, error) {
	numbers, err := s.numbers(ctx, folder)
	if err != nil {
		return nil, err
	}
	kept := map[int64]store.Place{}
	for _, n := range numbers {
		if n >= number {
			continue
		}
		record, err := s.record(ctx, folder, n)
		switch {
		// A damaged one is visible as such, and stays so.
		case errors.Is(err, store.ErrCorrupt) && !before.hides(n, before.kept[n]):
			kept[n] = before.kept[n]
		case err == nil && !before.hides(n, record.Place):
			kept[n] = record.Place
		case err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt):
			return nil, err
		}
	}
	return kept, nil
}

// writeOnce writes an object unless it is there.
func (s *bucket) writeOnce(ctx context.Context, key string, data []byte) error {
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	err = s.WriteAll(ctx, key, data, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true})
	if err == nil {
		return nil
	}
	// What is there has another writer's content, which says as much.
	if there, look := s.Exists(ctx, key); look == nil && there {
		return nil
	}
	return explain(ctx, err)
}

// fence returns the fence of a job. An object that vanishes meanwhile was that of a lower one: it looks again.
func (s *bucket) fence(ctx context.Context, folder store.Folder) (f fence, err error) {
	const attempts = 10
	for range attempts {
		if f, err = s.lookForFence(ctx, folder); !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("fence: %w", err)
	}
	return f, err
}

// lookForFence lists the objects of a job's fences and reads the highest that is settled.
func (s *bucket) lookForFence(ctx context.Context, folder store.Folder) (fence, error) {
	prefix := path.Join(string(folder), fenceFolder) + "/"
	objects := s.Bucket.List(&blob.ListOptions{Prefix: prefix})
	var f fence
	for {
		object, err := objects.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fence{}, explain(ctx, err)
		}
		digits, settled := strings.CutSuffix(strings.TrimPrefix(object.Key, prefix), settledEnding)
		if number, ok := parseNumber(digits); ok && settled {
			f.settled = max(f.settled, number)
		} else if ok {
			f.raised = max(f.raised, number)
		}
	}
	f.raised = max(f.raised, f.settled)
	if f.settled == 0 {
		return f, nil
	}
	text, err := s.ReadAll(ctx, fenceKey(folder, f.settled)+settledEnding)
	if err != nil {
		return fence{}, explain(ctx, err)
	}
	return f, json.Unmarshal(text, &f.kept)
}

// hides reports whether a manifest of that number and place came behind the fence.
func (f fence) hides(number int64, place store.Place) bool {
	kept, ok := f.kept[number]
	return number < f.settled && (!ok || kept != place && kept != "")
}
