// Package train is a training job for the in-house scheduler: logistic regression or a network with one
// hidden layer, by stochastic gradient descent with momentum, data-parallel over any number of
// processes.
//
// Process 0 holds the parameters, as a parameter server does; all processes, itself included, compute
// gradients of their part of the batch. The batch of a step depends on the seed and the step alone, so
// the number of processes changes the speed and, but for the rounding of sums, nothing else: a job that
// was resized has the same loss curve as one that was not.
//
// A sample costs a set time beside the arithmetic, which is tiny: the time that a real model would
// take on a machine of its own.
package train
