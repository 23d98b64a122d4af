// This file holds Report, what Verify finds wrong with a division.

package drf

import (
	"fmt"

	"github.com/apportion/apportion/internal/enum"
)

// Property is one of the promises that Verify checks.
type Property uint8

const (
	// WithinCapacity: of no kind is more handed out than there is.
	WithinCapacity Property = iota
	// WithinBounds: each claim has from Min to Max containers, or none if it cannot be served.
	WithinBounds
	// ParetoEfficient: no claim below Max could have more out of what is unused: for divisible
	// containers any more, for whole ones one more.
	ParetoEfficient
	// EnvyFree: no claim could run more containers, up to its Max, with what another one has,
	// scaled by the quotient of their weights. Whole containers: with what the other one has
	// less one container of it, counted in fractions. What the other one has as its Min is not
	// envied.
	EnvyFree
	// SharingIncentive: each claim has at least what it could run, up to its Max, on a part of
	// the cluster of its own, Weight over the sum of the weights of all. Whole containers: on
	// whole containers of that part. Min of others and large containers can break it.
	SharingIncentive
	// WithinCeilings, of trees: no queue has more of a kind than its ceiling.
	WithinCeilings
	// GuaranteesMet, of trees: no claim below Max could have more within a guarantee above it.
	GuaranteesMet
	// WeightMonotone, of trees: of two children of one queue with the same demand the one with more weight has
	// no less. Whole containers: no less than one below.
	WeightMonotone
)

var propertyTexts = []string{
	"capacity", "bounds", "Pareto efficiency", "envy-freeness", "sharing incentive", "ceilings", "guarantees", "weights",
}

// String returns the property in words.
func (p Property) String() string { return enum.String(p, propertyTexts) }

// MarshalText returns the text of String.
func (p Property) MarshalText() ([]byte, error) { return enum.Marshal(p, propertyTexts) }

// UnmarshalText reads a text of String.
func (p *Property) UnmarshalText(text []byte) error { return enum.Unmarshal(p, text, propertyTexts) }

// Violation is one broken promise.
type Violation struct {
	Property Property `json:"property"`
	// Claim and Other are IDs: who is wronged, and whom it envies; empty where the property is
	// about neither.
	Claim string `json:"claim,omitempty"`
	Other string `json:"other,omitempty"`
	// Queue is whose ceiling is exceeded or whose guarantee is not met, or who has less than its part.
	Queue string `json:"queue,omitempty"`
	// Kind is the kind of resource that is overdrawn (WithinCapacity), else -1.
	Kind int `json:"kind"`
	// Got is the number of containers that the claim has (for WithinCapacity, the quantity that
	// is handed out), Limit the number that it should have at least (EnvyFree,
	// SharingIncentive, ParetoEfficient: at least that many are possible) or the bound that it
	// breaks.
	Got   float64 `json:"got"`
	Limit float64 `json:"limit"`
}

// String returns the violation as one sentence with its numbers.
func (v Violation) String() string {
	switch v.Property {
	case WithinCapacity:
		return fmt.Sprintf("%v: %.9g of kind %d handed out, there is %.9g", v.Property, v.Got, v.Kind, v.Limit)
	case WithinBounds:
		return fmt.Sprintf("%v: claim %q has %.9g containers, its bound is %.9g", v.Property, v.Claim, v.Got, v.Limit)
	case WithinCeilings:
		return fmt.Sprintf("%v: queue %q has %.9g of kind %d, its ceiling is %.9g", v.Property, v.Queue, v.Got, v.Kind, v.Limit)
	case GuaranteesMet:
		return fmt.Sprintf("%v: claim %q has %.9g containers and could have %.9g within what %q is guaranteed", v.Property, v.Claim, v.Got, v.Limit, v.Queue)
	case WeightMonotone:
		return fmt.Sprintf("%v: claim %q has %.9g containers, less than %q, and could have %.9g", v.Property, v.Claim, v.Got, v.Other, v.Limit)
	case EnvyFree:
		return fmt.Sprintf("%v: claim %q has %.9g containers and could run %.9g with what %q has", v.Property, v.Claim, v.Got, v.Limit, v.Other)
	default:
		if v.Queue != "" {
			return fmt.Sprintf("%v: queue %q has a share of %.9g and could have %.9g", v.Property, v.Queue, v.Got, v.Limit)
		}
		return fmt.Sprintf("%v: claim %q has %.9g containers and could have %.9g", v.Property, v.Claim, v.Got, v.Limit)
	}
}

// Report lists the broken promises, property by property, in the order of the claims. An empty one
// is a proof that the division is fair.
type Report []Violation

// Holds reports whether no violation is one of p.
// A property that was not looked at holds as well, as that of guarantees where these exceed the
// capacity.
func (r Report) Holds(p Property) bool {
	for i := range r {
		if r[i].Property == p {
			return false
		}
	}
	return true
}
