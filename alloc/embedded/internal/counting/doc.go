// Package counting finds conflicts by counting.
package counting
