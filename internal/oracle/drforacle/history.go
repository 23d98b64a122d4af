// This file implements decayed means in integers of any length, for the history of queues.

package drforacle

import "math/big"

// Decay blends means with Bits bits behind the point by factors with FactorBits, each rounded to nearest: those of drf.History
// with 40 and 62, arithmetic that is as good as exact with many.
type Decay struct {
	HalfLife         int64
	Bits, FactorBits uint
	// factors has those that were asked for: a sequence has few different intervals.
	factors map[int64]*big.Int
}

// Factor returns 2^(-interval/HalfLife) times 2^FactorBits. The fraction of a half-life is taken bit by bit, each of
// which stands for a root of 1/2: nothing is approximated but the roots.
func (d *Decay) Factor(interval int64) *big.Int {
	if known := d.factors[interval]; known != nil {
		return known
	}
	precision := d.FactorBits + 64
	power := new(big.Float).SetPrec(precision).SetInt64(1)
	root := new(big.Float).SetPrec(precision).SetFloat64(.5)
	halfLife := big.NewInt(d.HalfLife)
	halvings, rest := new(big.Int).DivMod(big.NewInt(interval), halfLife, new(big.Int))
	for bit := uint(0); bit < precision && rest.Sign() > 0; bit++ {
		root.Sqrt(root)
		if rest.Lsh(rest, 1); rest.Cmp(halfLife) >= 0 {
			rest.Sub(rest, halfLife)
			power.Mul(power, root)
		}
	}
	power.SetMantExp(power, int(d.FactorBits)-int(halvings.Int64()))
	// Half up: the sum is cut off.
	factor, _ := power.Add(power, big.NewFloat(.5)).Int(nil)
	if d.factors == nil {
		d.factors = make(map[int64]*big.Int)
	}
	d.factors[interval] = factor
	return factor
}

// Blend returns the mean after an interval in which so much was used. Means are integers: parts of 2^-Bits.
func (d *Decay) Blend(mean *big.Int, used, interval int64) *big.Int {
	factor := d.Factor(interval)
	one := new(big.Int).Lsh(big.NewInt(1), d.FactorBits)
	sum := new(big.Int).Lsh(big.NewInt(used), d.Bits)
	sum.Mul(sum, one.Sub(one, factor)).Add(sum, new(big.Int).Mul(mean, factor))
	half := new(big.Int).Lsh(big.NewInt(1), d.FactorBits-1)
	return sum.Rsh(sum.Add(sum, half), d.FactorBits)
}

// Fade returns the mean after an interval of which nothing is known, rounded down.
func (d *Decay) Fade(mean *big.Int, interval int64) *big.Int {
	left := new(big.Int).Mul(mean, d.Factor(interval))
	return left.Rsh(left, d.FactorBits)
}
