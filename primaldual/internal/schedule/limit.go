// This file bounds the size of tables, so that no job can take all memory.

package schedule

import (
	"errors"
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/exact"
)

// DefaultMaxCells is the limit on the size of any table where none is given: 2^27 cells of eight bytes are
// one GiB.
const DefaultMaxCells = 1 << 27

// ErrTooLarge reports that a computation would need a table with more cells than the limit. Nothing was
// allocated for it and no state has changed.
var ErrTooLarge = errors.New("is larger than the limit on memory")

// CheckCells refuses a table of rows x columns cells above the limit.
// It is asked before anything is allocated, with numbers that the caller of the package chooses: work
// and slots.
func CheckCells(rows, columns, limit int64, item apportion.Item, field string) error {
	// A product beyond 2^63 is larger than any limit.
	cells, ok := exact.Mul(rows, columns)
	if ok && cells <= limit {
		return nil
	}
	return &apportion.FieldError{
		Item: item, Field: field, Err: ErrTooLarge,
		Detail: fmt.Sprintf("%d x %d cells, the limit is %d", rows, columns, limit),
	}
}
