// This file tests decisions on the network of a production cluster: the fewest racks, certified, and several jobs at once, [Program §13].

package alloc_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
)

// lingjun is 847 hosts of 8 GPUs below switches of three layers, see internal/domain/testdata/NOTICE.md.
func lingjun(t testing.TB) *alloc.Problem {
	t.Helper()
	file, err := os.Open("internal/domain/testdata/lingjun_2023.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 848 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	p := &alloc.Problem{Kinds: apportion.Kinds{"gpu"}, Topology: rows[0][1:], Theta1: 1, Previous: alloc.Allocation{}}
	for _, row := range rows[1:] {
		labels := make(map[string]string)
		for at, level := range p.Topology {
			labels[level] = row[1+at]
		}
		p.Servers = append(p.Servers, apportion.Server{ID: row[0], Capacity: apportion.Resources{8}, Labels: labels})
	}
	return p
}

// freeHosts counts the free hosts of each rack by the path of its switches.
func freeHosts(p *alloc.Problem, busy map[string]int64) map[[3]string]int64 {
	free := make(map[[3]string]int64)
	for _, s := range p.Servers {
		if busy[s.ID] == 0 {
			free[[3]string{s.Labels["dsw"], s.Labels["psw"], s.Labels["asw"]}]++
		}
	}
	return free
}

// fewest returns how many pods and racks n hosts need at least: of all sets of pods the smallest that holds them, and in it the racks
// with most free hosts first. 0, 0: they do not fit.
func fewest(free map[[3]string]int64, n int64) (pods, racks int) {
	byPod := make(map[string][]int64)
	for path, hosts := range free {
		byPod[path[1]] = append(byPod[path[1]], hosts)
	}
	var names []string
	for name := range byPod {
		names = append(names, name)
	}
	for set := 1; set < 1<<len(names); set++ {
		var all []int64
		for at, name := range names {
			if set>>at&1 == 1 {
				all = append(all, byPod[name]...)
			}
		}
		slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
		need, count := n, 0
		for _, hosts := range all {
			if need > 0 {
				need -= hosts
				count++
			}
		}
		if of := bits.OnesCount(uint(set)); need <= 0 && (pods == 0 || of < pods || of == pods && count < racks) {
			pods, racks = of, count
		}
	}
	return pods, racks
}

// Every job that needs at most 8 racks is in the fewest possible, and the answer says that this is certified.
func TestLingjunFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	jobs, spread := 0, 0
	for _, percent := range []int{0, 40, 80, 90} {
		p := lingjun(t)
		busy := make(map[string]int64)
		for _, s := range p.Servers {
			if r.IntN(100) < percent {
				busy[s.ID] = 1
			}
		}
		p.Applications = []alloc.Application{{ID: "old", Weight: 1, Form: alloc.Form{Demand: apportion.Resources{8}, Min: int64(len(busy)), Max: max(1, int64(len(busy)))}}}
		p.Previous["old"] = busy
		free := freeHosts(p, busy)
		step := int64(1)
		if testing.Short() {
			step = 9
		}
		for n := int64(1); n <= 64; n += step {
			pods, racks := fewest(free, n)
			if racks == 0 || racks > 8 {
				break
			}
			p.Applications = append(p.Applications[:1], alloc.Application{ID: "new", Weight: 1, Prefer: "asw", Form: alloc.Form{Demand: apportion.Resources{8}, Min: n, Max: n}})
			d := verified(t, p)
			inPods, inRacks := make(map[string]bool), make(map[string]bool)
			for _, s := range p.Servers {
				if d.Allocation["new"][s.ID] > 0 {
					inPods[s.Labels["psw"]], inRacks[s.Labels["psw"]+"/"+s.Labels["asw"]] = true, true
				}
			}
			if d.Allocation.Containers("new") != n || len(inPods) != pods || len(inRacks) != racks {
				t.Errorf("%d %% busy, %d hosts in %d pods and %d racks, the fewest are %d and %d", percent, n, len(inPods), len(inRacks), pods, racks)
			}
			e, err := alloc.Explain(p, d)
			if err != nil || !strings.Contains(e.Domains, `domains of "new" are the fewest`) {
				t.Errorf("%q, %v", e.Domains, err)
			}
			if jobs++; racks > 1 {
				spread++
			}
		}
	}
	t.Logf("%d jobs in the fewest racks, %d of them in several", jobs, spread)
	if jobs < 20 || spread < 10 {
		t.Errorf("%d jobs, %d in several racks", jobs, spread)
	}
}

// together returns the fewest racks that these jobs need together, 0 where they do not fit: it tries all sets of racks for each, and asks
// of each set of jobs whether their racks have room for them (Hall).
func together(room, jobs []int64) int {
	best := 0
	sets := make([]int, len(jobs))
	var try func(at, used int)
	try = func(at, used int) {
		if best > 0 && used >= best {
			return
		}
		if at == len(jobs) {
			best = used
			return
		}
		for set := 1; set < 1<<len(room); set++ {
			sets[at] = set
			fits := true
			for others := range 1 << at {
				need, racks := jobs[at], set
				for o := range at {
					if others>>o&1 == 1 {
						need, racks = need+jobs[o], racks|sets[o]
					}
				}
				for rack, hosts := range room {
					if racks>>rack&1 == 1 {
						need -= hosts
					}
				}
				fits = fits && need <= 0
			}
			if fits {
				try(at+1, used+bits.OnesCount(uint(set)))
			}
		}
	}
	try(0, 0)
	return best
}

// Several jobs at once have few racks more than the fewest that they could have together.
func TestSeveralAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	sets, worse, used, least := 0, 0, 0, 0
	for sets < 150 {
		p, room, jobs := racked(), make([]int64, 5), make([]int64, 3+r.IntN(2))
		p.Topology = []string{"rack"}
		for rack := range room {
			room[rack] = 4 + r.Int64N(12)
			for range room[rack] {
				p.Servers = append(p.Servers, apportion.Server{ID: fmt.Sprint("s", len(p.Servers)), Capacity: apportion.Resources{1}, Labels: map[string]string{"rack": fmt.Sprint(rack)}})
			}
		}
		for at := range jobs {
			jobs[at] = 3 + r.Int64N(15)
			ask(p, fmt.Sprint("a", at), jobs[at], jobs[at], prefer("rack"))
		}
		best := together(room, jobs)
		if best == 0 {
			continue
		}
		sets++
		d, mine := verified(t, p), 0
		for at := range jobs {
			mine += len(perRack(p, d.Allocation[fmt.Sprint("a", at)], "rack"))
		}
		if used, least = used+mine, least+best; mine > best {
			worse++
		}
	}
	t.Logf("%d sets of 3 or 4 jobs on 5 racks: %d racks, the fewest are %d; %d sets have more", sets, used, least, worse)
	if used > least+least/8 {
		t.Errorf("%d racks, the fewest are %d", used, least)
	}
}
