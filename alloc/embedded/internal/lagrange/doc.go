// Package lagrange bounds the utilization by multipliers: prices by server, the decomposition into servers, and the
// bundle method that lowers both.
package lagrange
