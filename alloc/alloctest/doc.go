// Package alloctest holds instances of Dorm's P2 for tests and benchmarks: [Table2], [Mixed],
// [Nodes] and [Sized] draw random ones, [References] returns 38 with the answers of a general solver. An importer can
// measure a solver of its own on the same work.
//
// # What it computes
//
// Generated instances follow the paper's testbed: Table II's applications on servers of 12 CPU and
// 128 GB with a GPU on every fourth (240 CPU, 5 GPU and 2.5 TB on 20 servers, [Dorm §V]), or six
// shapes of server and applications of about a hundred demands; or servers of
// which no two are equal, as real nodes are; or as many
// kinds and demands as [Size] says. Shares are
// weighted dominant shares of the pooled cluster within the applications' bounds. With a previous
// allocation, containers were handed out one at a time to the smallest weighted share until no
// further one fit; then two applications have finished and two are new.
//
// # Contract
//
// Pure functions: the same arguments give the same instance on every machine. Instances are fresh.
// Budgets are ceil(2m/10) = 1 share for three kinds, and a tenth of the running applications,
// rounded up.
package alloctest
