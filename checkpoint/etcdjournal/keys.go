// This file implements the names of keys, and what stands under them.

package etcdjournal

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxPiece is the most of a payload that one key has: etcd takes requests of 1.5 MiB.
	maxPiece = 1 << 20
	// inPieces stands under the key of a record in pieces. No payload begins so.
	inPieces = "pieces %d"
)

// keys are the names of a journal's keys: the prefix of all of them.
type keys string

func (k keys) leader() string { return string(k) + "leader" }
func (k keys) head() string   { return string(k) + "head" }

func (k keys) record(number int64) string { return string(k) + "record/" + digits(number) }

func (k keys) records() string { return string(k) + "record/" }

// pieces is the prefix of the pieces of a record.
func (k keys) pieces(number int64) string { return string(k) + "piece/" + digits(number) + "/" }

func (k keys) piece(number int64, index int) string { return k.pieces(number) + digits(int64(index)) }

// number returns the number of the record of a key; false: it is none.
func (k keys) number(key string) (int64, bool) {
	text, found := strings.CutPrefix(key, k.records())
	number, err := strconv.ParseInt(text, 10, 64)
	return number, found && err == nil && digits(number) == text
}

// digits is a number such that texts are in the order of numbers.
func digits(number int64) string { return fmt.Sprintf("%020d", number) }
