// This file tests the way from the names of Go to those of JSON.

package strictjson_test

import (
	"testing"

	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/examples/internal/strictjson"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/primaldual"
)

func TestNames(t *testing.T) {
	names := strictjson.NamesOf(alloc.Record{}, &primaldual.Job{}, []primaldual.Bounds{})
	for field, want := range map[string]string{
		"":                               "",
		"ID":                             "id",
		"Demand[GPU]":                    "demand[GPU]",
		"PS[X]":                          "ps[X]",
		"Options.NoCeil15":               "options.no_ceil_15",
		"Metrics.Utilization[0]":         "metrics.utilization[0]",
		"Decision.Certificate.By.Solver": "decision.certificate.by.solver",
		"Epochs x Chunks x Minibatches":  "epochs x chunks x minibatches",
		"Utility(3)":                     "utility(3)",
		"UWorker":                        "U_worker",
		"bounds.U_worker":                "bounds.U_worker",
		"demand[gpu]":                    "demand[gpu]",
		"Unheard":                        "unheard",
		"Previous[A].Demand":             "previous[A].demand",
		"previous[Some Server.X]":        "previous[Some Server.X]",
	} {
		must.Equal(t, names.JSON(field), want, field, "becomes")
		must.Equal(t, names.JSON(names.JSON(field)), want, field, "becomes", "the second time")
	}
}
