// This file asks Meta's Rebalancer.

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc/solver"
)

// envRebalancer names a Python 3.12 that has the package rebalancer.
const envRebalancer = "APPORTION_REBALANCER"

//go:embed beside.py
var besidePy string

// errNoRebalancer is why Rebalancer has no row.
var errNoRebalancer = errors.New("no " + envRebalancer)

// rebalancer asks Meta's Rebalancer, a process of its own, whose start and reading are not counted.
func rebalancer(ctx context.Context, inst *solver.Instance, limit time.Duration) (point, error) {
	python := os.Getenv(envRebalancer)
	if python == "" {
		return point{}, errNoRebalancer
	}
	type app struct {
		Demand apportion.Resources `json:"demand"`
		Max    int64               `json:"max"`
	}
	asked := struct {
		Capacity []apportion.Resources `json:"capacity"`
		Apps     []app                 `json:"apps"`
		Seconds  int                   `json:"seconds"`
	}{Capacity: inst.Capacity, Seconds: int(math.Ceil(limit.Seconds()))}
	for i := range inst.Apps {
		asked.Apps = append(asked.Apps, app{inst.Apps[i].Demand, inst.Apps[i].Max})
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return point{}, err
	}
	run := exec.CommandContext(ctx, python, "-c", besidePy)
	run.Stdin = bytes.NewReader(text)
	out, err := run.Output()
	if err != nil {
		return point{}, fmt.Errorf("rebalancer: %w", err)
	}
	var answer struct {
		Seconds float64   `json:"seconds"`
		Counts  [][]int64 `json:"counts"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return point{}, fmt.Errorf("rebalancer: %w", err)
	}
	counts := sparse(answer.Counts)
	return point{after: time.Duration(answer.Seconds * float64(time.Second)), objective: inst.Objective(counts), bound: math.Inf(1)}, inst.Check(counts)
}
