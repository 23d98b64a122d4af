// Package apportion is the vocabulary of a library that answers the questions every scheduler of
// a machine-learning cluster has.
package apportion
