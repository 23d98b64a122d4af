// Package live follows a cluster: it keeps what the API server has in memory, by watching it, decides when that has changed, and
// carries decisions out by one patch for each object that they change. A decision costs no list of anything.
//
// [Resize] shares the cluster among jobs of other controllers, package resize.
package live
