// This file holds the ledger of a scheduler as others may see it.

package primaldual

import "github.com/apportion/apportion"

// LedgerReader is a ledger that can be read: a [*Ledger], or the [LedgerView] of a scheduler.
type LedgerReader interface {
	First() int
	Last() int
	Used(side Side, slot, server int) (apportion.Resources, error)
	Prices(side Side, slot, server int) ([]float64, error)
	// read is not exported, so that only ledgers of this package are readers: Certify walks their
	// tables without copies.
	read() *Ledger
}

// LedgerView shows a ledger that belongs to a scheduler. It is as good as long as the scheduler is, and no copy.
type LedgerView struct{ ledger *Ledger }

// First returns the first slot of the horizon: the current one.
func (v LedgerView) First() int { return v.ledger.First() }

// Last returns the last slot of the horizon.
func (v LedgerView) Last() int { return v.ledger.Last() }

// Used is [Ledger.Used].
func (v LedgerView) Used(side Side, slot, server int) (apportion.Resources, error) {
	return v.ledger.Used(side, slot, server)
}

// Prices is [Ledger.Prices].
func (v LedgerView) Prices(side Side, slot, server int) ([]float64, error) {
	return v.ledger.Prices(side, slot, server)
}

// read returns the ledger itself, for this package to read.
func (v LedgerView) read() *Ledger { return v.ledger }

// read returns l.
func (l *Ledger) read() *Ledger { return l }
