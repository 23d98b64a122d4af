// This file implements the settings of a journal.

package etcdjournal

import (
	"cmp"
	"os"
	"time"

	"github.com/apportion/apportion"
)

// Options are settings that have defaults; nil stands for all of them.
type Options struct {
	// Prefix is what the names of all keys begin with, of one cluster of servers; empty: /apportion/journal/.
	Prefix string
	// Name says in words who leads, for who looks at the keys; empty: the name of the machine.
	Name string
	// Lease is how long a master that dies leads on; 0: 5 s. Whole seconds, at least one.
	Lease time.Duration
	// Limit is how long etcd may take for a record, its own changes of leadership included; 0: 15 s. It must be
	// below driver.Options.AppendLimit.
	Limit time.Duration
}

const (
	// tries is how often a request is made within the limit if none of them is answered.
	tries = 5
	// pause is the time between two tries of a request that etcd refuses for the time being.
	pause = 50 * time.Millisecond
	// page is how many records are read at once.
	page = 128
)

// fill sets defaults, or returns what is wrong.
func (o *Options) fill() error {
	var faults apportion.Faults
	item := apportion.Item{ID: "options"}
	if o.Lease < 0 || o.Lease%time.Second != 0 {
		faults.Add(item, "Lease", apportion.ErrRange, o.Lease.String())
	}
	if o.Limit < 0 {
		faults.Add(item, "Limit", apportion.ErrNegative, o.Limit.String())
	}
	o.Prefix = cmp.Or(o.Prefix, "/apportion/journal/")
	if o.Name == "" {
		o.Name, _ = os.Hostname() // a name is for people
	}
	o.Lease = cmp.Or(o.Lease, 5*time.Second)
	o.Limit = cmp.Or(o.Limit, 15*time.Second)
	return faults.Err()
}
