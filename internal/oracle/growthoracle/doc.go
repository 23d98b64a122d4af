// Package growthoracle holds the dumb twin of placement's rebalancing: the definition written down line by line over
// maps, for tests only.
package growthoracle
