// This file names the models of step times, and implements those that are sums of terms with non-negative weights: [Amdahl67], [Peng18] (3).

package speedup

import (
	"github.com/apportion/apportion/internal/enum"
)

// Model is a form of the time of a step.
type Model uint8

// The models.
const (
	// Auto is whichever of Amdahl, Optimus and Pollux predicts best what is left out, the simpler one where the
	// difference is small, of those with fewer parameters than there are configurations.
	Auto Model = iota
	// Linear loses nothing: what a job is taken for before anything is known.
	Linear
	// Amdahl has a part of each step that more containers do not shorten.
	Amdahl
	// Optimus adds costs that grow with containers, servers and containers per server.
	Optimus
	// Pollux overlaps computing and synchronizing, and tells one server from several.
	Pollux
	// Table knows what was measured and nothing else. It takes rates to be the same for every number of
	// samples in a step.
	Table
)

var models = []string{"auto", "linear", "amdahl", "optimus", "pollux", "table"}

// String returns the name in lower case.
func (m Model) String() string { return enum.String(m, models) }

// MarshalText returns what String returns.
func (m Model) MarshalText() ([]byte, error) { return enum.Marshal(m, models) }

// UnmarshalText reads what MarshalText writes.
func (m *Model) UnmarshalText(text []byte) error { return enum.Unmarshal(m, text, models) }

// mostTerms is the number of terms of the largest sum.
const mostTerms = 5

// terms returns what the parameters of a sum of terms are multiplied by: samples a container, 1, containers a
// server, containers, servers.
func (c *configuration) terms() [mostTerms]float64 {
	// The order is that of Params, and of the table in the package comment.
	w, p := float64(c.containers), float64(c.servers)
	return [mostTerms]float64{c.samples / w, 1, w / p, w, p}
}

// size returns the number of terms of a model that is a sum, and 0 for others.
func (m Model) size() int {
	switch m {
	case Linear:
		return 1
	case Amdahl:
		return 2
	case Optimus:
		return mostTerms
	default:
		return 0
	}
}

// sum returns the time of a step by a sum of terms.
func sum(params []float64, c configuration) float64 {
	// Missing parameters count as 0, so that Linear and Amdahl are beginnings of Optimus.
	terms := c.terms()
	t := 0.0
	for k, p := range params {
		t += float64(p * terms[k])
	}
	return t
}
