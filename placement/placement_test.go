// This file tests bad input, ties and the edges of scores, hosts, plans and packings.

package placement_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/must"
	"github.com/apportion/apportion/placement"
)

// trio are three workers; the job is on the last.
func trio() placement.HostRequest {
	return placement.HostRequest{Kinds: cpu, Containers: 1, Demand: apportion.Resources{3}, Current: 2, Workers: []placement.Worker{
		{ID: "a", Counts: placement.Counts{Progressing: 1}, Usage: 0.7, Free: apportion.Resources{6}},
		{ID: "b", Counts: placement.Counts{Converged: 2}, Usage: 0.4, Free: apportion.Resources{3}},
		{ID: "c", Counts: placement.Counts{Progressing: 2, Converged: 1}, Usage: 0.1, Free: apportion.Resources{0}},
	}}
}

func TestChooseHost(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*placement.HostRequest)
		options *placement.HostOptions
		worker  int
		reason  placement.HostReason
	}{
		{"equal scores: least usage", nil, nil, 1, placement.LeastUsage},
		{"equal scores and usages: the first", func(r *placement.HostRequest) { r.Workers[1].Usage = 0.7 }, nil, 0, placement.LeastUsage},
		{"a gang of two fits only where there is room for both", func(r *placement.HostRequest) { r.Containers = 2 }, nil, 0, placement.BestWithRoom},
		{"no room for three", func(r *placement.HostRequest) { r.Containers = 3 }, nil, 2, placement.NoRoom},
		{"as if there were room", func(r *placement.HostRequest) { r.Containers = 3 }, &placement.HostOptions{IgnoreRoom: true}, 1, placement.LeastUsage},
		{"a demand of nothing fits anywhere", func(r *placement.HostRequest) { r.Demand = apportion.Resources{0} }, nil, 1, placement.LeastUsage},
		{"a worker that shrank has no room", func(r *placement.HostRequest) { r.Workers[1].Free[0] = -5 }, nil, 0, placement.BestWithRoom},
		{"stays among equals, whatever its usage", func(r *placement.HostRequest) {
			r.Workers[2].Counts, r.Workers[2].Usage = placement.Counts{Converged: 2}, 9
		}, nil, 2, placement.Stays},
		{"other weights", nil, &placement.HostOptions{Weights: placement.Weights{Progressing: 100, Watching: 2, Converged: 1}}, 1, placement.LeastScore},
		{"alone", func(r *placement.HostRequest) { r.Workers, r.Current = r.Workers[2:], 0 }, nil, 0, placement.Stays},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := trio()
			if test.change != nil {
				test.change(&request)
			}
			got, err := placement.ChooseHost(request, test.options)
			if err != nil || got.Worker != test.worker || got.Reason != test.reason || got.Decided != (test.reason != placement.NoRoom) {
				t.Errorf("%+v, %v; want worker %d, %v", got, err, test.worker, test.reason)
			}
		})
	}
}

func TestChooseHostFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*placement.HostRequest)
		options *placement.HostOptions
		want    error
	}{
		{"current is no worker", func(r *placement.HostRequest) { r.Current = 3 }, nil, apportion.ErrRange},
		{"no workers", func(r *placement.HostRequest) { r.Workers = nil }, nil, apportion.ErrRange},
		{"twice", func(r *placement.HostRequest) { r.Workers[1].ID = "a" }, nil, apportion.ErrDuplicate},
		{"no id", func(r *placement.HostRequest) { r.Workers[1].ID = "" }, nil, apportion.ErrEmpty},
		{"usage NaN", func(r *placement.HostRequest) { r.Workers[1].Usage = math.NaN() }, nil, apportion.ErrNotFinite},
		{"usage infinite", func(r *placement.HostRequest) { r.Workers[1].Usage = math.Inf(1) }, nil, apportion.ErrNotFinite},
		{"negative count", func(r *placement.HostRequest) { r.Workers[1].Counts.Watching = -1 }, nil, apportion.ErrRange},
		{"count that would overflow", func(r *placement.HostRequest) { r.Workers[1].Counts.Watching = math.MaxInt64 / 3 }, nil, apportion.ErrRange},
		{"free of two kinds", func(r *placement.HostRequest) { r.Workers[1].Free = apportion.Resources{1, 2} }, nil, apportion.ErrLength},
		{"negative demand", func(r *placement.HostRequest) { r.Demand[0] = -1 }, nil, apportion.ErrNegative},
		{"negative gang", func(r *placement.HostRequest) { r.Containers = -1 }, nil, apportion.ErrRange},
		{"nobody asks", func(r *placement.HostRequest) { r.Containers = 0 }, nil, apportion.ErrRange},
		{"weights in the wrong order", nil, &placement.HostOptions{Weights: placement.Weights{Progressing: 1, Watching: 2, Converged: 3}}, apportion.ErrRange},
		{"weights that would overflow", nil, &placement.HostOptions{Weights: placement.Weights{Progressing: 1 << 40, Watching: 2, Converged: 1}}, apportion.ErrRange},
	} {
		request := trio()
		if test.change != nil {
			test.change(&request)
		}
		must.Fail(placement.ChooseHost(request, test.options))(t, test.want, test.name)
	}
}

func TestFaultsNameTheirItem(t *testing.T) {
	request := trio()
	request.Workers[1].Counts.Watching = -7
	request.Workers[2].ID, request.Workers[2].Usage = "", math.NaN()
	_, err := placement.ChooseHost(request, nil)
	want := `worker "b": Counts.Watching is out of range: -7
worker 2: ID is empty
worker 2: Usage is not a finite number: NaN`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestRebalanceRoom(t *testing.T) {
	big := func() placement.RebalanceRequest {
		return placement.RebalanceRequest{Now: 100, Kinds: cpu, Free: []apportion.Resources{{4}, {0}}, Containers: []placement.Active{
			{ID: "huge", Worker: 1, Demand: apportion.Resources{5}, Migrated: true, Since: 90},
			{ID: "small", Worker: 1, Demand: apportion.Resources{1}, Migrated: true, Since: 20},
			{ID: "fair", Worker: 1, Demand: apportion.Resources{4}, Migrated: true, Since: 80},
			{ID: "odd", Worker: 1, Demand: apportion.Resources{2}, Migrated: true, Since: 70},
		}}
	}
	for _, test := range []struct {
		name    string
		change  func(*placement.RebalanceRequest)
		options *placement.RebalanceOptions
		want    []string
	}{
		{"the newest that fits, then nothing does", nil, nil, []string{"fair 1 0"}},
		{"as if there were room", nil, &placement.RebalanceOptions{IgnoreRoom: true}, []string{"huge 1 0", "fair 1 0"}},
		{"moved before", func(r *placement.RebalanceRequest) { r.Containers[2].Rebalanced = true }, nil, []string{"odd 1 0", "small 1 0"}},
		{"as listed the mark is not read", func(r *placement.RebalanceRequest) { r.Containers[2].Rebalanced = true }, &placement.RebalanceOptions{Literal: true}, []string{"fair 1 0"}},
		{"ties by id", func(r *placement.RebalanceRequest) { r.Containers[1].Since, r.Containers[3].Since = 95, 95 }, nil, []string{"odd 1 0", "small 1 0"}},
	} {
		request := big()
		if test.change != nil {
			test.change(&request)
		}
		plan, err := placement.Rebalance(request, test.options)
		if diff := cmp.Diff(test.want, moves(request.Containers, plan)); diff != "" || err != nil {
			t.Errorf("%s: %s %v", test.name, diff, err)
		}
	}
	// A container that still grows stops it all.
	request := big()
	request.Containers[3].Migrated = false
	if plan, err := placement.Rebalance(request, nil); err != nil || plan.Ready || len(plan.Transfers) > 0 {
		t.Errorf("not all converged: %+v, %v", plan, err)
	}
}

func TestRebalanceFaults(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*placement.RebalanceRequest)
		want   error
	}{
		{"good", func(*placement.RebalanceRequest) {}, nil},
		{"no containers", func(r *placement.RebalanceRequest) { r.Containers = nil }, nil},
		{"no workers", func(r *placement.RebalanceRequest) { r.Free = nil }, apportion.ErrEmpty},
		{"free of two kinds", func(r *placement.RebalanceRequest) { r.Free[0] = apportion.Resources{1, 2} }, apportion.ErrLength},
		{"on no worker", func(r *placement.RebalanceRequest) { r.Containers[0].Worker = 2 }, apportion.ErrRange},
		{"twice", func(r *placement.RebalanceRequest) { r.Containers[0].ID = "b" }, apportion.ErrDuplicate},
		{"marked in the future", func(r *placement.RebalanceRequest) { r.Containers[0].Since = 101 }, apportion.ErrRange},
		{"negative demand", func(r *placement.RebalanceRequest) { r.Containers[0].Demand[0] = -1 }, apportion.ErrNegative},
		{"demands near 2^63", func(r *placement.RebalanceRequest) {
			r.Containers[0].Demand[0], r.Containers[1].Demand[0] = math.MaxInt64, 1
		}, apportion.ErrOverflow},
		{"free near 2^63", func(r *placement.RebalanceRequest) { r.Free[0][0] = math.MaxInt64 }, apportion.ErrOverflow},
	} {
		request := placement.RebalanceRequest{Now: 100, Kinds: cpu, Free: free(2, 5), Containers: active(nil, nil, []string{"a", "b"})}
		test.change(&request)
		must.Fail(placement.Rebalance(request, nil))(t, test.want, test.name)
	}
}

func TestPackRules(t *testing.T) {
	kinds := apportion.Kinds{"cpu", "gpu"}
	bins := []placement.Bin{
		{Free: apportion.Resources{8, 4}, Containers: 1},
		{Free: apportion.Resources{9, 0}, Containers: 3},
		{Free: apportion.Resources{3, 0}, Containers: 2},
		{Free: apportion.Resources{7, 2}, Containers: 0},
	}
	for _, test := range []struct {
		rule   placement.Rule
		demand apportion.Resources
		count  int64
		want   []apportion.Placement
	}{
		{placement.FirstFit, apportion.Resources{2, 0}, 6, []apportion.Placement{{Server: 0, Count: 4}, {Server: 1, Count: 2}}},
		{placement.BestFit, apportion.Resources{2, 0}, 6, []apportion.Placement{{Server: 2, Count: 1}, {Server: 1, Count: 4}, {Server: 3, Count: 1}}},
		{placement.RoundRobin, apportion.Resources{2, 0}, 6, []apportion.Placement{{Server: 0, Count: 1}, {Server: 1, Count: 1}, {Server: 2, Count: 1}, {Server: 3, Count: 1}, {Server: 0, Count: 1}, {Server: 1, Count: 1}}},
		{placement.FewestFirst, apportion.Resources{2, 0}, 6, []apportion.Placement{{Server: 3, Count: 1}, {Server: 0, Count: 1}, {Server: 3, Count: 1}, {Server: 0, Count: 1}, {Server: 2, Count: 1}, {Server: 3, Count: 1}}},
		{placement.FirstFit, apportion.Resources{2, 1}, 0, nil},
	} {
		packer := must.Have(placement.NewPacker(test.rule, kinds, bins))(t)
		got, ok := packer.Place(test.demand, test.count, nil)
		if diff := cmp.Diff(test.want, got); diff != "" || !ok {
			t.Errorf("%v: %s", test.rule, diff)
		}
	}
	if !bins[0].Free.Equal(apportion.Resources{8, 4}) {
		t.Error("the bins were changed")
	}
}

func TestPackLimits(t *testing.T) {
	packer := must.Have(placement.NewPacker(placement.FirstFit, cpu, []placement.Bin{{Free: apportion.Resources{math.MaxInt64}}, {Free: apportion.Resources{math.MaxInt64}}}))(t)
	if got, ok := packer.Place(apportion.Resources{0}, math.MaxInt64, nil); !ok || len(got) != 1 {
		t.Errorf("a demand of nothing: %v, %v", got, ok)
	}
	if got, ok := packer.Place(apportion.Resources{math.MaxInt64}, 1, nil); !ok || got[0].Server != 1 {
		t.Errorf("all of a server: %v, %v", got, ok)
	}
	for _, test := range []struct {
		name   string
		demand apportion.Resources
		count  int64
		want   error
	}{
		{"more than there are", apportion.Resources{0}, 2, apportion.ErrRange},
		{"fewer than none", apportion.Resources{0}, -1, apportion.ErrRange},
		{"more than was taken", apportion.Resources{math.MaxInt64}, 1, nil},
	} {
		must.Err(t, packer.Release(1, test.demand, test.count), test.want, test.name)
	}
	must.Err(t, packer.Release(0, apportion.Resources{1}, 1), apportion.ErrOverflow, "above 2^63")
	crowded := must.Have(placement.NewPacker(placement.BestFit, cpu, []placement.Bin{{Free: apportion.Resources{1}, Containers: 5}, {Free: apportion.Resources{2}}}))(t)
	if got, ok := crowded.Place(apportion.Resources{0}, math.MaxInt64, nil); !ok || !cmp.Equal(got, []apportion.Placement{{Server: 0, Count: math.MaxInt64 - 5}, {Server: 1, Count: 5}}) {
		t.Errorf("more containers than can be counted: %v, %v", got, ok)
	}
	none := must.Have(placement.NewPacker(placement.RoundRobin, cpu, nil))(t)
	if _, ok := none.Place(apportion.Resources{0}, 1, nil); ok {
		t.Error("placed on no server")
	}
}

func TestNewPackerFaults(t *testing.T) {
	for _, test := range []struct {
		name string
		rule placement.Rule
		bin  placement.Bin
		want error
	}{
		{"unknown rule", "widest", placement.Bin{Free: apportion.Resources{1}}, apportion.ErrUnknown},
		{"free of no kind", placement.FirstFit, placement.Bin{}, apportion.ErrLength},
		{"negative containers", placement.FirstFit, placement.Bin{Free: apportion.Resources{1}, Containers: -1}, apportion.ErrNegative},
	} {
		must.Fail(placement.NewPacker(test.rule, cpu, []placement.Bin{test.bin}))(t, test.want, test.name)
	}
}

// What was placed by somebody else takes room as what the packer places itself, and may take more than
// there is.
func TestTake(t *testing.T) {
	servers := []apportion.Server{{ID: "a", Capacity: apportion.Resources{8, 4}}, {ID: "b", Capacity: apportion.Resources{8, 0}}}
	p := must.Have(placement.NewPacker(placement.FewestFirst, apportion.Kinds{"cpu", "gpu"}, placement.Bins(servers)))(t)
	demand := apportion.Resources{3, 1}
	if p.Room(0, demand) != 2 || p.Room(1, demand) != 0 || p.Room(1, apportion.Resources{0, 0}) != math.MaxInt64 {
		t.Errorf("room for %d and %d, and without a demand %d", p.Room(0, demand), p.Room(1, demand), p.Room(1, apportion.Resources{0, 0}))
	}
	if err := p.Take(0, demand, 3); err != nil || !p.Free(0).Equal(apportion.Resources{-1, 1}) || p.Room(0, demand) != 0 {
		t.Errorf("after three: %v, free %v", err, p.Free(0))
	}
	if _, ok := p.Place(demand, 1, nil); ok {
		t.Error("a container was placed where there is no room")
	}
	for _, test := range []struct {
		demand apportion.Resources
		count  int64
		want   error
	}{{demand, -1, apportion.ErrRange}, {demand, math.MaxInt64, apportion.ErrRange}, {apportion.Resources{math.MaxInt64, 0}, 2, apportion.ErrOverflow}} {
		if err := p.Take(0, test.demand, test.count); !errors.Is(err, test.want) || !p.Free(0).Equal(apportion.Resources{-1, 1}) {
			t.Errorf("%d of %v: %v, free %v", test.count, test.demand, err, p.Free(0))
		}
	}
	if err := p.Release(0, demand, 3); err != nil || !p.Free(0).Equal(servers[0].Capacity) {
		t.Errorf("given back: %v, free %v", err, p.Free(0))
	}
	must.Err(t, p.Release(0, demand, 1), apportion.ErrRange, "one more given back")
}
