// This file pins the numbers of [Zheng] and the counts of Dorm's baseline.

package placement_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

var cpu = apportion.Kinds{"cpu"}

// Reference: [Zheng] §6.2.3: "the weighted scores are 6, 3.5, 4 and 11 for each workers. Therefore,
// SpeCon selected Worker-2 as a new host for it." Job-1 on Worker-4 is in CC and counts there.
func TestPaperHost(t *testing.T) {
	request := placement.HostRequest{Kinds: cpu, Containers: 1, Demand: apportion.Resources{2}, Current: 3, Workers: []placement.Worker{
		{ID: "Worker-1", Counts: placement.Counts{Progressing: 3}, Free: apportion.Resources{10}},
		{ID: "Worker-2", Counts: placement.Counts{Progressing: 1, Watching: 1}, Free: apportion.Resources{11}},
		{ID: "Worker-3", Counts: placement.Counts{Progressing: 2}, Free: apportion.Resources{12}},
		{ID: "Worker-4", Counts: placement.Counts{Progressing: 5, Converged: 1}, Free: apportion.Resources{13}},
	}}
	got, err := placement.ChooseHost(request, nil)
	want := placement.Host{Worker: 1, Decided: true, Reason: placement.LeastScore,
		Scores: []int64{6 * placement.ScoreUnit, 7, 4 * placement.ScoreUnit, 11 * placement.ScoreUnit}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// active returns converged containers on workers; each entry lists the ids of one worker.
func active(since map[string]int, workers ...[]string) (containers []placement.Active) {
	for w, ids := range workers {
		for _, id := range ids {
			containers = append(containers, placement.Active{ID: id, Worker: w, Demand: apportion.Resources{1},
				Migrated: true, Since: time.Duration(since[id]) * time.Second})
		}
	}
	return containers
}

func free(workers int, quantity int64) (free []apportion.Resources) {
	for range workers {
		free = append(free, apportion.Resources{quantity})
	}
	return free
}

// letters were marked at 10 s, 20 s and so on.
func letters(text string) map[string]int {
	since := map[string]int{}
	for i, c := range text {
		since[string(c)] = 10 * (i + 1)
	}
	return since
}

// Reference: [Zheng] §5.2.3, Algorithm 5.
func TestPaperRebalance(t *testing.T) {
	for _, test := range []struct {
		name       string
		containers []placement.Active
		workers    int
		now        int
		options    *placement.RebalanceOptions
		factor     int
		want       []string // container from to
	}{
		{"four workers, one idle", active(letters("abcdefghij"), nil, []string{"a", "b", "c"}, []string{"d", "e", "f", "g"}, []string{"h", "i", "j"}),
			4, 200, nil, 2, []string{"j 3 0", "g 2 0"}},
		{"the same as listed: one container to each idle worker", active(letters("abcdefghij"), nil, []string{"a", "b", "c"}, []string{"d", "e", "f", "g"}, []string{"h", "i", "j"}),
			4, 200, &placement.RebalanceOptions{Literal: true}, 2, []string{"j 3 0"}},
		{"c1 and c2 have left", active(map[string]int{"c3": 5, "c4": 9}, nil, []string{"c3", "c4"}), 2, 20, nil, 1, []string{"c4 1 0"}},
		{"none idle", active(letters("abcdefghijkl"), []string{"a"}, []string{"b", "c", "k", "l"}, []string{"d", "e", "f", "g"}, []string{"h", "i", "j"}),
			4, 200, nil, 3, []string{"l 1 0"}},
		{"none idle as listed: line 27 never holds", active(letters("abcdefghijkl"), []string{"a"}, []string{"b", "c", "k", "l"}, []string{"d", "e", "f", "g"}, []string{"h", "i", "j"}),
			4, 200, &placement.RebalanceOptions{Literal: true}, 3, nil},
		{"fewer containers than workers", active(letters("ab"), nil, []string{"a", "b"}, nil), 3, 200, nil, 0, nil},
		{"the same with the ceiling", active(letters("ab"), nil, []string{"a", "b"}, nil), 3, 200, &placement.RebalanceOptions{Ceiling: true}, 1, []string{"b 1 0"}},
		{"as listed a worker may be emptied, and is not filled again", active(letters("bca"), nil, []string{"a"}, []string{"b", "c"}), 3, 200, &placement.RebalanceOptions{Literal: true}, 1, []string{"a 1 0"}},
		{"the same with guards", active(letters("bca"), nil, []string{"a"}, []string{"b", "c"}), 3, 200, nil, 1, []string{"c 2 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, err := placement.Rebalance(placement.RebalanceRequest{Now: time.Duration(test.now) * time.Second, Kinds: cpu,
				Free: free(test.workers, 100), Containers: test.containers}, test.options)
			if err != nil || !plan.Ready || plan.Factor != test.factor {
				t.Errorf("%v, ready %v, factor %d, want %d", err, plan.Ready, plan.Factor, test.factor)
			}
			must.Equal(t, cmp.Diff(test.want, moves(test.containers, plan), cmpopts.EquateEmpty()), "")
		})
	}
}

// Reference: [Dorm] §V: the static baseline gives LR and MF 8 containers of 2 CPUs each, so that
// 240 CPUs hold the first 15 applications. Swarm spreads: the first application takes one container
// on each of 8 servers.
func TestPaperStaticSwarm(t *testing.T) {
	bins := make([]placement.Bin, 20)
	for j := range bins {
		bins[j].Free = apportion.Resources{12}
	}
	swarm := must.Have(placement.NewPacker(placement.FewestFirst, cpu, bins))(t)
	applications := 0
	for {
		placed, ok := swarm.Place(apportion.Resources{2}, 8, nil)
		if !ok {
			break
		}
		if applications == 0 && (len(placed) != 8 || placed[0].Server != 0 || placed[7].Server != 7) {
			t.Errorf("the first application is on %v", placed)
		}
		applications++
	}
	must.Equal(t, applications, 15, "applications")
}
