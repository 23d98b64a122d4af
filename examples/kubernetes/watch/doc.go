// Package watch keeps what the API server has of a cluster in memory, by watching it: the one set of informers for all programs
// and modes here.
//
// # What it does
//
// [New] prepares informers for nodes, pods, namespaces, quotas, priority classes and, where they are wanted, Jobs; others are
// added by [Cluster.Add]. [Cluster.Start] returns when all has been seen once. From then on [Cluster.Objects] is what there is
// at one moment, and [Cluster.Changed] says that a decision may come out otherwise than the one before.
//
// # Contract
//
// After Start nothing here asks the API server anything: each kind is listed once and watched from there on, however often it
// is read. What is returned is shared with the informers, and must not be changed. Fields that nobody reads are not kept.
//
// # Deviations
//
// A kubelet renews the status of its node every few seconds: an update of a node in which nothing has changed that is decided
// by says nothing to Changed.
package watch
