---- MODULE RUN ----
(* How it is kept that a job never runs twice, whatever becomes of messages: leases, the fence of a server, and orders that are late.       *)
(* A master begins attempts of one job, one at a time, each on some servers. Messages are lost, late, and come again: what was said once    *)
(* may be heard at any moment from then on. A tick is the unit of time; the clocks of servers are that of the world here, for the grace of  *)
(* a driver has what they drift apart beside it. The package internal/world/model has the same actions in Go, names each as here, and       *)
(* searches all states of a small size; its test has TLC do the same ("make tlc" fetches it), and both find as many. TRACE.tla there takes  *)
(* what has happened in a cluster that was played, and TLC tells whether it is a behaviour of this.                                         *)
EXTENDS Integers, FiniteSets

\* Late is how long after the end of its lease what runs may live on, until it has been killed.
CONSTANTS Servers, Lease, Late, Grace, MaxTime, MaxAttempt
ASSUME Grace >= Lease + Late

None == -1
Times == 0 .. MaxTime
Attempts == 1 .. MaxAttempt

VARIABLES
  now,
  heard,    \* by server: the newest of its stamps that it was handed back
  runs,     \* by server: the attempt that lives there, 0: none
  mark,     \* by server: attempts up to this one may not begin there
  said,     \* by server: the stamps that masters have, and may hand back from now on
  got,      \* by server: when the master has last heard of it
  lost,     \* servers on which by the master's records nothing runs
  attempt,  \* the newest
  on,       \* by attempt: the servers that are to run it
  stamp,    \* by attempt and server: the newest stamp with which the server was asked to begin it
  asked,    \* whether the newest attempt was told to stop
  ended,    \* the servers that have stopped it
  over      \* the servers of which the master knows that it is over there

vars == <<now, heard, runs, mark, said, got, lost, attempt, on, stamp, asked, ended, over>>

Init ==
  /\ now = Lease + Late /\ attempt = 0 /\ on = [a \in Attempts |-> {}] /\ stamp = [a \in Attempts |-> [s \in Servers |-> None]]
  /\ heard = [s \in Servers |-> None] /\ got = [s \in Servers |-> now] /\ runs = [s \in Servers |-> 0] /\ mark = [s \in Servers |-> 0]
  /\ said = [s \in Servers |-> {}] /\ lost = {} /\ asked = FALSE /\ ended = {} /\ over = {}

Max(a, b) == IF a > b THEN a ELSE b
Within(limit, t, at) == t # None /\ at - t < limit
Alive(t, at) == Within(Lease, t, at)
Newest == on[Max(attempt, 1)]

\* Time passes. A guard ends what has had no lease for so long, and the agent will not begin it again. What is older than a lease is forgotten.
Pass(ticks) == LET lives(s) == Within(Lease + Late, heard[s], now + ticks) IN
  /\ now' = now + ticks
  /\ mark' = [s \in Servers |-> IF lives(s) THEN mark[s] ELSE Max(mark[s], runs[s])]
  /\ runs' = [s \in Servers |-> IF lives(s) THEN runs[s] ELSE 0]
  /\ said' = [s \in Servers |-> {t \in said[s] : Alive(t, now + ticks)}]
  /\ UNCHANGED <<heard, got, lost, attempt, on, stamp, asked, ended, over>>

Tick == now < MaxTime /\ Pass(1)

\* What lives dies by itself, as it may at any moment. It is not begun again.
Die(s) ==
  /\ runs[s] # 0
  /\ runs' = [runs EXCEPT ![s] = 0] /\ mark' = [mark EXCEPT ![s] = Max(@, runs[s])]
  /\ UNCHANGED <<now, heard, said, got, lost, attempt, on, stamp, asked, ended, over>>

\* The master has an answer of a server, with a stamp of some moment before, which may be from before the beginning.
Answer(s, t) ==
  /\ t <= now
  /\ said' = [said EXCEPT ![s] = IF Alive(t, now) THEN @ \cup {t} ELSE @] /\ got' = [got EXCEPT ![s] = now] /\ lost' = lost \ {s}
  /\ UNCHANGED <<now, heard, runs, mark, attempt, on, stamp, asked, ended, over>>

\* A server is asked, and handed back a stamp: now or long after that was said.
Question(s, t) ==
  /\ t \in said[s] /\ heard[s] < t
  /\ heard' = [heard EXCEPT ![s] = t]
  /\ UNCHANGED <<now, runs, mark, said, got, lost, attempt, on, stamp, asked, ended, over>>

\* A server that was silent for longer than the grace is lost, and what it had is over. The master may find that late.
Lose(s) ==
  /\ s \notin lost /\ now - got[s] > Grace
  /\ lost' = lost \cup {s} /\ over' = over \cup ({s} \cap Newest)
  /\ UNCHANGED <<now, heard, runs, mark, said, got, attempt, on, stamp, asked, ended>>

\* The master begins the next attempt, when the one before is over everywhere.
Begin(where) ==
  /\ over = Newest /\ attempt < MaxAttempt /\ where # {} /\ where \cap lost = {}
  /\ attempt' = attempt + 1 /\ on' = [on EXCEPT ![attempt + 1] = where]
  /\ over' = {} /\ asked' = FALSE /\ ended' = {}
  /\ UNCHANGED <<now, heard, runs, mark, said, got, lost, stamp>>

\* A server is asked to begin the attempt, or asked again, and handed back a stamp with that.
Order(s, t) ==
  /\ s \in Newest \ (over \cup lost) /\ t \in said[s] /\ stamp[attempt][s] < t
  /\ stamp' = [stamp EXCEPT ![attempt][s] = t]
  /\ UNCHANGED <<now, heard, runs, mark, said, got, lost, attempt, on, asked, ended, over>>

\* An order arrives. It is obeyed if its stamp is not older than a lease: an older one was given before the server was lost, perhaps.
Arrive(a, s, t) ==
  /\ s \in on[a] /\ t <= stamp[a][s] /\ mark[s] < a /\ runs[s] < a /\ Alive(t, now)
  /\ runs' = [runs EXCEPT ![s] = a] /\ heard' = [heard EXCEPT ![s] = Max(@, t)] /\ mark' = [mark EXCEPT ![s] = a - 1]
  /\ UNCHANGED <<now, said, got, lost, attempt, on, stamp, asked, ended, over>>

AskStop == over # Newest /\ ~asked /\ asked' = TRUE /\ UNCHANGED <<now, heard, runs, mark, said, got, lost, attempt, on, stamp, ended, over>>

\* A stop arrives, of the newest attempt or late, and the server ends the attempt and refuses it from now on.
Stop(a, s) ==
  /\ a < attempt \/ (a = attempt /\ asked)
  /\ s \in on[a]
  /\ ended' = IF a = attempt THEN ended \cup {s} ELSE ended
  /\ mark' = [mark EXCEPT ![s] = Max(@, a)] /\ runs' = [runs EXCEPT ![s] = IF @ <= a THEN 0 ELSE @]
  /\ UNCHANGED <<now, heard, said, got, lost, attempt, on, stamp, asked, over>>

Stopped(s) == s \in ended \ over /\ over' = over \cup {s} /\ UNCHANGED <<now, heard, runs, mark, said, got, lost, attempt, on, stamp, asked, ended>>

\* The master is followed by another on its records, which counts from its own beginning. The one before hears of nobody any more.
Follow ==
  /\ got' = [s \in Servers |-> now]
  /\ UNCHANGED <<now, heard, runs, mark, said, lost, attempt, on, stamp, asked, ended, over>>

\* A master that was followed and does not know it hears a server, and hands back what it heard. This is no step of Next: with it a job runs
\* twice, where the server answers that master and not the next one. A driver finds out by its next record.
Linger(s, t) ==
  /\ t <= now /\ said' = [said EXCEPT ![s] = IF Alive(t, now) THEN @ \cup {t} ELSE @]
  /\ UNCHANGED <<now, heard, runs, mark, got, lost, attempt, on, stamp, asked, ended, over>>

Next ==
  \/ Tick \/ AskStop \/ Follow
  \/ \E where \in SUBSET Servers : Begin(where)
  \/ \E s \in Servers :
       \/ Die(s) \/ Lose(s) \/ Stopped(s)
       \/ \E t \in now - Lease .. now : Answer(s, t) \* one that is older is as good as the first of these
       \/ \E t \in said[s] : Question(s, t) \/ Order(s, t)
       \/ \E a \in 1 .. attempt : Stop(a, s) \/ \E t \in said[s] : Arrive(a, s, t)

Spec == Init /\ [][Next]_vars

\* What is older than a lease is never of use again, and of a silence that is longer than the grace no more is asked. States that differ in
\* these alone are one to TLC, by VIEW, so that a search ends by itself; MaxTime has to be above its depth.
Age(limit, t) == IF Within(limit, t, now) THEN now - t ELSE None
Silence(s) == IF now - got[s] > Grace THEN Grace + 1 ELSE now - got[s]
Ages ==
  <<[s \in Servers |-> <<Age(Lease + Late, heard[s]), {Age(Lease, t) : t \in said[s]}, Silence(s), [a \in Attempts |-> Age(Lease, stamp[a][s])]>>],
    on, runs, mark, lost, attempt, asked, ended, over>>

NeverTwice == \A s, t \in Servers : runs[s] # 0 /\ runs[t] # 0 => runs[s] = runs[t]
====
