// This file finds which servers the requirements of the applications leave, the sets E of [Program §1].

package alloc

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
)

// eligibility says which servers are open to which applications. Servers that are open to the same ones form
// a class, so that the cost of all that follows grows with the classes and not with labels.
type eligibility struct {
	class    []int   // by server
	first    []int   // by class: a server of it
	members  [][]int // by class: its servers, ascending
	alike    []int   // by server: its class if domains did not count but for whether it is in one
	single   bool    // there is one class
	open     [][]int // by application: the classes that it may be placed on anew, ascending; nil: all
	suitable [][]int // by application: the same with cordoned servers counted as open
}

// distinctRequirements returns the lists of requirements, each once, and which of them each application has. Thousands of applications
// share a few lists, and servers are compared with lists, not with applications.
func distinctRequirements(apps []Application) (list []int, lists [][]apportion.Requirement) {
	// The texts of two lists are equal only where they mean the same.
	list = make([]int, len(apps))
	known := make(map[string]int)
	for i := range apps {
		var key strings.Builder
		for r := range apps[i].Requires {
			q := &apps[i].Requires[r]
			for _, part := range append([]string{q.Key, string(q.Op)}, q.Values...) {
				key.WriteString(strconv.Quote(part)) // a label may hold any character
			}
			key.WriteByte(';')
		}
		at, ok := known[key.String()]
		if !ok {
			at = len(lists)
			known[key.String()] = at
			lists = append(lists, apps[i].Requires)
		}
		list[i] = at
	}
	return list, lists
}

// newEligibility finds the classes, each in one domain where domains has the domain of each server. Servers without labels and applications without requirements give one class, which is the
// paper's cluster. Classes are numbered in the order of the servers. O(servers x distinct lists of requirements).
func newEligibility(servers []apportion.Server, apps []Application, domains []leaf) *eligibility {
	list, lists := distinctRequirements(apps)
	// 1. The classes: which lists a server satisfies, and whether it is cordoned.
	e := &eligibility{class: make([]int, len(servers)), alike: make([]int, len(servers)), open: make([][]int, len(apps)), suitable: make([][]int, len(apps))}
	// Both are by list, and ascend because classes are numbered as they are met.
	open, suitable := make([][]int, len(lists)), make([][]int, len(lists))
	classes, bases := make(map[string]int), make(map[string]int)
	for j := range servers {
		// mark has a byte for each list that the server satisfies, and one for a cordon: servers of equal
		// marks are open to the same applications.
		mark := make([]byte, len(lists)+1)
		for l := range lists {
			if servers[j].Satisfies(lists[l]) {
				mark[l] = 1
			}
		}
		if servers[j].Cordoned {
			mark[len(lists)] = 1
		}
		if domains != nil {
			mark = binary.AppendVarint(mark, int64(domains[j].level))
		}
		base, known := bases[string(mark)]
		if !known {
			base = len(bases)
			bases[string(mark)] = base
		}
		if domains != nil {
			mark = binary.AppendVarint(mark, int64(domains[j].domain))
		}
		class, ok := classes[string(mark)]
		if !ok {
			class = len(classes)
			classes[string(mark)] = class
			e.first, e.members = append(e.first, j), append(e.members, nil)
			for l := range lists {
				if mark[l] == 1 {
					suitable[l] = append(suitable[l], class)
				}
				if mark[l] == 1 && !servers[j].Cordoned {
					open[l] = append(open[l], class)
				}
			}
		}
		e.class[j], e.alike[j] = class, base
		e.members[class] = append(e.members[class], j)
	}
	// 2. nil where every class is open, so that the paper's problem stays what it is.
	if len(classes) == 1 {
		e.single = true
	}
	// Applications of one list share its slices, which are only read.
	for i := range apps {
		e.open[i], e.suitable[i] = open[list[i]], suitable[list[i]]
		if len(e.open[i]) == len(classes) {
			e.open[i] = nil
		} else if e.open[i] == nil {
			e.open[i] = []int{} // no class at all
		}
	}
	return e
}

// classes returns the class of every server as solver.Instance.Class has it: nil where all are of one.
func (e *eligibility) classes() []int {
	if e.single {
		return nil
	}
	return e.class
}

// suits reports whether the labels of server j satisfy application i, whether or not it is cordoned: what runs on a server
// may stay there when it is cordoned, and not when its labels no longer fit.
func (e *eligibility) suits(i, j int) bool {
	// Other than open, suitable lists every class, also where it is all of them.
	_, suits := slices.BinarySearch(e.suitable[i], e.class[j])
	return suits
}
