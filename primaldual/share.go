// This file implements the measure of load: what work takes of the whole cluster, as its dominant share.

package primaldual

import "github.com/apportion/apportion"

// share returns what one worker-slot or unit of a job takes of one slot of the cluster, at least: the largest part of any kind on
// either side, where a worker needs b/B of a parameter server.
func (p *park) share(j *Job) float64 {
	if len(j.Speeds) > 0 {
		return j.least(func(s Speed) float64 {
			return max(float64(s.Workers)*p.part(Workers, j.Worker), float64(s.PS)*p.part(ParameterServers, j.PS))
		})
	}
	// b/B is not rounded up: a share must hold for any number of workers, and ceil(y b/B)/y comes
	// down to b/B as y grows.
	served := float64(j.WorkerBandwidth) / float64(j.PSBandwidth)
	return max(p.part(Workers, j.Worker), served*p.part(ParameterServers, j.PS))
}

// part returns the largest part that one container takes of any kind of a side.
func (p *park) part(side Side, demand apportion.Resources) float64 {
	// The dominant kind says how much of the cluster is of no use to others. A kind without
	// capacity has no part.
	most := 0.0
	for r, q := range demand {
		if total := p.totals[int(side)*p.kinds+r]; q > 0 && total > 0 {
			most = max(most, float64(q)/float64(total))
		}
	}
	return most
}
