// This file draws the figures of a play.

package harness

import (
	"math"

	"gonum.org/v1/plot/plotter"

	"github.com/apportion/apportion/examples/studies/chart"
	"github.com/apportion/apportion/examples/studies/inhouse/cluster"
)

// Figures draws containers and losses of the jobs, and how well the cluster was used, over time.
// The three are in the order of the summary.
func (r *Record) Figures(outcomes []Outcome) []*chart.Figure {
	containers := r.Containers("containers", "Containers of each job")
	loss := chart.New("loss", "Loss of each job, over all its runs", "part of its steps", "loss / first loss")
	for i := range outcomes {
		o := &outcomes[i]
		loss.Steps(i, o.Job.Name, o.relative())
	}
	used := chart.New("used", "How the cluster was used", "time (s)", "")
	var utilization, unfair plotter.XYs
	for i := range r.Samples {
		s := &r.Samples[i]
		u, f := r.measure(s)
		utilization = append(utilization, plotter.XY{X: s.At.Seconds(), Y: u})
		unfair = append(unfair, plotter.XY{X: s.At.Seconds(), Y: f})
	}
	used.Steps(0, "utilization, sum over kinds", utilization)
	used.Steps(1, "fairness loss", unfair)
	return []*chart.Figure{containers, used, loss}
}

// Containers draws how many containers each job had over time; name is the figure's.
func (r *Record) Containers(name, title string) *chart.Figure {
	figure := chart.New(name, title, "time (s)", "containers")
	for i := range r.Jobs {
		if held := r.held(r.Jobs[i].Name); len(held) > 0 {
			figure.Steps(i, r.Jobs[i].Name, held)
		}
	}
	return figure
}

// held is how many containers a job had over time.
// A job that is being moved holds what the protocol says.
func (r *Record) held(job string) plotter.XYs {
	var points plotter.XYs
	for _, s := range r.Samples {
		for _, v := range s.List.Jobs {
			if v.Job.Name == job {
				points = append(points, plotter.XY{X: s.At.Seconds(), Y: float64(len(v.Job.Containers))})
			}
		}
	}
	return points
}

// relative is the loss curve over the parts of the job, in means of a fortieth.
// Losses of different models become comparable by it.
func (o *Outcome) relative() plotter.XYs {
	var points plotter.XYs
	width := max(1, len(o.Points)/40)
	for at := 0; at+width <= len(o.Points); at += width {
		sum := 0.0
		for _, p := range o.Points[at : at+width] {
			sum += p.Value
		}
		points = append(points, plotter.XY{X: float64(at) / float64(len(o.Points)), Y: sum / float64(width) / o.Points[0].Value})
	}
	return points
}

// measure returns the utilization, [Dorm] (1), and the fairness loss, (3), of what the jobs held at a
// time: the theoretical shares are those of the last decision.
// The servers are taken to be there all the time.
func (r *Record) measure(s *cluster.Sample) (utilization, loss float64) {
	total := make([]float64, len(r.Servers[0].Capacity))
	for _, server := range r.Servers {
		for k, q := range server.Capacity {
			total[k] += float64(q)
		}
	}
	for _, v := range s.List.Jobs {
		share := 0.0
		for k, q := range v.Job.Demand {
			part := float64(q) * float64(len(v.Job.Containers)) / total[k]
			share, utilization = max(share, part), utilization+part
		}
		if v.Job.Ending == "" {
			loss += math.Abs(share - v.Share.Theoretical)
		}
	}
	return utilization, loss
}
