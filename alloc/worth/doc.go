// Package worth makes the worths of alloc.Application of how fast a job runs by its number of containers, and of what
// an operator wants: the objective is named, and the worths follow. It lies below package alloc and knows no cluster.
//
// # What it computes
//
// [Of] takes a [Job], its speeds and its weight, and a [Utility], and returns [Worths] for Application.Worth, IdleWorth
// and StayWorth:
//
//	W(n) = w u(r speed(n)/fair)      fair = the speed at its fair number of containers, see FairSpeed
//	W(0) = w u(floor)
//	K    = w u(speed of what it has/fair)
//
// where r <= 1 is what is left of a speed after a restart. Utilities:
//
//	name         u(x)                     what maximizing the sum does                         source
//	[Speedup]    x                        most work done, whoever does it                      [Qiao21] §3, goodput
//	[Fair]       log x                    proportional fairness: no other allocation is better
//	                                      in the sum of relative changes                       [Kelly98] §2
//	[Alpha]      x^(1-a)/(1-a)            between them: a = 0 is Speedup, 1 is Fair, and
//	                                      large a raises whoever is slowest                     [Mo00] §III
//
// With Fair a job slower than its fair speed is worth less than 0: one with Min 0 is better off with nothing unless its
// IdleWorth, w u(floor), is lower still. Explanation.Warnings names those.
//
// Factors of the weight w, to be multiplied:
//
//	[Attained]    (1 + service/scale)^-p  who had little comes first                            [Gu19] §4.1, least attained
//	[Growth]      max(least, ahead)       a converged job's containers are worth little         [Zheng] (4.2), (5.1)
//
// and [Restart], r = (age - restarts delay)/(age + delay), makes young jobs and those just moved dear to move,
// [Qiao21] §4.2, the factor of reallocation.
//
// # Notation
//
//	symbol     Go name            unit
//	speed(n)   Job.Speeds         of the job, for instance samples a second
//	fair       Job.Fair           the same
//	w          Job.Weight         -
//	r          Job.Restart        -
//	floor      Job.Floor          parts of Fair
//
// # Contract
//
// Pure functions; inputs are read and not retained. Errors name the field. Worths rise and fall as the speeds do, and
// with concave speeds they are concave.
//
// # Theory
//
// Property tests, on decisions of package alloc: proportional fairness does not change when anybody's speeds are
// measured in another unit, and is better in the sum of relative changes than any other allocation of a divisible
// resource; of two containers that can be exchanged none is left with the one who gains less (Pareto within the
// budgets); who is alone, or equal to all others, has his fair part, and the more of the loss budget is allowed the more
// an unequal one may gain.
package worth
