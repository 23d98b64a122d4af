// This file holds how many iterations a training takes at a batch size: its statistical efficiency, [Qiao21] §3.1.

package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed data/iterations.csv
var iterationsData string

// training is a training that was recorded at a batch size.
// base is the batch at which progress is counted, batch the one that was trained with. iterations is how
// many it took, and progress how many of the base batch would have done as much.
type training struct {
	base, batch          float64
	progress, iterations float64
}

// readTrainings returns the recorded trainings by model, in the order of the file.
func readTrainings() (map[string][]training, error) {
	rows, err := csv.NewReader(strings.NewReader(iterationsData)).ReadAll()
	if err != nil {
		return nil, err
	}
	all := map[string][]training{}
	for _, row := range rows[1:] {
		var t training
		for i, to := range []*float64{&t.base, &t.batch, &t.progress, &t.iterations} {
			if *to, err = strconv.ParseFloat(row[i+1], 64); err != nil {
				return nil, fmt.Errorf("iterations.csv: %w", err)
			}
		}
		all[row[0]] = append(all[row[0]], t)
	}
	return all, nil
}

// iterationsAt returns how many iterations a model trains at a batch size: as recorded, or by the gradient noise scale that
// the recorded training with the largest batch has,
//
//	gain(m) = (phi/m0 + 1)/(phi/m + 1)                                              // [Qiao21] (6)
//
// which is how many iterations at the base batch size m0 one of m samples is worth.
// The result is not rounded. recorded must not be empty; a batch between two recorded ones is judged by the
// largest, as noise scales grow during a training.
func iterationsAt(recorded []training, batch float64) float64 {
	var largest training
	for _, t := range recorded {
		if t.batch == batch {
			return t.iterations
		}
		if t.batch > largest.batch {
			largest = t
		}
	}
	gain := largest.progress / largest.iterations
	// phi solves (6) for the noise scale: gain (phi/m + 1) = phi/m0 + 1.
	phi := (gain - 1) / (1/largest.base - gain/largest.batch)
	return largest.progress / ((phi/largest.base + 1) / (phi/batch + 1))
}
