//go:build !js

// This file reads the first line of "apportion specon".

package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement"
)

// speconHeader is the first line.
type speconHeader struct {
	workers []apportion.Server
	config  specon.ManagerConfig
	options specon.ManagerOptions
	// steering is the kind that usage is compared in.
	steering int
}

// speconInput is the first line as it is written.
type speconInput struct {
	// The workers are the whole cluster, with the capacity of each; none can be added later.
	Kinds    apportion.Kinds    `json:"kinds"`
	Workers  []apportion.Server `json:"workers"`
	Interval seconds            `json:"interval"`
	// Alpha is the gain per interval below which a container is slow; the thesis uses 0.01 to 0.1.
	Alpha   positive `json:"alpha"`
	Options struct {
		testInput
		Classifier speconClassifier `json:"classifier,omitempty"`
		Steering   id               `json:"steering,omitempty"`
		// Separate takes lines 7, 10 and 13 of Algorithm 3 as three tests one after another, as they are
		// indented; AtEntry asks for another host one check earlier, as the example of §6.2.3 does.
		Separate bool `json:"separate,omitempty"`
		AtEntry  bool `json:"at_entry,omitempty"`
		// Weights are those of line 3 of Algorithm 4; absent: 2, 1.5 and 1.
		Weights weights `json:"weights,omitzero"`
		// IgnoreRoom moves containers to workers without room as well, as the thesis does.
		IgnoreRoom bool  `json:"ignore_room,omitempty"`
		Rebalance  *bool `json:"rebalance,omitempty"`
		// RebalanceLiteral follows the listing of Algorithm 5; RebalanceCeiling rounds its factor up.
		RebalanceLiteral bool `json:"rebalance_literal,omitempty"`
		RebalanceCeiling bool `json:"rebalance_ceiling,omitempty"`
	} `json:"options,omitzero"`
}

func readSpeCon(l *lines) (*speconHeader, error) {
	// Kinds are asked for while the workers are read: a capacity is named by kind in its faults.
	in, h := &speconInput{}, &speconHeader{}
	return h, l.read(in, &strictjson.Options{
		Kinds: func() apportion.Kinds { return in.Kinds }, Validate: func() error { return h.take(in) },
	})
}

// take sets the header as the first line says, and returns all that is wrong with it.
func (h *speconHeader) take(in *speconInput) error {
	o := &in.Options
	h.workers = in.Workers
	h.config = specon.ManagerConfig{Config: specon.Config{Interval: time.Duration(in.Interval), Alpha: float64(in.Alpha)}, Kinds: in.Kinds}
	// One migration a tick, so that the caller can look at the effect of one before the next is chosen.
	h.options = specon.ManagerOptions{
		Options: specon.Options{Normalization: o.Normalization, Classifier: o.classifier(string(o.Classifier), in.Alpha),
			Separate: o.Separate, AtEntry: o.AtEntry, Silence: time.Duration(o.Silence)},
		OneAtATime: true, Host: placement.HostOptions{Weights: o.Weights.list, IgnoreRoom: o.IgnoreRoom},
		NoRebalance: o.Rebalance != nil && !*o.Rebalance,
		Rebalance:   placement.RebalanceOptions{IgnoreRoom: o.IgnoreRoom, Literal: o.RebalanceLiteral, Ceiling: o.RebalanceCeiling},
	}
	var faults, found apportion.Faults
	// Faults of the list of servers as a whole have the name of the library; here the list is called
	// workers.
	errors.As((&alloc.Problem{Kinds: in.Kinds, Servers: h.workers}).Validate(), &faults)
	if len(h.workers) == 0 {
		faults.Add(apportion.Item{}, "workers", apportion.ErrEmpty, "")
	}
	for _, fault := range faults {
		if fault.Item.IsZero() {
			fault.Field = "workers"
		}
	}
	var err error
	if h.steering, err = steeringKind(in.Kinds, o.Steering); errors.As(err, &found) {
		faults = append(faults, found...)
	}
	// The monitor is made only for its check; the manager makes its own.
	if _, err := specon.NewMonitor(h.config.Config, &h.options.Options); errors.As(err, &found) {
		faults = append(faults, found...)
	}
	return faults.Err()
}

// maxWeight bounds a weight, so that scores are exact.
//
// 2^20 times the number of containers on any worker is far below 2^53, so that sums in halves are
// exact.
const maxWeight = 1 << 20

// weights are the weights of progressing, watching and converged containers: multiples of 1/2 that fall.
type weights struct{ list placement.Weights }

// UnmarshalJSON reads a list of the three.
func (w *weights) UnmarshalJSON(text []byte) error {
	list, err := decoded[[]float64](text)
	switch {
	case err != nil:
		return err
	case len(list) != 3:
		return fault(apportion.ErrLength, strconv.Itoa(len(list))+" numbers, not 3")
	}
	var whole [3]int64
	for i, weight := range list {
		// A weight too large for an int64 gives any number here; the test for maxWeight refuses it.
		// Scores are sums of halves, so that equal ones are equal to the last bit and ties are real ties.
		whole[i] = int64(weight * placement.ScoreUnit)
		exact := weight > 0 && weight <= maxWeight && float64(whole[i]) == weight*placement.ScoreUnit
		if falls := i == 0 || list[i-1] > weight; !exact || !falls {
			return fault(apportion.ErrRange, "weights are positive multiples of 1/2 that fall")
		}
	}
	w.list = placement.Weights{Progressing: whole[0], Watching: whole[1], Converged: whole[2]}
	return nil
}
