// Package managed runs jobs by a cluster manager, such as Nomad, Slurm, YARN or Kubernetes: containers are started and ended by
// its API, each with a guard around its trainer, and the checkpoint protocol keeps its promises whatever the manager
// believes.
//
// # What it computes
//
// A cluster manager has agents of its own on its servers, and they do not keep the promises of [checkpoint.Effect]: one
// that is killed is "down" after some seconds while everything that it has started runs on. So the truth about what lives
// is with the guards, see package guard: [Fleet.Agent] is an agent for one server, inside the program that is also the
// master, whose jobs are started by a [Manager] and are known to live, to have saved and to have ended by the claims of
// their guards at a [guard.Desk].
//
// An importer implements Manager, three calls of the manager's API and whom a job runs as, and says which servers are up.
//
// # Notation
//
//	paper                          Go name                 here
//	create containers, resume      Manager.Start           one call for all servers of a run
//	kill                           Desk.Fence, then        guards end their trainers, the manager its containers
//	                               Manager.Stop
//	save its state                 Desk.AskSave            by the next grant to the guard of the first container
//
// # Contract
//
// A server that the manager calls down gives no status, so nothing new is started there. A driver takes its jobs for ended
// after its Grace, which must be at least [Fleet.Grace]: no guard there was granted anything since the server was last up.
//
// What a run writes, what it is restored from and what its guards sign with are its user's and nobody else's: a fleet that is root's
// hands them over before the run starts, and one that is not refuses jobs of others. A credential is that of one attempt of one job;
// no other claims with it.
//
// Saves are read from the folder Shared by the program that holds the Fleet, and restored into it: all servers see it
// under the same path.
//
// # Limits
//
// The folder Dir is the memory of the agents, and of which runs were asked for. A master on another machine must see it too, as it must
// see the journal's.
package managed
