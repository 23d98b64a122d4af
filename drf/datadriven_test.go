// This file runs the cases of testdata/cases: what Fill and FillWhole answer, and why.

package drf_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/internal/must"
)

// A case names the capacity in its command line and has one claim a line:
//
//	fill capacity=(cpu=9,memory=18)
//	id weight min max cpu=1 memory=4
func TestCases(t *testing.T) {
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			kinds, capacity, claims := parseCase(t, d)
			switch d.Cmd {
			case "fill": // who gets what of divisible containers
				filling, err := drf.Fill(capacity, claims)
				return describe(kinds, claims, filling, err)
			case "whole": // the same for whole ones
				filling, err := drf.FillWhole(capacity, claims, &drf.WholeOptions{StopAtFirst: d.HasArg("stop")})
				return describe(kinds, claims, filling, err)
			default:
				return "unknown command"
			}
		})
	})
}

func describe[N drf.Amount](kinds apportion.Kinds, claims []drf.Claim, filling *drf.Filling[N], err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	explained, err := drf.Explain(kinds, claims, filling)
	if err != nil {
		return err.Error() + "\n"
	}
	text := explained.String() + "unused"
	for k, left := range filling.Unused {
		text += fmt.Sprintf(" %s=%.6g", kinds[k], float64(left))
	}
	return text + "\n"
}

func parseCase(t *testing.T, d *datadriven.TestData) (apportion.Kinds, apportion.Resources, []drf.Claim) {
	var kinds apportion.Kinds
	for _, arg := range d.CmdArgs {
		if arg.Key == "capacity" {
			for _, word := range arg.Vals {
				name, _, _ := strings.Cut(word, "=")
				kinds = append(kinds, name)
			}
			capacity := must.Have(kinds.Parse(strings.Join(arg.Vals, " ")))(t)
			return kinds, capacity, parseClaims(t, kinds, d.Input)
		}
	}
	t.Fatal("no capacity")
	return nil, nil, nil
}

func parseClaims(t *testing.T, kinds apportion.Kinds, input string) []drf.Claim {
	var claims []drf.Claim
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		demand := must.Have(kinds.Parse(strings.Join(words[4:], " ")))(t)
		c := drf.Claim{ID: words[0], Demand: demand, Max: drf.NoMax}
		for i, parse := range []func(string) error{
			func(s string) (err error) { c.Weight, err = strconv.ParseFloat(s, 64); return err },
			func(s string) (err error) { c.Min, err = strconv.ParseInt(s, 10, 64); return err },
			func(s string) (err error) {
				if s != "-" {
					c.Max, err = strconv.ParseInt(s, 10, 64)
				}
				return err
			},
		} {
			must.Do(t, parse(words[i+1]))
		}
		claims = append(claims, c)
	}
	return claims
}
