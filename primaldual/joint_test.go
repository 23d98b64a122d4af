// This file tests workers and parameter servers on the same machines, apart and on one machine, against exhaustive search.

package primaldual

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/oracle/oasisoracle"
	"github.com/apportion/apportion/internal/rapidtest"
)

// mixedSize has room for several containers on every machine, so that the sides meet in many ways.
var mixedSize = size{slots: 1, servers: 3, kinds: 2, capacity: 9, epochs: 2, chunks: 4, jobs: 6}

// The cost of every couple is that of exhaustive search, and a placement at that cost obeys all rules.
func TestJointAgreesWithExhaustiveSearch(t *testing.T) {
	met, apart := 0, 0
	rapidtest.Until(t, "the sides met in every slot, or in none", func() bool { return met > 0 && apart > 0 }, func(t *rapid.T) {
		draw := fromRapid(t)
		cluster := mixedSize.cluster(draw)
		jobs := mixedSize.jobsOf(draw, cluster)
		bounds := boundsDraw(draw, cluster, jobs)
		s, err := NewScheduler(cluster, &bounds, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			j := &jobs[i]
			if j.misfit(cluster) == Admitted {
				checkJoint(t, s, j, &met, &apart)
			}
			if _, err := s.Offer(*j); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkJoint compares the first slot of a job with the search, and counts in how many slots the sides meet.
func checkJoint(t *rapid.T, s *Scheduler, j *Job, met, apart *int) {
	m := &s.ledger.market
	r := &request{job: j, first: j.Arrival, work: j.WorkerSlots()}
	r.set(m)
	problem := oracleProblem(s, j)
	if problem.Same == nil {
		problem.Same = make([]int, len(problem.PS.Free[0]))
		for k := range problem.Same {
			problem.Same[k] = -1
		}
	}
	ways := r.ways(m)
	couples := couplesOf(ways)
	var joint joint
	joint.set(m, &r.demands, j.Colocation)
	state := m.slot(j.Arrival)
	costs := joint.costs(state, couples, inf)
	want := oasisoracle.Together(problem, 0, most(couples).ps)
	for i, c := range couples {
		if least := want[c.workers][c.ps]; !isClose(costs[i], least, 1) {
			t.Fatalf("%+v of %+v cost %g, by search %g", c, j, costs[i], least)
		}
		placed, ok := joint.place(state, c)
		if ok != (costs[i] < inf) {
			t.Fatalf("%+v of %+v: placed %v, cost %g", c, j, ok, costs[i])
		}
		if !ok {
			continue
		}
		plan := SlotPlan{Slot: j.Arrival, Workers: placed[Workers], PS: placed[ParameterServers]}
		if err := s.ledger.checkTake(j, Schedule{plan}); err != nil || plan.Total() != c.workers || plan.servers() != c.ps {
			t.Fatalf("%+v: %+v, %v", c, plan, err)
		}
		if cost := s.ledger.priceOf(j, &plan); !isClose(cost, costs[i], 1) {
			t.Fatalf("%+v of %+v placed at %g, cost %g", c, j, cost, costs[i])
		}
		if len(joint.places) > 0 {
			*met++
		} else {
			*apart++
		}
	}
}

// sharedCluster has machines of so much, each open to both sides.
func sharedCluster(slots int, capacities ...int64) *Cluster {
	c := &Cluster{Kinds: apportion.Kinds{"unit"}, Slots: slots}
	for i, capacity := range capacities {
		server := apportion.Server{ID: string(rune('a' + i)), Capacity: vec{capacity}}
		c.WorkerServers, c.PSServers = append(c.WorkerServers, server), append(c.PSServers, server)
	}
	return c
}

// One worker of two units and one parameter server of one: where they stand is what the rule says, and a machine never has
// more than it holds.
func TestColocation(t *testing.T) {
	job := func(id string, rule Colocation) Job {
		j := plainJob(id, 1)
		j.Epochs, j.Chunks, j.MinibatchSlots = 1, 2, 1
		j.Worker, j.PS, j.PSBandwidth, j.Colocation = vec{2}, vec{1}, 1, rule
		return j
	}
	for _, test := range []struct {
		name       string
		rule       Colocation
		capacities []int64
		want       Verdict
	}{
		{"two workers, two parameter servers on one machine", OneMachine, []int64{5, 6}, Admitted},
		{"one machine is too small by one", OneMachine, []int64{5, 5}, NoRoom},
		{"anywhere they need six", Anywhere, []int64{3, 3}, Admitted},
		{"or five and a rest", Anywhere, []int64{5, 1}, Admitted},
		{"no machine has both", Apart, []int64{5, 2}, Admitted},
		{"apart three and three are not enough", Apart, []int64{3, 3}, NoRoom},
		{"five are not enough", Anywhere, []int64{3, 2}, NoRoom},
	} {
		cluster := sharedCluster(1, test.capacities...)
		bounds := &Bounds{UWorker: []float64{2}, LWorker: []float64{1}, UPS: []float64{4}, LPS: []float64{2}}
		s, err := NewScheduler(cluster, bounds, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := job("j", test.rule)
		d := offer(t, s, j)
		if d.Verdict != test.want {
			t.Errorf("%s: %v, want %v", test.name, d.Verdict, test.want)
		}
		if d.Admitted && !j.stands(s.ledger.park, &d.Schedule[0]) {
			t.Errorf("%s: %+v", test.name, d.Schedule)
		}
		if err := s.recount(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	// Empty, a shared machine costs the smaller of the two L, and full the greater of the two U.
	s := newScheduler(t, sharedCluster(1, 6), &Bounds{UWorker: []float64{2}, LWorker: []float64{1}, UPS: []float64{4}, LPS: []float64{2}}, BoundsFirst)
	near(t, "price of an empty machine", mustPrices(t, s, Workers, 1, 0), []float64{1})
	offer(t, s, job("j", OneMachine))
	near(t, "price of a full machine, from either side", append(mustPrices(t, s, Workers, 1, 0), mustPrices(t, s, ParameterServers, 1, 0)...), []float64{4, 4})
}

// A ledger takes no schedule that overfills a machine from both sides, breaks a rule or stands where labels do not suit.
func TestCommitShared(t *testing.T) {
	cluster := sharedCluster(1, 4, 4)
	for h := range cluster.WorkerServers {
		cluster.WorkerServers[h].Labels = map[string]string{"zone": string(rune('x' + h))}
		cluster.PSServers[h].Labels = cluster.WorkerServers[h].Labels
	}
	l, err := NewLedger(cluster, freeBounds(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	j := plainJob("j", 1)
	j.Worker, j.PS = vec{1}, vec{1}
	j.WorkerRequires = []apportion.Requirement{{Key: "zone", Op: apportion.In, Values: []string{"x"}}}
	on := func(workers, ps []apportion.Placement) Schedule { return Schedule{{Slot: 1, Workers: workers, PS: ps}} }
	at := func(server int, count int64) []apportion.Placement {
		return []apportion.Placement{{Server: server, Count: count}}
	}
	apart := j
	apart.Colocation = Apart
	one := j
	one.Colocation = OneMachine
	for name, test := range map[string]struct {
		job      Job
		schedule Schedule
		want     error
	}{
		"fits":                 {j, on(at(0, 2), at(0, 2)), nil},
		"one too many":         {j, on(at(0, 2), at(0, 3)), ErrOverCapacity},
		"labels":               {j, on(at(1, 1), at(0, 1)), ErrUnsuited},
		"labels of the other":  {j, on(at(0, 1), at(1, 1)), nil},
		"apart":                {apart, on(at(0, 1), at(1, 1)), nil},
		"not apart":            {apart, on(at(0, 1), at(0, 1)), apportion.ErrConflict},
		"on one machine":       {one, on(at(0, 1), at(0, 1)), nil},
		"not on one machine":   {one, on(at(0, 1), at(1, 1)), apportion.ErrConflict},
		"parameter servers on": {one, on(at(0, 1), append(at(0, 1), at(1, 1)...)), apportion.ErrConflict},
	} {
		before := picture(l)
		err := l.Commit(&test.job, test.schedule)
		if !errors.Is(err, test.want) || err == nil && test.want != nil {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if err != nil {
			if before != picture(l) {
				t.Errorf("%s: the ledger changed", name)
			}
			continue
		}
		more := on(at(0, 2), at(0, 3))
		if err := l.Release(&test.job, more, 1); !errors.Is(err, ErrNotTaken) {
			t.Errorf("%s: released more than was taken: %v", name, err)
		}
		if err := l.Release(&test.job, test.schedule, 1); err != nil || before != picture(l) {
			t.Errorf("%s: released: %v", name, err)
		}
	}
}

// A server that takes the other side too keeps what stands there, and its position on the list that it was on.
func TestAddServerToBothSides(t *testing.T) {
	cluster, bounds := plainCluster(2, 4)
	cluster.PSServers[0].Capacity = cluster.WorkerServers[0].Capacity.Clone()
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	d := offer(t, s, plainJob("j", 1))
	before, _ := s.Ledger().Used(ParameterServers, d.Schedule[0].Slot, d.Schedule[0].PS[0].Server)
	server := s.Cluster().PSServers[d.Schedule[0].PS[0].Server]
	if err := s.AddServer(Workers, server); err != nil {
		t.Fatal(err)
	}
	at := len(cluster.WorkerServers)
	for side, position := range map[Side]int{Workers: at, ParameterServers: d.Schedule[0].PS[0].Server} {
		if got, err := s.Ledger().Used(side, d.Schedule[0].Slot, position); err != nil || !cmp.Equal(got, before) || before.IsZero() {
			t.Errorf("%v server %d: %v, %v, want %v", side, position, got, err, before)
		}
	}
	if err := s.recount(); err != nil {
		t.Error(err)
	}
	if _, err := s.SetCapacity(server.ID, vec{9}); err != nil {
		t.Fatal(err)
	}
	now := s.Cluster()
	if got := now.WorkerServers[at].Capacity; !cmp.Equal(got, vec{9}) || now.Validate() != nil {
		t.Errorf("%+v, %v", got, now.Validate())
	}
	out, err := s.Fail(server.ID, 1)
	if err != nil || len(out) != 1 || s.ledger.slot(1).down[s.ledger.on[Workers][at]] != true {
		t.Errorf("%+v, %v", out, err)
	}
}

// Jobs that say where they may run survive JSON and snapshots, and faults name the field.
func TestPlacesOfJobs(t *testing.T) {
	j := plainJob("j", 1)
	j.Colocation = OneMachine
	j.WorkerRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"a100", "h100"}}}
	j.PSRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.NotExists}}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var back Job
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(j, back) {
		t.Errorf("%s: %+v, %v", text, back, err)
	}
	own := j.clone()
	own.WorkerRequires[0].Values[0] = "v100"
	if j.WorkerRequires[0].Values[0] != "a100" {
		t.Error("a clone shares the values of its requirements")
	}
	for field, change := range map[string]func(*Job){
		"WorkerRequires[0].Key": func(j *Job) { j.WorkerRequires[0].Key = "" },
		"PSRequires[0].Op":      func(j *Job) { j.PSRequires[0].Op = "like" },
		"Colocation":            func(j *Job) { j.Colocation = 3 },
	} {
		bad := j.clone()
		change(&bad)
		var fault *apportion.FieldError
		if err := bad.Validate(apportion.Kinds{"unit"}); !errors.As(err, &fault) || fault.Field != field || fault.Item.ID != "j" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A job that asks for labels which no server has is told so, and one that asks for some runs only there.
func TestRequires(t *testing.T) {
	cluster, bounds := plainCluster(4, 4)
	cluster.WorkerServers = servers("w", vec{4}, vec{4})
	cluster.WorkerServers[1].Labels = map[string]string{"gpu": "a100"}
	s := newScheduler(t, cluster, bounds, BoundsFirst)
	j := plainJob("j", 1)
	j.WorkerRequires = []apportion.Requirement{{Key: "gpu", Op: apportion.In, Values: []string{"h100"}}}
	if d := offer(t, s, j); d.Verdict != FitsNoWorkerServer || d.Reason.Text != "no worker server has the labels that it requires" {
		t.Errorf("%v: %+v", d.Verdict, d.Reason)
	}
	j.WorkerRequires[0].Values[0] = "a100"
	d := offer(t, s, j)
	for _, plan := range d.Schedule {
		for _, p := range plan.Workers {
			if p.Server != 1 {
				t.Errorf("slot %d: worker server %d", plan.Slot, p.Server)
			}
		}
	}
	if !d.Admitted {
		t.Errorf("%+v", d.Reason)
	}
}
