// This file implements the lease: how long jobs run on without a master, so that a master which waits for
// longer knows that none of them runs.

package agent

import "time"

// Stamp is a time of an agent's own monotonic clock, which its master hands back without looking at it.
// Stamps of one boot of one machine can be compared.
type Stamp struct {
	// Boot names the boot of the machine since which the clock runs. It changes when the clock begins
	// again, and with it all processes have ended.
	Boot string `json:"boot,omitempty"`
	// At is the time since that boot.
	At time.Duration `json:"at"`
}

// Lease says how long an agent may let jobs run without a word of a master. It is a value, and it has no
// clock: whoever asks says what time it is.
//
// An agent writes its clock into every answer, and the master hands back the newest of these stamps that
// has reached it. The lease counts from that stamp. So it ends at the latest one Length after an answer
// that the master has certainly received, whatever is lost, delayed or delivered twice between them, and
// neither side needs to know the clock of the other. A master that has had no answer for longer than the
// Length, and for as long again as the clocks may drift apart meanwhile, knows that the lease is over.
type Lease struct {
	// Length is positive.
	Length time.Duration `json:"length"`
	// Heard is the newest stamp that a master has handed back; the zero Stamp if none has.
	Heard Stamp `json:"heard"`
}

// Renew returns the lease after a master has handed back a stamp at the time now. A stamp of another boot,
// one that is not newer than Heard, and one from the future renew nothing.
//
// Renew never makes the lease shorter, so stamps may arrive in any order and any number of times.
// O(1).
func (l Lease) Renew(echo, now Stamp) Lease {
	// A stamp from the future is not one that this agent has written: the master would have made it
	// up.
	known := echo.Boot == now.Boot && echo.At <= now.At
	// Heard of another boot is older than any stamp of this one, whatever its number says.
	if known && (l.Heard.Boot != now.Boot || echo.At > l.Heard.At) {
		l.Heard = echo
	}
	return l
}

// Left returns how long the lease goes on from now; 0: it is over. A lease of another boot is over.
//
// The zero Lease is over, and so is one that has never heard of a master: an agent that begins runs no
// jobs by itself.
func (l Lease) Left(now Stamp) time.Duration {
	// A clock that went back within one boot is not monotonic. Nothing is known then, and jobs that
	// end too early lose time while jobs that end too late run twice.
	if l.Heard.Boot != now.Boot || l.Heard.At > now.At {
		return 0
	}
	return max(0, l.Length-(now.At-l.Heard.At))
}
