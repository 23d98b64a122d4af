// This file implements "apportion drf": dominant resource fairness, [Ghodsi11].

package main

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/examples/internal/strictjson"
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
	// Queues are a tree, to whose ends claims belong by their queue. Absent: all claims share alike.
	Queues  []drf.Queue `json:"queues,omitempty"`
	Filling string      `json:"filling,omitempty"`
}

// drfOutput is its output; containers are fractions or whole.
type drfOutput[N drf.Amount] struct {
	// Claims are in the order of the input. Unused is what is left of each kind, in the caller's units.
	Claims []drfClaim[N] `json:"claims"`
	Unused []N           `json:"unused"`
	// ShortOf is the kind that does not suffice for all min together.
	ShortOf string `json:"short_of,omitempty"`
	// Queues are in the order of the input, absent where that has none.
	Queues []drfQueue[N] `json:"queues,omitempty"`
}

// drfQueue is what the claims below one queue have together: Used of each kind, of which Borrowed is above the guarantee; Lent
// is what the guarantee has above Used.
type drfQueue[N drf.Amount] struct {
	ID       string  `json:"id"`
	Used     []N     `json:"used"`
	Share    float64 `json:"share"`
	Borrowed []N     `json:"borrowed"`
	Lent     []N     `json:"lent"`
	// ShortOf is the kind of which the ceiling does not allow all min below the queue, which were dropped.
	ShortOf string `json:"short_of,omitempty"`
	// From are those that lend what this one borrows, TakenFirst its place among those that have borrowed.
	From       []string `json:"from,omitempty"`
	TakenFirst int      `json:"taken_first,omitempty"`
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
	// Queue is the queue whose ceiling stopped it, where that is so.
	Queue string `json:"queue,omitempty"`
}

// answerDRF reads claims and prints how far each can be filled.
func answerDRF(_ context.Context, c *command) error {
	in, err := readDRF(c.in)
	if err != nil {
		return err
	}
	if len(in.Queues) > 0 {
		return answerTree(c, in)
	}
	if in.Filling == whole {
		filling, err := drf.FillWhole(in.Capacity, in.Claims, nil)
		return writeFilling(c, in.Kinds, filling, err)
	}
	filling, err := drf.Fill(in.Capacity, in.Claims)
	return writeFilling(c, in.Kinds, filling, err)
}

func writeFilling[N drf.Amount](c *command, kinds apportion.Kinds, filling *drf.Filling[N], err error) error {
	if err != nil {
		return err
	}
	return c.write(outputOf(kinds, filling))
}

// outputOf returns a filling in the form of the output.
func outputOf[N drf.Amount](kinds apportion.Kinds, filling *drf.Filling[N]) *drfOutput[N] {
	out := &drfOutput[N]{Claims: make([]drfClaim[N], len(filling.Claims)), Unused: filling.Unused}
	if filling.ShortOf >= 0 {
		out.ShortOf = kinds.Name(filling.ShortOf)
	}
	for i, claim := range filling.Claims {
		stop := claim.StoppedBy
		out.Claims[i] = drfClaim[N]{claim.ID, claim.Containers, claim.Share, claim.Level, stop.Cause.String(), "", stop.Queue}
		if stop.Kind >= 0 {
			out.Claims[i].Kind = kinds.Name(stop.Kind)
		}
	}
	return out
}

// answerTree prints a filling of a tree.
func answerTree(c *command, in *drfInput) error {
	tree, err := drf.NewTree(in.Capacity, in.Queues)
	if err != nil {
		return err
	}
	if in.Filling == whole {
		filling, err := tree.FillWhole(in.Claims)
		return writeTree(c, in, tree, filling, err)
	}
	filling, err := tree.Fill(in.Claims)
	return writeTree(c, in, tree, filling, err)
}

// writeTree prints a filling of a tree, and who has borrowed from whom.
func writeTree[N drf.Amount](c *command, in *drfInput, tree *drf.Tree, filling *drf.TreeFilling[N], err error) error {
	if err != nil {
		return err
	}
	explained, err := drf.ExplainTree(in.Kinds, tree, in.Claims, filling)
	if err != nil {
		return err
	}
	out := outputOf(in.Kinds, &filling.Filling)
	for _, q := range explained.Queues {
		queue := drfQueue[N]{ID: q.ID, Used: q.Used, Share: q.Share, Borrowed: q.Borrowed, Lent: q.Lent, From: q.From, TakenFirst: q.TakenFirst}
		if q.ShortOf >= 0 {
			queue.ShortOf = in.Kinds.Name(q.ShortOf)
		}
		out.Queues = append(out.Queues, queue)
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
	checkVector(&faults, d.Kinds, d.Capacity, apportion.Item{}, "capacity")
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
	// Both ways of filling check claims alike, so one of them is enough. Claims are looked at in their tree
	// where that is sound.
	none := make(apportion.Resources, len(d.Kinds))
	tree, err := drf.NewTree(none, d.Queues)
	if err == nil {
		_, err = tree.Fill(d.Claims)
	}
	var found apportion.Faults
	errors.As(err, &found)
	*faults = append(*faults, found...)
}
