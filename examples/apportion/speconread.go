// This file reads the first line of "apportion specon".

package main

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/check"
	"github.com/apportion/apportion/placement"
)

// speconHeader is the first line.
type speconHeader struct {
	kinds   apportion.Kinds
	workers []apportion.Server
	config  specon.Config
	options specon.Options
	// steering is the kind that usage is compared in.
	steering   int
	weights    placement.Weights
	ignoreRoom bool
	// noRebalance leaves Algorithm 5 out, balance says how it works.
	noRebalance bool
	balance     placement.RebalanceOptions
}

func readSpeCon(l *lines) (*speconHeader, error) {
	r, h := newReader(bytes.NewReader(l.text)), &speconHeader{weights: placement.DefaultWeights()}
	var test monitorTest
	var steering string
	r.object("", []field{
		{"kinds", true, func(path string) { h.kinds = r.strs(path) }},
		{"workers", true, func(path string) {
			r.array(path, func(_ string, w int) { h.workers = append(h.workers, r.server(w)) })
		}},
		{"interval", true, func(path string) { h.config.Interval = r.seconds(path) }},
		{"alpha", true, func(path string) { test.alpha = r.positive(path) }},
		{"options", false, func(path string) {
			r.object(path, append(test.fields(r, "decline"),
				field{"steering", false, func(path string) { steering = r.id(path) }},
				field{"separate", false, func(path string) { h.options.Separate = r.boolean(path) }},
				field{"at_entry", false, func(path string) { h.options.AtEntry = r.boolean(path) }},
				field{"weights", false, func(path string) { h.weights = r.weights(path) }},
				field{"ignore_room", false, func(path string) {
					h.ignoreRoom = r.boolean(path)
					h.balance.IgnoreRoom = h.ignoreRoom
				}},
				field{"rebalance", false, func(path string) { h.noRebalance = !r.boolean(path) }},
				field{"rebalance_literal", false, func(path string) { h.balance.Literal = r.boolean(path) }},
				field{"rebalance_ceiling", false, func(path string) { h.balance.Ceiling = r.boolean(path) }},
			))
		}},
	})
	return h, r.finish(h.kinds, func() error {
		h.config.Alpha = test.alpha
		h.options.Normalization, h.options.Classifier = test.normalization, test.classifier()
		return h.validate(steering)
	})
}

func (h *speconHeader) validate(steering string) error {
	var faults apportion.Faults
	errors.As(h.kinds.Validate(), &faults)
	before := len(faults)
	check.Servers(&faults, h.kinds, h.workers)
	for _, fault := range faults[before:] {
		if fault.Item.IsZero() {
			fault.Field = "workers"
		}
	}
	if steering != "" {
		if h.steering = h.kinds.Index(steering); h.steering < 0 {
			faults.Add(apportion.Item{}, "options.steering", apportion.ErrUnknown, strconv.Quote(steering))
		}
	}
	if _, err := specon.NewMonitor(h.config, &h.options); err != nil {
		var found apportion.Faults
		errors.As(err, &found)
		faults = append(faults, found...)
	}
	return faults.Err()
}

// maxWeight bounds a weight, so that scores are exact.
const maxWeight = 1 << 20

// weights reads the weights of progressing, watching and converged containers: multiples of 1/2 that
// fall.
func (r *reader) weights(path string) placement.Weights {
	before := len(r.faults)
	list := r.fixed(path, 3)
	var whole [3]int64
	for i, w := range list {
		whole[i] = int64(w * placement.ScoreUnit)
		exact := w > 0 && w <= maxWeight && float64(whole[i]) == w*placement.ScoreUnit
		if falls := i == 0 || list[i-1] > w; (!exact || !falls) && r.err == nil && len(r.faults) == before {
			r.faults.Add(apportion.Item{}, path, apportion.ErrRange, "weights are positive multiples of 1/2 that fall")
		}
	}
	return placement.Weights{Progressing: whole[0], Watching: whole[1], Converged: whole[2]}
}
