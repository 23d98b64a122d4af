// Package solver is the dense form of Dorm's optimization problem P2: names resolved to indices,
// shares and budgets computed, ready for a solver. Package alloc builds an [Instance] from a
// problem that a person writes; a [Solver] answers it; [Instance.Check], [DualBound], [CopyBound] and
// [Instance.Cap] let anyone verify the answer with code that shares nothing with the solver.
//
// # What it states
//
// Choose x[i][j], the whole containers of application i on server j, to
//
//	maximize   sum_i v_i n_i                              utilization                  (10)
//	subject to sum_i x[i][j] d[i][k] <= c[j][k]           every server j, kind k       (6)
//	           min_i <= n_i <= max_i,  n_i = sum_j x[i][j]                             (7)(8)
//	           sum_i |delta_i n_i - share_i| <= LossBudget                             (11)(12)(15)
//	           sum_i r_i <= AdjustBudget,  r_i = 1 if x[i] differs from its past       (13)(14)(16)
//
// where v_i = sum_k d[i][k]/C_k, delta_i = max_k d[i][k]/C_k and C_k = sum_j c[j][k], over the
// kinds with C_k > 0.
//
// An application may have a worth beside v_i n_i for each number of containers, [App.Worth], of any shape, and one for
// staying exactly as it is, [App.Stay], and lose by the servers that it is on, [App.Spread]. Without them the objective is the utilization,
// as it is called throughout.
//
// An application may state its loss for each number of containers, [App.Losses], in place of |delta_i n_i - share_i|.
//
// Groups of applications may have ceilings: what they use together is at most [Group.Ceiling] (G).
//
// # Notation
//
//	symbol       Go name              unit                 where
//	x[i][j]      Counts[i]            containers           Dorm Table I
//	c[j][k]      Capacity[j][k]       the kind's own       Dorm Table I
//	d[i][k]      Apps[i].Demand[k]    per container        Dorm Table I
//	n^min, n^max Min, Max             containers           Dorm Table I
//	v_i          Value                utilization          eq. (10)
//	delta_i      Delta                share per container  eq. (2)
//	W_i(n)       Value n + Extra(n)   as Worth, or utilization  beyond the paper
//	K_i          W_i(n) + Stay        the same             beyond the paper
//	-            Spread, Torn         the same             beyond the paper
//	s^_i         Share                share, in [0, 1]     eq. (2)
//	A^t-1        Running              -                    eq. (4)
//	ceil(..)     LossBudget           share                eq. (15)
//	ceil(..)     AdjustBudget         applications         eq. (16)
//
// # Contract
//
// An Instance is read-only once built: solvers neither change nor retain it. Utilization and
// shares are float64; capacities and counts are exact.
package solver
