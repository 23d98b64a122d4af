// Package etcdjournal keeps the records of a [checkpoint.Machine] in etcd, so that a master on another machine follows one
// that dies, or is cut off. It is a module of its own, so that who does not use it does not depend on etcd's client.
//
// # What it does
//
// [Open] stands in line for the leadership, and waits there for as long as another master has it: a standby master is one
// that is in Open. The leader reads the records and recovers the machine that they tell of. [Journal.Append] and
// [Journal.Compact] are driver.Journal, as package journal has them for a disk. Keys, below a prefix:
//
//	leader/<lease>            who stands in line; the oldest of them leads
//	head                      the number of the record that is the newest snapshot: all before it are void
//	record/<number>           a record: its payload as package journal encodes it, or, if that is long, "pieces N"
//	piece/<number>/<index>    the pieces of a long one
//
// Numbers have 20 digits, and ascend by 1.
//
// # Why it is safe
//
// Each change is one transaction, with the condition that the key under which this master leads has still the revision with
// which it was created. That revision is the master's epoch: revisions ascend, and no later leader's key is older. A leader's
// key goes when its lease is over, and only then is there another leader; [Journal.Leads] says without asking anybody whether
// that may be so. So a record that was appended is there when the
// next leader reads, and none comes after that: what a disk's journal has to look for after each record, etcd decides within
// it.
//
// A transaction whose answer is lost may have counted. It is done again, with the condition that the record is not there:
// if it is, and is what was to be written, it has counted, once. What is not answered within [Options.Limit] ends the
// journal with an error that wraps [ErrNoAnswer]; the record counts or not, and who opens the journal next will know.
//
// # Contract
//
// Records are as durable as etcd's cluster: with three members one may die, be cut off or be slow at a time. Without a
// majority nothing is appended and nobody leads. Data of etcd that was put back to an older copy is noticed by the servers,
// see [checkpoint.Witness].
//
// A master that hangs and holds its lease is not replaced: the client renews the lease for as long as the process lives.
// End the process of a driver that has ended with an error.
//
// A transaction has at most 1 MiB and a few operations, far below etcd's limits (1.5 MiB, 128). All that a cluster has lies
// in etcd's quota (2 GiB by default) several times until etcd compacts its own history: set --auto-compaction-retention.
package etcdjournal
