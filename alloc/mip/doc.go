// Package mip writes Dorm's P2 as a mixed-integer linear program and lets any general solver behind
// package milp answer it. The default solver of package alloc needs nothing of this: import mip for a
// second opinion, for proofs, or to add side constraints to a [Model].
//
// # What it computes
//
// [Build] and [BuildFor] write a solver.Instance in one of three forms: [Verbatim] as the paper prints
// it, [Class] on classes of equal servers, a relaxation, and [Disjunctive] without a big M. [New] makes a
// solver.Solver of a back-end and a form; it climbs down the lexicographic preference where
// [Options] ask for it: fairness loss, adjusted applications, containers moved.
//
// All three forms say the whole of a solver.Instance, also what the paper's P2 has not. Verbatim and
// Disjunctive say it exactly. Class says all that a class of servers can: limits by server become limits by
// class, and the packing step holds them to each server.
//
// # Notation
//
//	symbol      name in the program   unit         where
//	x[i][j]     x_a2_s3               containers   Dorm Table I
//	l_i         l_a2                  shares       Dorm (11), (12)
//	r_i         r_a2                  -            Dorm (13), (14)
//	M           bigM of adjusted      containers   Dorm (13), (14)
//	z_i, y_ij   z_a2, y_a2_s3         -, containers   Disjunctive
//	L_g[k]      cG_g1_k0              of the kind  Group.Ceiling (G)
//	a_i         App.Cost              of AdjustBudget (16), 1 in the paper
//	e_i         e_a2                  -            it has containers, where it may have none, (7), (8)
//	t_i         t_a2                  steps        App.Step, (7), (8)
//	u_ih        u_a2_n4               -            App.Counts, Worth or Losses, here 4 of them, (7), (8)
//	o_ij        o_a2_s3               servers      App.MaxServers
//	h_ij        h_a2_s3               servers      App.Spread
//	v_ins       v_a2_n4_s1            -            App.Spread, here 4 containers on 1 server, (7), (8)
//	-           g_a2                  -            App.FreeAbove: it has more
//	-           i_a2                  -            Choice: it is the option that is placed anew
//	w_i         w_a2                  as App.Worth  where that is concave, else it is at u_ih
//
// Rows beside the paper's: step_a2, on_a2_s3 and width_a2, pinned_a2, worth_a2_p0, in_a2 and some_a2, one_h1, host_a2_s3, hosts_a2_s3,
// spread_a2, grown_a2 and grown_a2_r; see builder.numbers, builder.width, builder.concave, builder.choices, builder.spread, builder.grown.
//
// # Contract
//
// Pure functions of the instance; a Solver's answers are as reproducible as its back-end's. Every answer
// has passed the referees of milp and of solver.Instance, and its bound is no less than what the embedded solver attains at
// little effort. What general solvers call optimal may be 1e-7 below the best, the gap at which they stop.
//
// # Deviations
//
//   - M is as small as each pair of application and server allows, not one large number.
//   - (15) is widened by solver.LossTolerance, as the referee allows.
//   - Kinds of which there are more than 10^15 units are counted in larger ones, see [Build].
package mip
