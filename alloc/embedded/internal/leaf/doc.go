// Package leaf answers sets of freed applications: a bound, the best packing found, and, where that is wanted, the
// last word.
package leaf
