// This file implements claims by letters: small texts under names in a place that guards and a desk both reach, as a folder
// or a bucket.

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion/checkpoint/store"
)

// Place keeps letters under names. What is read under a name is a whole letter that somebody has put there, not
// necessarily the newest. Whoever can write there can claim and vouch, so it belongs to the cluster alone.
//
// Several goroutines may call it at the same time. A call may hang: guards leave it alone when its context ends.
type Place interface {
	// Put puts a letter in the place of the one before.
	Put(ctx context.Context, name string, text []byte) error
	// Get returns a letter; an error if there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the names, in any order.
	List(ctx context.Context) ([]string, error)
}

// The endings of the names of letters: of claims, and of the answers to them.
const (
	claimEnding = ".claim"
	grantEnding = ".grant"
)

// Letters asks a desk by letters: the guard leaves its claim, the desk its answer to the newest that it has found, see
// [Desk.AnswerLetters]. An answer hands the clock of its claim back, so it does not matter how late either sees the
// other's letter.
type Letters struct {
	// Place is where they are. [Files] is the same in a folder.
	Place Place
}

var _ Authority = (*Letters)(nil)

// letter is the name of a run's letters, without their ending. Names of jobs and servers may hold any character, so they are
// written as folders are. Two runs never share a name: in a folder's no percent sign is before a dash, so that the job's ends at the first
// such pair, and numbers follow. What would be too long for a file is shortened as the name of a folder is, by a hash.
// Container 0 of attempt 3 of job lr on server s1 has the letters lr%-3-0-s1.claim and lr%-3-0-s1.grant.
func (id ID) letter() string {
	name := string(store.FolderOf(id.Job)) + "%-" + strconv.FormatInt(id.Attempt, 10) + "-" + strconv.Itoa(id.Rank) + "-" + string(store.FolderOf(id.Server))
	if len(name) > store.MaxFolderBytes {
		return string(store.FolderOf(name))
	}
	return name
}

// answered is what an answer holds: the guard whose claim it answers, for there may be letters of another.
type answered struct {
	Life  string `json:"life"`
	Grant Grant  `json:"grant"`
}

// Renew implements Authority. The answer that it finds is one to an earlier claim, as a rule.
// An answer to another guard of the run, or to one before it, is an error and renews nothing.
func (l *Letters) Renew(ctx context.Context, c Claim) (Grant, error) {
	// There is one guard of a run, and a call that was abandoned leaves what is as good: an older clock.
	text, err := json.Marshal(c)
	if err != nil {
		return Grant{}, err
	}
	// The claim goes first: a desk that is fast may answer before the guard looks.
	if err := l.Place.Put(ctx, c.letter()+claimEnding, text); err != nil {
		return Grant{}, err
	}
	var answer answered
	if err := readLetter(ctx, l.Place, c.letter()+grantEnding, &answer); err != nil {
		return Grant{}, err
	}
	if answer.Life != c.Life {
		return Grant{}, errors.New("guard: the answer is one to another guard")
	}
	return answer.Grant, nil
}

// readLetter reads a letter that holds one value as JSON.
func readLetter(ctx context.Context, p Place, name string, value any) error {
	text, err := p.Get(ctx, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// AnswerLetters answers the claims in a place until the context ends, and looks for new ones after each pause. Letters that
// are no claims are left alone. What goes wrong is told to report, unless that is nil, and tried again at the next look. It
// renews nothing.
func (d *Desk) AnswerLetters(ctx context.Context, p Place, pause time.Duration, report func(error)) {
	// before are the claims that were answered, by the letters' name. It is this loop's own: another desk answers for itself.
	before := map[string]Claim{}
	for {
		if err := d.answerAll(ctx, p, before); err != nil && ctx.Err() == nil && report != nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// answerAll answers all claims that are newer than what was answered before. One that cannot be answered does not keep the
// others from it.
func (d *Desk) answerAll(ctx context.Context, p Place, before map[string]Claim) error {
	names, err := p.List(ctx)
	if err != nil {
		return err
	}
	// O(letters) reads at each look, so a place belongs to the runs that live and is cleared of others by who owns it.
	var faults []error
	for _, name := range names {
		base, isClaim := strings.CutSuffix(name, claimEnding)
		var c Claim
		// One that cannot be read now is read at the next look; what a job has put there is none.
		if !isClaim || readLetter(ctx, p, name, &c) != nil || c.letter() != base {
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
		// Put before it is noted as answered: what could not be put is answered again, with a later look at the desk's clock, which only makes
		// the desk wait longer.
		text, err := json.Marshal(answered{c.Life, grant})
		if err == nil {
			err = p.Put(ctx, base+grantEnding, text)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // another desk answers as well, and was faster
			continue
		case err != nil:
			faults = append(faults, err)
			continue
		}
		// Letters that are gone stay here: a place that lists one now and then must not have an old claim granted as a new one.
		before[base] = c
	}
	return errors.Join(faults...)
}
