// Package colgen holds the linear program whose columns arrive as they are needed: the residual problem of a set of
// freed applications.
package colgen
