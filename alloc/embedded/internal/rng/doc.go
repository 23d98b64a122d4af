// Package rng holds the solver's random numbers.
package rng
