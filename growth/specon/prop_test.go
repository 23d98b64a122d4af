// This file checks what must hold of every scenario.

package specon_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/internal/must"
)

// TestPropMonitorMigratesOnce checks that every job is in one category, that the counts say
// which, and that a job whose request was granted is never asked for again.
func TestPropMonitorMigratesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := &specon.Options{Separate: rapid.Bool().Draw(t, "separate"), AtEntry: rapid.Bool().Draw(t, "at entry")}
		s := must.Have(specon.NewMonitor(specon.Config{Interval: 20 * second, Alpha: 0.05}, options))(t)
		migrated := map[string]bool{}
		frozen := map[string]growth.Category{}
		for _, scene := range scenes().Draw(t, "scenes") {
			var observations []specon.Observation
			for _, r := range scene.observations {
				observations = append(observations, specon.Observation{Job: r.Job, Worker: rapid.SampledFrom([]string{"w1", "w2"}).Draw(t, "worker"),
					Migrated: migrated[r.Job], At: r.At, Usage: r.Usage, Value: wild.Draw(t, "wild")})
			}
			var report specon.Report
			must.Do(t, s.Step(scene.now, observations, &report))
			total := 0
			for _, w := range report.Workers {
				total += w.Progressing + w.Watching + w.Converged
			}
			must.Equal(t, total, len(observations), "jobs in the counts of")
			for id, was := range frozen {
				if status, ok := s.Standing(id); ok && status.Category != was {
					t.Fatalf("%s was migrated as %v and is %v", id, was, status.Category)
				} else if !ok {
					delete(frozen, id)
				}
			}
			for _, request := range report.Requests {
				status, _ := s.Standing(request.Job)
				if migrated[request.Job] || status.Category != growth.Converged {
					t.Fatalf("request of %s, migrated %v, %v", request.Job, migrated[request.Job], status.Category)
				}
				migrated[request.Job], frozen[request.Job] = true, growth.Converged
			}
		}
	})
}
