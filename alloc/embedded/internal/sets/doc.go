// Package sets is a local search over the sets of freed applications.
package sets
