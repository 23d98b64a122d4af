---- MODULE RUN ----
(* How it is kept that a job never runs twice, whatever becomes of messages: leases, the fence of a server, and orders that are late.       *)
(* A master begins attempts of one job on servers, one at a time. Messages are lost, late, and come again: what was said once may be        *)
(* heard at any moment from then on. A tick is the unit of time; the clocks of servers are that of the world here, for the grace of a       *)
(* driver has what they drift apart beside it. The package internal/world/model has the same actions in Go, names each as here, and         *)
(* searches all states of a small size; its test has TLC do the same ("make tlc" fetches it), and both find as many.                        *)
EXTENDS Integers, FiniteSets

CONSTANTS Servers, Lease, Grace, MaxTime, MaxAttempt
ASSUME Grace >= Lease

None == -1
Times == 0 .. MaxTime
Attempts == 1 .. MaxAttempt

VARIABLES
  now,
  heard,    \* by server: the newest of its stamps that it was handed back
  runs,     \* by server: the attempt that lives there, 0: none
  mark,     \* by server: attempts up to this one may not begin there
  known,    \* by server: the newest of its stamps that the master has
  said,     \* by server: the stamps that masters have handed back, ever
  got,      \* by server: when the master has last heard of it
  lost,     \* servers on which by the master's records nothing runs
  attempt,  \* the newest
  order,    \* by attempt: the server that was asked, and the stamp that was handed back with it
  asked,    \* whether the newest attempt was told to stop
  ended,    \* whether its server has done so
  over      \* whether the master knows that it is over

vars == <<now, heard, runs, mark, known, said, got, lost, attempt, order, asked, ended, over>>

Init ==
  /\ now = Lease /\ attempt = 0 /\ order = [a \in Attempts |-> <<None, None>>] /\ asked = FALSE /\ ended = FALSE /\ over = TRUE
  /\ heard = [s \in Servers |-> None] /\ known = [s \in Servers |-> None] /\ got = [s \in Servers |-> now]
  /\ runs = [s \in Servers |-> 0] /\ mark = [s \in Servers |-> 0] /\ said = [s \in Servers |-> {}] /\ lost = {}

Max(a, b) == IF a > b THEN a ELSE b
Alive(stamp, at) == stamp # None /\ at - stamp < Lease

\* Time passes. A guard ends what has no lease any more, and the agent will not begin it again.
Tick ==
  /\ now < MaxTime /\ now' = now + 1
  /\ mark' = [s \in Servers |-> IF Alive(heard[s], now + 1) THEN mark[s] ELSE Max(mark[s], runs[s])]
  /\ runs' = [s \in Servers |-> IF Alive(heard[s], now + 1) THEN runs[s] ELSE 0]
  /\ UNCHANGED <<heard, known, said, got, lost, attempt, order, asked, ended, over>>

\* The master has an answer of a server, with a stamp of some moment before, which may be from before the beginning.
Answer(s) == \E t \in Times :
  /\ known[s] <= t /\ t <= now
  /\ known' = [known EXCEPT ![s] = t] /\ said' = [said EXCEPT ![s] = @ \cup {t}] /\ got' = [got EXCEPT ![s] = now] /\ lost' = lost \ {s}
  /\ UNCHANGED <<now, heard, runs, mark, attempt, order, asked, ended, over>>

\* A server is asked, and handed back a stamp: now or long after that was said.
Question(s) == \E t \in said[s] :
  /\ heard[s] < t
  /\ heard' = [heard EXCEPT ![s] = t]
  /\ UNCHANGED <<now, runs, mark, known, said, got, lost, attempt, order, asked, ended, over>>

\* A server that was silent for longer than the grace is lost, and what it had is over. The master may find that late.
Lose(s) ==
  /\ s \notin lost /\ now - got[s] > Grace
  /\ lost' = lost \cup {s} /\ over' = (over \/ order[Max(attempt, 1)][1] = s)
  /\ UNCHANGED <<now, heard, runs, mark, known, said, got, attempt, order, asked, ended>>

\* The master begins the next attempt, when the one before is over.
Begin(s) ==
  /\ over /\ attempt < MaxAttempt /\ s \notin lost /\ known[s] # None
  /\ attempt' = attempt + 1 /\ order' = [order EXCEPT ![attempt + 1] = <<s, known[s]>>]
  /\ over' = FALSE /\ asked' = FALSE /\ ended' = FALSE
  /\ UNCHANGED <<now, heard, runs, mark, known, said, got, lost>>

\* An order arrives. It is obeyed if its stamp is not older than a lease: an older one was given before the server was lost, perhaps.
Arrive(a) == LET s == order[a][1] IN
  /\ a <= attempt /\ mark[s] < a /\ runs[s] < a /\ Alive(order[a][2], now)
  /\ runs' = [runs EXCEPT ![s] = a] /\ heard' = [heard EXCEPT ![s] = Max(@, order[a][2])] /\ mark' = [mark EXCEPT ![s] = a - 1]
  /\ UNCHANGED <<now, known, said, got, lost, attempt, order, asked, ended, over>>

AskStop == ~over /\ ~asked /\ asked' = TRUE /\ UNCHANGED <<now, heard, runs, mark, known, said, got, lost, attempt, order, ended, over>>

\* A stop arrives, and the server ends the attempt and refuses it from now on.
Stop == LET s == order[attempt][1] IN
  /\ asked /\ attempt > 0 /\ ~ended
  /\ ended' = TRUE /\ mark' = [mark EXCEPT ![s] = Max(@, attempt)] /\ runs' = [runs EXCEPT ![s] = IF @ <= attempt THEN 0 ELSE @]
  /\ UNCHANGED <<now, heard, known, said, got, lost, attempt, order, asked, over>>

Stopped == asked /\ ended /\ ~over /\ over' = TRUE /\ UNCHANGED <<now, heard, runs, mark, known, said, got, lost, attempt, order, asked, ended>>

\* The master is followed by another on its records: it has heard of nobody yet, and counts from its own beginning.
Follow ==
  /\ known' = [s \in Servers |-> None] /\ got' = [s \in Servers |-> now]
  /\ UNCHANGED <<now, heard, runs, mark, said, lost, attempt, order, asked, ended, over>>

Next == Tick \/ AskStop \/ Stop \/ Stopped \/ Follow \/ (\E s \in Servers : Answer(s) \/ Question(s) \/ Lose(s) \/ Begin(s)) \/ (\E a \in Attempts : Arrive(a))

Spec == Init /\ [][Next]_vars

\* What is older than a lease is never of use again, and of a silence that is longer than the grace no more is asked. States that differ in
\* these alone are one to TLC, by VIEW, so that a search ends by itself; MaxTime has to be above its depth.
Age(t) == IF t = None THEN None ELSE IF now - t > Lease THEN Lease ELSE now - t
Silence(s) == IF now - got[s] > Grace THEN Grace + 1 ELSE now - got[s]
Ages ==
  <<[s \in Servers |-> <<Age(heard[s]), Age(known[s]), {Age(t) : t \in {u \in said[s] : Alive(u, now)}}, Silence(s)>>],
    [a \in Attempts |-> <<order[a][1], Age(order[a][2])>>], runs, mark, lost, attempt, asked, ended, over>>

NeverTwice == Cardinality({s \in Servers : runs[s] # 0}) <= 1
====
