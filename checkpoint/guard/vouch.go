// This file implements Vouching: an agent that vouches for the runs on its server, for as long as its own lease goes.

package guard

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/apportion/apportion/checkpoint"
)

// Voucher knows how long runs may go on without it: an [github.com/apportion/apportion/checkpoint/agent.Agent].
type Voucher interface {
	// Vouch returns how long an attempt of a job may go on from now. The error wraps checkpoint.ErrFenced if it must not.
	Vouch(job string, attempt int64) (time.Duration, error)
}

// Vouching answers claims with what is left of the lease of a voucher: a run is granted no time that its agent does not
// have. So what an agent's master knows of the end of the lease is true of the runs as well, whatever becomes of the agent
// in between. Whoever can reach it may ask, so it belongs at a socket in a folder that is nobody else's, see [NewSocket].
func Vouching(v Voucher) http.Handler {
	return open(func(c Claim) (Grant, error) {
		if err := c.validate(); err != nil {
			return Grant{}, fmt.Errorf("guard: %w", err)
		}
		// The agent is on this machine and is asked without a network, so that no time is lost between its answer and the grant.
		left, err := v.Vouch(c.Job, c.Attempt)
		switch {
		case errors.Is(err, checkpoint.ErrFenced):
			return Grant{Fenced: err.Error()}, nil
		case err != nil:
			return Grant{}, err
		case left <= 0:
			return Grant{}, errors.New("guard: the lease of the agent is over")
		}
		return Grant{Heard: c.Clock, Length: left}, nil
	})
}
