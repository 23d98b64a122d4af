// This file holds what a node of branch and bound decides about an application.

package problem

// Choice says about a pinnable application whether a node of the tree leaves it open.
// The zero value is Open, so that a fresh slice is the root node.
type Choice int8

const (
	// Open leaves it to the bound.
	Open Choice = iota
	// Kept pins the application to what it holds.
	Kept
	// Freed lets it change, which the adjustment budget is charged for.
	Freed
)
