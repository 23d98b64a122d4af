// Package live follows a cluster: it keeps what the API server has in memory, by watching it, decides when that has changed, and
// carries decisions out by one patch for each object that they change. A decision costs no list of anything.
//
// [Resize] shares the cluster among jobs of other controllers, package resize; [Admit] says which of them run at all, and when,
// package admit. Either is the only one that writes the number of pods: run one of them for an object.
package live
