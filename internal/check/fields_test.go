// This file tests the checks of fields.

package check_test

import (
	"testing"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/must"
)

func TestFields(t *testing.T) {
	// Maps have no order, and faults have: each field that is wrong is told once, ascending by name.
	for range 20 {
		var faults apportion.Faults
		item := apportion.Item{ID: "config"}
		check.Required(&faults, item, map[string]bool{"Store": true, "Dir": true, "Shared": false})
		check.NotNegative(&faults, item, map[string]time.Duration{"Poll": -time.Second, "Lease": -1, "Look": 0, "Settle": 1})
		want := []string{`config: Dir is empty`, `config: Store is empty`, `config: Lease is negative: -1ns`, `config: Poll is negative: -1s`}
		must.Same(t, messages(faults.Err()), want)
	}
}
