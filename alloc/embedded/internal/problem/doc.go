// Package problem compiles an instance of P2 for the searches: types of demand, shapes of servers, who may stay, what
// applications lose and are worth, and how containers by type become an allocation.
package problem
