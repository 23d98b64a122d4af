// This file implements roster, the clients of a sorter, and what every call on one of them is checked for.

package drf

import (
	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// roster holds what both sorters know of their clients, whatever order these are in.
type roster struct {
	total   apportion.Resources
	kinds   apportion.Kinds // numbers, for messages
	clients map[string]*Client
	skipped []*Client // in the order of Skip, until something changes that may help them
}

// Lookup returns the client called id, or nil.
// A client that was removed is not found, though somebody may still have its handle.
func (r *roster) Lookup(id string) *Client { return r.clients[id] }

// Len returns the number of clients, active or not.
func (r *roster) Len() int { return len(r.clients) }

// own refuses a client that is not of this sorter (any more).
// That the name is there again is not enough: the handle of its first life stands for what that one
// held.
func (r *roster) own(client *Client) error {
	// A handle is good as long as the map leads back to it: one that was removed, or belongs to another sorter, is
	// not.
	if client == nil || r.clients[client.id] != client {
		return &apportion.FieldError{Field: "Client", Err: apportion.ErrUnknown}
	}
	return nil
}

// checkCall refuses a client of another sorter, and resources that have the wrong length or a negative
// quantity. A sound call allocates nothing.
func (r *roster) checkCall(client *Client, amount apportion.Resources) error {
	if err := r.own(client); err != nil {
		return err
	}
	var faults apportion.Faults
	check.Resources(&faults, r.kinds, amount, apportion.Item{}, "Resources")
	// The item is made only where there is a fault, for it costs an allocation.
	for _, fault := range faults {
		fault.Item = clientItem(client.id)
	}
	return faults.Err()
}

// checkRelease is checkCall for an amount that the client must hold. All kinds are compared before any is taken.
func (r *roster) checkRelease(client *Client, amount apportion.Resources) error {
	if err := r.checkCall(client, amount); err != nil || amount.FitsIn(client.held) {
		return err
	}
	return &apportion.FieldError{
		Item: clientItem(client.id), Field: "Release", Err: ErrNotHeld,
		Detail: r.kinds.Format(amount) + ", held " + r.kinds.Format(client.held),
	}
}

// checkRemove refuses to take out a client that holds something: that stands for containers that run, and their end
// must be booked somewhere.
func (r *roster) checkRemove(client *Client) error {
	if err := r.own(client); err != nil || client.held.IsZero() {
		return err
	}
	return &apportion.FieldError{Item: clientItem(client.id), Err: ErrHolding, Detail: r.kinds.Format(client.held)}
}

// overflow says that a client cannot hold that much more.
func (r *roster) overflow(client *Client, amount apportion.Resources, err error) error {
	return &apportion.FieldError{Item: clientItem(client.id), Field: "Held", Err: err, Detail: r.kinds.Format(amount)}
}

// reweigh changes the weight of a client, not yet its place in the order.
// The weight is kept twice: as it was given, and as the ratio that levels are compared by.
func (r *roster) reweigh(client *Client, weight float64) error {
	if err := r.own(client); err != nil {
		return err
	}
	var faults apportion.Faults
	checkWeight(&faults, weight, clientItem(client.id))
	if err := faults.Err(); err != nil {
		return err
	}
	client.weight, client.exact.weight = weight, newRatio(weight)
	return nil
}

// checkTotal refuses a total of the wrong length or with a negative quantity.
func (r *roster) checkTotal(total apportion.Resources) error {
	var faults apportion.Faults
	check.Resources(&faults, r.kinds, total, apportion.Item{}, "Total")
	return faults.Err()
}

// skip notes that a client is out of the order until something changes.
func (r *roster) skip(client *Client) {
	client.skipped = true
	r.skipped = append(r.skipped, client)
}

// forget makes a client one that is not skipped. It does not put it into the order.
// O(clients that are skipped).
func (r *roster) forget(client *Client) {
	if client.skipped {
		client.skipped = false
		r.skipped = without(r.skipped, client)
	}
}

// without returns a list of clients less one that is in it.
func without(list []*Client, client *Client) []*Client {
	// The order of those who are skipped matters to nobody: the last one takes the place.
	for i, c := range list {
		if c == client {
			list[i] = list[len(list)-1]
			return list[:len(list)-1]
		}
	}
	return list
}
