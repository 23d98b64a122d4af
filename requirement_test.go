// This file tests what jobs may ask of the labels of servers.

package apportion_test

import (
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
)

func TestSatisfies(t *testing.T) {
	labelled := apportion.Server{Labels: map[string]string{"gpu": "a100"}, Cordoned: true}
	bare := apportion.Server{}
	for _, test := range []struct {
		requires       apportion.Requirement
		labelled, bare bool
		text           string
	}{
		{apportion.Requirement{Key: "gpu", Op: apportion.In, Values: []string{"h100", "a100"}}, true, false, "gpu in [h100 a100]"},
		{apportion.Requirement{Key: "gpu", Op: apportion.In, Values: []string{"h100"}}, false, false, "gpu in [h100]"},
		{apportion.Requirement{Key: "gpu", Op: apportion.In, Values: []string{""}}, false, false, "gpu in []"},
		{apportion.Requirement{Key: "gpu", Op: apportion.NotIn, Values: []string{"a100"}}, false, true, "gpu not in [a100]"},
		{apportion.Requirement{Key: "gpu", Op: apportion.Exists}, true, false, "gpu exists"},
		{apportion.Requirement{Key: "gpu", Op: apportion.NotExists}, false, true, "gpu not exists"},
	} {
		all := []apportion.Requirement{{Key: "zone", Op: apportion.NotExists}, test.requires}
		must.Equal(t, labelled.Satisfies(all), test.labelled, &test.requires, "on a labelled server")
		must.Equal(t, bare.Satisfies(all), test.bare, &test.requires, "on a bare server")
		must.Equal(t, test.requires.String(), test.text)
	}
	if !bare.Satisfies(nil) {
		t.Error("nothing is required, yet it is not satisfied")
	}
}
