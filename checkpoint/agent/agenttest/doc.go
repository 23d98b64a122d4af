// Package agenttest tests agents: [Run] holds an agent of one's own to every promise that
// [checkpoint.Effect] asks of servers, and [Server] is an agent in memory on which a scheduler can be
// tested and tried out.
//
// # Contract
//
// Run needs nothing of an agent but its answers and a look at what it has: a [Subject] says which
// processes of a job live and how often they were started. What an agent cannot be made to do, for
// instance to lose its memory, is left out of the Subject, and the checks that need it are skipped.
//
// The suite is tested by agents that are wrong in one way each: every step of every check that can see something alone has one
// that it sees, in words that the test knows.
//
// A Server keeps its promises as the ready-made agent does, by an [agent.Fence]. Its processes are
// counters. It does nothing by itself: a test says when steps are done, when processes die, and what
// every order comes upon on its way.
package agenttest
