// This file implements retention: which checkpoints a commit leaves.

package files

import (
	"context"
	"slices"

	"github.com/apportion/apportion/checkpoint/store"
)

// retain deletes the checkpoints of a job that Options.Keep does not keep after a commit of number. The
// commit has succeeded whatever happens here; what could not be deleted is tried again after the next.
// It is called by Commit alone, when the new name is durable. A checkpoint that is pinned counts like others if
// it is among the highest.
func (s *disk) retain(ctx context.Context, job string, number int64) {
	if s.options.Keep == 0 {
		return
	}
	folder := store.FolderOf(job)
	numbers, err := s.numbers(folder)
	if err != nil {
		return
	}
	// The numbers are walked from the highest down. Those above the one that was committed are newer and stay;
	// those that cannot be read are not counted, so that damage does not push a good one out.
	kept := 1 // number itself
	for _, older := range slices.Backward(numbers) {
		if older >= number || ctx.Err() != nil {
			continue
		}
		if kept < s.options.Keep {
			if _, err := s.record(folder, older, at(folder, older)); err == nil {
				kept++
			}
			continue
		}
		if s.options.Pinned == nil || !s.options.Pinned(job, older) {
			_ = s.discard(folder, older, at(folder, older))
		}
	}
}
