// Package growthoracle holds the dumb twins of package growth's Prospect and of placement's rebalancing: the
// definitions written down line by line over maps and whole histories, for tests only.
package growthoracle
