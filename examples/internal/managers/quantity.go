// This file reads quantities as Kubernetes writes them.

package managers

import (
	"fmt"
	"math/big"
	"strings"
)

// suffixes are those of quantities.
var suffixes = map[string]string{
	"n": "1/1000000000", "u": "1/1000000", "m": "1/1000", "": "1", "k": "1000", "M": "1000000", "G": "1000000000", "T": "1000000000000", "P": "1000000000000000",
	"E": "1000000000000000000", "Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776", "Pi": "1125899906842624", "Ei": "1152921504606846976",
}

// quantity reads 500m, 2, 1.5Gi, 1e3: thousandths of processors, MiB of memory, and all else in ones, rounded up or down.
func quantity(kind, text string, up bool) (int64, error) {
	number := strings.TrimRight(text, "numkKMGTPEi")
	factor, known := suffixes[text[len(number):]]
	value, ok := new(big.Rat).SetString(number)
	if !known || !ok || strings.Contains(number, "/") || value.Sign() < 0 {
		return 0, fmt.Errorf("%q is no quantity", text)
	}
	scale, _ := new(big.Rat).SetString(factor)
	value.Mul(value, scale)
	switch kind {
	case "cpu":
		value.Mul(value, big.NewRat(1000, 1))
	case "memory":
		value.Mul(value, big.NewRat(1, 1<<20))
	}
	whole, rest := new(big.Int).QuoRem(value.Num(), value.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return whole.Int64(), nil
}
