// Package colgen holds the linear programs whose columns arrive as they are needed: the residual problem of a set of
// freed applications, and the prices of a cluster where nothing runs.
package colgen
