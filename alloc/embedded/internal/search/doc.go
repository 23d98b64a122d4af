// Package search is the local search on containers and on who is freed at once: annealing by ruin and recreate.
package search
