// Package sets walks over the sets of freed applications.
package sets
