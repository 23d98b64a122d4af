// This file implements what a Lease of a guard looks like: its name, its annotations and who holds it.

package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apportion/apportion/checkpoint/guard"
)

// Label is on every Lease of a guard, with the value "true": desks watch these alone.
const Label = "apportion.github.io/guard"

// The annotations of a claim and of the answer to it.
const (
	claimKey = "apportion.github.io/claim"
	grantKey = "apportion.github.io/grant"
)

// Lengths of the parts of a name: what is shown of the job, and how many bytes of the hash tell names apart.
const (
	shownBytes = 40
	hashBytes  = 12
)

// Name is the name of the Lease of a run. It begins with what can be shown of the job's name, and ends with a hash of all of the ID, since
// names of jobs and servers may hold any character. Two runs have the same name with a probability of 2^-96.
func Name(id guard.ID) string {
	whole, _ := json.Marshal(id) // which JSON can always hold
	sum := sha256.Sum256(whole)
	shown := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, id.Job), "-")
	shown = strings.Trim(shown[:min(len(shown), shownBytes)], "-")
	name := fmt.Sprintf("%s-%d-%d-%s", shown, id.Attempt, id.Rank, hex.EncodeToString(sum[:hashBytes]))
	return strings.TrimPrefix(name, "-") // where nothing of the job can be shown
}

// holder names the guard of a claim.
func holder(c *guard.Claim) string { return c.Server + "_" + c.Life }

// answered is what an answer holds: the guard whose claim it answers beside what it is granted.
type answered struct {
	Life  string      `json:"life"`
	Grant guard.Grant `json:"grant"`
}

// write puts a value as JSON into an annotation.
func write(l *coordinationv1.Lease, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if l.Annotations == nil {
		l.Annotations = map[string]string{}
	}
	l.Annotations[key] = string(text)
	return nil
}

// read reads the value of an annotation; an error if there is none.
func read(l *coordinationv1.Lease, key string, value any) error {
	text, there := l.Annotations[key]
	if !there {
		return fmt.Errorf("lease: %s has no annotation %s", l.Name, key)
	}
	return json.Unmarshal([]byte(text), value)
}

// claim writes what a guard says.
func claim(l *coordinationv1.Lease, c *guard.Claim) error {
	now, by := metav1.NewMicroTime(time.Now()), holder(c)
	l.Spec.HolderIdentity, l.Spec.RenewTime = &by, &now
	return write(l, claimKey, c)
}

// grant writes what a desk says to a claim.
func grant(l *coordinationv1.Lease, c *guard.Claim, g guard.Grant) error {
	if g.Length > 0 {
		seconds := int32((g.Length + time.Second - 1) / time.Second)
		l.Spec.LeaseDurationSeconds = &seconds
	}
	return write(l, grantKey, answered{c.Life, g})
}
