// This file implements claims by files in a folder that guards and a desk both see, however late.

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/internal/abandon"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/internal/durable"
	"github.com/apportion/apportion/internal/regular"
)

// The endings of the names of files: of claims, and of the answers to them.
const (
	claimEnding = ".claim"
	grantEnding = ".grant"
)

// Files asks a desk by a folder that both see: the guard writes its claim, the desk writes its answer to the newest that
// it has found. An answer hands the clock of its claim back, so it does not matter how late either sees the other's file.
type Files struct {
	// Dir is the folder. It must exist.
	Dir string
}

var _ Authority = (*Files)(nil)

// file is the name of a run's files, without their ending.
func (id ID) file() string {
	return string(store.FolderOf(id.Job)) + "-" + strconv.FormatInt(id.Attempt, 10) + "-" + strconv.Itoa(id.Rank) + "-" + string(store.FolderOf(id.Server))
}

// Renew implements Authority. The answer that it finds is one to an earlier claim, as a rule. A folder that hangs is left
// alone when the context ends.
func (f *Files) Renew(ctx context.Context, c Claim) (Grant, error) {
	return abandon.Do(ctx, func(context.Context) (Grant, error) {
		name := filepath.Join(f.Dir, c.file())
		// There is one guard of a run, and a call that was abandoned writes what is as good: an older clock.
		text, err := json.Marshal(c)
		if err != nil {
			return Grant{}, err
		}
		if err := durable.ReplaceFile(name+claimEnding, text); err != nil {
			return Grant{}, err
		}
		var answer answered
		if err := read(name+grantEnding, &answer); err != nil {
			return Grant{}, err
		}
		if answer.Life != c.Life {
			return Grant{}, errors.New("guard: the answer is one to another guard")
		}
		return answer.Grant, nil
	})
}

// answered is what a grant's file holds: the guard whose claim it answers, for a folder may hold files of another.
type answered struct {
	Life  string `json:"life"`
	Grant Grant  `json:"grant"`
}

// read reads a file that holds one value as JSON, and waits for nobody.
func read(name string, value any) error {
	text, err := regular.Read(name, maxBody)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// AnswerFiles answers the claims in a folder until the context ends, and looks for new ones after each pause. Files that
// are no claims are left alone; the error is that of the folder.
func (d *Desk) AnswerFiles(ctx context.Context, dir string, pause time.Duration) error {
	answeredAt := map[string]Claim{}
	for {
		if err := d.answerAll(dir, answeredAt); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// answerAll answers all claims that are newer than what was answered before.
func (d *Desk) answerAll(dir string, before map[string]Claim) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		base, isClaim := strings.CutSuffix(e.Name(), claimEnding)
		var c Claim
		// One that cannot be read now is read at the next look; what a job has put there is none.
		if !isClaim || read(filepath.Join(dir, e.Name()), &c) != nil || c.file() != base {
			continue
		}
		// The same claim again is not a new word of the guard: to grant it again would vouch for one that may be dead.
		if last, known := before[base]; known && last.Life == c.Life && last.Clock == c.Clock {
			continue
		}
		grant, err := d.Answer(c)
		if err != nil {
			continue // nothing is said, which renews nothing
		}
		text, err := json.Marshal(answered{c.Life, grant})
		if err != nil {
			return err
		}
		if err := durable.ReplaceFile(filepath.Join(dir, base+grantEnding), text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		before[base] = c
	}
	return nil
}
