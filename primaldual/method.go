// This file holds Method: the algorithms for the best schedule, by name.

package primaldual

import "github.com/apportion/apportion/internal/enum"

// Method is an algorithm for the best schedule. BoundsFirst and CappedDP find the same payoff; where
// several schedules have it, they may choose different ones of the same completion.
type Method uint8

// The methods.
const (
	// BoundsFirst is exact and the default: convex hulls bound the payoff of every completion,
	// Lagrangian reduced costs fix most slots, and a small dynamic program decides the rest.
	BoundsFirst Method = iota
	// CappedDP is the plain exact dynamic program over worker-slots. O(slots x W_i x N_i).
	// It takes no bounds and leaves nothing out, so that tests compare the default with it.
	CappedDP
	// ChunkDP is the paper's dynamic program over chunk trainings, in which a slot trains whole
	// chunks only. Where 1/m_i is an integer it equals the other two; otherwise its payoff may be
	// lower. O(slots x E_i N_i x N_i/m_i).
	ChunkDP
)

var methodTexts = []string{"bounds first", "capped dp", "chunk dp"}

// String returns the name of the method.
func (m Method) String() string { return enum.String(m, methodTexts) }

// MarshalText returns the text of String.
func (m Method) MarshalText() ([]byte, error) { return enum.Marshal(m, methodTexts) }

// UnmarshalText reads a text of String.
func (m *Method) UnmarshalText(text []byte) error { return enum.Unmarshal(m, text, methodTexts) }
