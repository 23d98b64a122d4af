---- MODULE TRACE ----
(* Whether what has happened to jobs of a cluster is a behaviour of RUN. Package model writes Seen, which has a trace for each job, and has  *)
(* TLC look for a behaviour that takes all steps of each; a trace of which none takes the last step is refused. A step is                   *)
(* <<kind, moment, server or set of servers, attempt, stamp>>. An order that arrives may be obeyed or not, and time passes between steps;    *)
(* all else is seen. A step that says again what is so is none of RUN.                                                                      *)
EXTENDS RUN, Seen, Sequences, TLC

VARIABLES job, at

Steps == Traces[job]

Stays == UNCHANGED vars

Is(kind, s, a, t) ==
  CASE kind = "A" -> Answer(s, t)              \* the master that has begun last has an answer
    [] kind = "L" -> Linger(s, t)              \* one that was followed has
    [] kind = "Q" -> IF Alive(t, now) /\ heard[s] < t THEN Question(s, t) ELSE Stays
    [] kind = "F" -> Follow
    [] kind = "X" -> Lose(s)                   \* it is on record that a server is lost
    [] kind = "B" -> Begin(s)                  \* that an attempt begins
    [] kind = "Z" ->                           \* that it is over
         /\ Newest \subseteq over \cup ended /\ over' = Newest
         /\ UNCHANGED <<now, heard, runs, mark, said, got, lost, attempt, on, stamp, asked, ended>>
    [] kind = "N" ->                           \* an order is given; one of an attempt that is over is none, and must not be obeyed
         IF a = attempt /\ s \in Newest \ (over \cup lost) /\ t \in said[s] /\ stamp[a][s] < t THEN Order(s, t) ELSE Stays
    [] kind = "O" -> Arrive(a, s, t) \/ Stays
    [] kind = "R" -> runs[s] = a /\ Stays      \* a process runs
    [] kind = "E" -> runs[s] = a /\ Die(s)     \* it has ended
    [] kind = "K" -> IF a = attempt /\ over # Newest /\ ~asked THEN AskStop ELSE Stays
    [] kind = "T" -> Stop(a, s)                \* a server says that it has stopped an attempt

TraceInit == Init /\ job \in 1 .. Len(Traces) /\ at = 1

TraceNext ==
  /\ at <= Len(Steps) /\ UNCHANGED job
  /\ LET step == Steps[at] IN
       IF step[2] > now THEN Pass(step[2] - now) /\ UNCHANGED at
       ELSE Is(step[1], step[3], step[4], step[5]) /\ at' = at + 1

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, job, at>>

\* Both are always so: the first says which traces were taken to their ends, and the second how far one was taken.
Taken == at > Len(Steps) => PrintT(<<"taken", job>>)
Reached == PrintT(<<"reached", at - 1>>)
====
