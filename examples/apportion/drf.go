// This file implements "apportion drf": dominant resource fairness, [Ghodsi11].

package main

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/internal/strictjson"
)

// The ways of filling.
const (
	// divisible gives fractions of containers: the fluid optimum, by water-filling.
	divisible = "divisible"
	// whole gives containers one by one, [Ghodsi11] Algorithm 1.
	whole = "whole"
)

// drfInput is the input of "drf". Filling is divisible or whole; empty: divisible.
//
// Capacity is that of the whole cluster: what one server can hold is not this subcommand's question.
type drfInput struct {
	Kinds    apportion.Kinds     `json:"kinds"`
	Capacity apportion.Resources `json:"capacity"`
	Claims   []drf.Claim         `json:"claims"`
	Filling  string              `json:"filling,omitempty"`
}

// drfOutput is its output; containers are fractions or whole.
// There is no plan in it: who gets which server is the question of dorm.
type drfOutput[N drf.Amount] struct {
	// Claims are in the order of the input. Unused is what is left of each kind, in the caller's units.
	Claims []drfClaim[N] `json:"claims"`
	Unused []N           `json:"unused"`
	// ShortOf is the kind that does not suffice for all min together.
	ShortOf string `json:"short_of,omitempty"`
}

// Share is the dominant share in [0, 1]; Level is the share for a weight of 1 up to which the filling
// had risen when the claim stopped; StoppedBy says why it rose no further.
type drfClaim[N drf.Amount] struct {
	// Containers is a number of containers, with a fraction where the filling is divisible.
	ID         string  `json:"id"`
	Containers N       `json:"containers"`
	Share      float64 `json:"share"`
	Level      float64 `json:"level"`
	StoppedBy  string  `json:"stopped_by"`
	// Kind is the kind that has run out, where that is what stopped the claim.
	Kind string `json:"kind,omitempty"`
}

// answerDRF reads claims and prints how far each can be filled.
func answerDRF(_ context.Context, c *command) error {
	in, err := readDRF(c.in)
	if err != nil {
		return err
	}
	// Two instances of one form: the numbers are int64 for whole containers, and print without a
	// fraction.
	if in.Filling == whole {
		filling, err := drf.FillWhole(in.Capacity, in.Claims, nil)
		return writeFilling(c, in.Kinds, filling, err)
	}
	// The filling is complete: whoever is not stopped by its max is stopped by a kind.
	filling, err := drf.Fill(in.Capacity, in.Claims)
	return writeFilling(c, in.Kinds, filling, err)
}

// It takes the error of Fill as it is, so that both ways of filling are answered in one place.
// writeFilling prints a filling with the names of kinds for their positions.
func writeFilling[N drf.Amount](c *command, kinds apportion.Kinds, filling *drf.Filling[N], err error) error {
	if err != nil {
		return err
	}
	out := drfOutput[N]{Claims: make([]drfClaim[N], len(filling.Claims)), Unused: filling.Unused}
	// -1 is no kind: all minimums fit.
	if filling.ShortOf >= 0 {
		out.ShortOf = kinds.Name(filling.ShortOf)
	}
	for i, claim := range filling.Claims {
		stop := claim.StoppedBy
		out.Claims[i] = drfClaim[N]{claim.ID, claim.Containers, claim.Share, claim.Level, stop.Cause.String(), ""}
		// Only a claim that a kind has stopped names one.
		if stop.Kind >= 0 {
			out.Claims[i].Kind = kinds.Name(stop.Kind)
		}
	}
	return c.write(out)
}

// readDRF reads the input, which is returned even with an error; callers look at the error first.
func readDRF(in io.Reader) (*drfInput, error) {
	// The default is set before reading, since a field that is absent stays as it is.
	d := &drfInput{Filling: divisible}
	err := strictjson.Decode(in, d, &strictjson.Options{
		Kinds: func() apportion.Kinds { return d.Kinds }, Validate: d.validate,
	})
	return d, err
}

// It returns all faults at once. Those of the claims are looked for only where capacity and kinds
// agree, for otherwise each claim would repeat the same fault.
func (d *drfInput) validate() error {
	var faults apportion.Faults
	if err := d.Kinds.Validate(); err != nil {
		errors.As(err, &faults)
	}
	// The capacity belongs to no item: it is that of the whole input.
	check.Resources(&faults, d.Kinds, d.Capacity, apportion.Item{}, "capacity")
	if d.Filling != divisible && d.Filling != whole {
		faults.Add(apportion.Item{}, "filling", apportion.ErrUnknown, strconv.Quote(d.Filling))
	}
	if len(d.Capacity) == len(d.Kinds) && len(d.Kinds) > 0 {
		d.validateClaims(&faults)
	}
	return faults.Err()
}

// validateClaims adds what package drf finds wrong with the claims. It looks at them against a
// capacity of nothing, which costs no filling.
func (d *drfInput) validateClaims(faults *apportion.Faults) {
	// Both ways of filling check claims alike, so one of them is enough.
	_, err := drf.Fill(make(apportion.Resources, len(d.Kinds)), d.Claims)
	var found apportion.Faults
	errors.As(err, &found)
	*faults = append(*faults, found...)
}
