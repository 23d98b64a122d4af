// This file declares a study: a schedule under one way to place jobs, and the settings of SpeCon that it is played with.

package main

import (
	"slices"
	"time"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/placement/sim"
)

// setting is one setting of SpeCon.
// alpha is 0 where the classifier has its own.
type setting struct {
	name     string
	alpha    float64
	interval time.Duration
	options  specon.Options
}

// It is Algorithm 3 as it stands.
func decline(alpha float64, interval time.Duration) setting {
	return setting{"Decline", alpha, interval, specon.Options{}}
}

// chosen are the settings of the main table: the thesis', §6.2.3, and ours.
func chosen() []setting {
	prospect := specon.Options{Classifier: growth.Prospect{Alpha: 0.05}}
	return []setting{decline(0.01, 30*time.Second), {"Prospect", 0, 30 * time.Second, prospect}}
}

// parameters are the settings of figures 6.17 and 6.18, with the thesis' gain of the mean completion
// time in percent.
var parameters = []struct {
	setting
	thesis string
}{
	{decline(0.05, 20*time.Second), "1.1"}, {decline(0.05, 25*time.Second), "5.2"}, {decline(0.05, 30*time.Second), "8.0 or 3.2"},
	{decline(0.01, 30*time.Second), "7.2"}, {decline(0.1, 30*time.Second), "9.5"},
}

// study is a schedule under one way to place new jobs, played several times.
type study struct {
	*schedule
	// even: every job requests the same, so DS places a new job where the fewest are. Otherwise
	// nobody requests anything, all workers are equal to DS, and it picks one at random.
	even      bool
	settings  []setting
	scenarios []*sim.Scenario
	ds        []*sim.Result
	// with[i] is what SpeCon made of scenario i under each setting.
	with [][]*sim.Result
}

// find returns the study of a schedule under random placement.
// It is there: the names are constants of this program.
func find(studies []*study, name string) *study {
	return studies[slices.IndexFunc(studies, func(s *study) bool { return s.name == name && !s.even })]
}

// singleRandom is the schedule of the parameter study, detailed the one whose jobs are shown.
const (
	singleRandom = "vae"
	detailed     = "random-30"
)
