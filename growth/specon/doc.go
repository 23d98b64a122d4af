// Package specon implements SpeCon: which jobs of a cluster grow slowly, and on which workers they
// should run.
//
// # What it computes
//
// A [Monitor] is the container monitor: it keeps the jobs of one worker or of a whole cluster in the
// sets PC, WC and CC, and lists those that ask for another host.
//
// # Notation
//
//	symbol         Go name                 unit                              where
//	G_w,c(t_m)     Request.Gain            of E per interval                 Zheng (5.1)
//	alpha          Config.Alpha            as G                              Zheng Table 5.1
//	t_m - t_(m-1)  Config.Interval         time                              Zheng Table 5.1
//	PC, WC, CC     growth.Category, Counts -                                 Zheng §5.2.1
//	migrated       Observation.Migrated    -                                 Zheng Algorithm 3
//
// # Contract
//
// Time is an input: a duration since any origin that all calls share. A Step that returns an error
// changes nothing. Inputs are read and not kept, except strings. The same inputs give the same
// results whatever the order in which jobs are listed. A Step of a Monitor over an unchanged set of
// jobs allocates nothing.
//
// What the thesis calls a container is a job here: one training run, in one container.
//
// # Deviations
//
//   - Algorithm 3, lines 10-12 move WC to WC; the text says to CC. Lines 7, 10 and 13 are a chain:
//     see Options.Separate. A gain of exactly alpha, which no line covers, counts as growing.
//     |PC| + |WC| in line 15 is taken after all jobs of the check are categorized.
//   - A request is made at the check after a job entered CC, as listed; the example of §6.2.3 asks
//     at entry: see Options.AtEntry.
//
// # References
//
//	[Zheng] W. Zheng. Efficient Resource Management for Deep Learning Applications with Virtual
//	        Containers. Master's thesis.
//	        SpeCon: Y. Mao, Y. Fu, W. Zheng, L. Cheng, Q. Liu, D. Tao. arXiv 2010.11307, 2020.
package specon
