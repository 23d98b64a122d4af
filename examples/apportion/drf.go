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
)

// The ways of filling.
const (
	divisible = "divisible"
	whole     = "whole"
)

// drfInput is the input of "drf".
type drfInput struct {
	kinds    apportion.Kinds
	capacity apportion.Resources
	claims   []drf.Claim
	filling  string
}

// drfOutput is its output; containers are fractions or whole.
type drfOutput[N drf.Amount] struct {
	Claims []drfClaim[N] `json:"claims"`
	Unused []N           `json:"unused"`
	// ShortOf is the kind that does not suffice for all min together.
	ShortOf string `json:"short_of,omitempty"`
}

type drfClaim[N drf.Amount] struct {
	ID         string  `json:"id"`
	Containers N       `json:"containers"`
	Share      float64 `json:"share"`
	Level      float64 `json:"level"`
	StoppedBy  string  `json:"stopped_by"`
	Kind       string  `json:"kind,omitempty"`
}

func answerDRF(_ context.Context, c *command) error {
	in, err := readDRF(c.in)
	if err != nil {
		return err
	}
	if in.filling == whole {
		filling, err := drf.FillWhole(in.capacity, in.claims, nil)
		return writeFilling(c, in.kinds, filling, err)
	}
	filling, err := drf.Fill(in.capacity, in.claims)
	return writeFilling(c, in.kinds, filling, err)
}

func writeFilling[N drf.Amount](c *command, kinds apportion.Kinds, filling *drf.Filling[N], err error) error {
	if err != nil {
		return err
	}
	out := drfOutput[N]{Claims: make([]drfClaim[N], len(filling.Claims)), Unused: filling.Unused}
	if filling.ShortOf >= 0 {
		out.ShortOf = kinds.Name(filling.ShortOf)
	}
	for i, claim := range filling.Claims {
		stop := claim.StoppedBy
		out.Claims[i] = drfClaim[N]{claim.ID, claim.Containers, claim.Share, claim.Level, stop.Cause.String(), ""}
		if stop.Kind >= 0 {
			out.Claims[i].Kind = kinds.Name(stop.Kind)
		}
	}
	return c.write(out)
}

func readDRF(in io.Reader) (*drfInput, error) {
	r, d := newReader(in), &drfInput{filling: divisible}
	r.object("", []field{
		{"kinds", true, func(path string) { d.kinds = r.strs(path) }},
		{"capacity", true, func(path string) { d.capacity = r.resources(path) }},
		{"claims", true, func(path string) {
			r.array(path, func(_ string, i int) { d.claims = append(d.claims, r.claim(i)) })
		}},
		{"filling", false, func(path string) { d.filling = r.str(path) }},
	})
	return d, r.finish(d.kinds, d.validate)
}

// claim reads the i-th claim.
func (r *reader) claim(i int) drf.Claim {
	claim, before := drf.Claim{Weight: 1, Max: drf.NoMax}, len(r.faults)
	r.object("", []field{
		{"id", true, func(path string) { claim.ID = r.str(path) }},
		{"demand", true, func(path string) { claim.Demand = r.resources(path) }},
		{"weight", false, func(path string) { claim.Weight = r.number(path, 1) }},
		{"min", false, func(path string) { claim.Min = r.integer(path, 0) }},
		{"max", false, func(path string) { claim.Max = r.integer(path, drf.NoMax) }},
	})
	r.named(before, check.Item("claim", claim.ID, i))
	return claim
}

func (d *drfInput) validate() error {
	var faults apportion.Faults
	if err := d.kinds.Validate(); err != nil {
		errors.As(err, &faults)
	}
	check.Resources(&faults, d.kinds, d.capacity, apportion.Item{}, "capacity")
	if d.filling != divisible && d.filling != whole {
		faults.Add(apportion.Item{}, "filling", apportion.ErrUnknown, strconv.Quote(d.filling))
	}
	if len(d.capacity) == len(d.kinds) && len(d.kinds) > 0 {
		d.validateClaims(&faults)
	}
	return faults.Err()
}

// validateClaims adds what package drf finds wrong with the claims. It looks at them against a
// capacity of nothing, which costs no filling.
func (d *drfInput) validateClaims(faults *apportion.Faults) {
	_, err := drf.Fill(make(apportion.Resources, len(d.kinds)), d.claims)
	var found apportion.Faults
	errors.As(err, &found)
	for _, fault := range found {
		fault.Field = nameKind(jsonField(fault.Field), d.kinds)
		*faults = append(*faults, fault)
	}
}
