// This file shows how a service uses the package.

package deadline_test

import (
	"fmt"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/primaldual/deadline"
)

// A cluster of four GPUs promises each job its deadline when it is offered; then a server fails.
func ExampleScheduler() {
	s, err := deadline.New(apportion.Kinds{"gpu"}, apportion.Resources{4}, 1, &deadline.Options{Promise: deadline.OnAdmission})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range []deadline.Job{
		{ID: "night", Work: 12, Width: 2, Worker: apportion.Resources{1}, Deadlines: []deadline.Deadline{{By: 7, Value: 5}}},
		{ID: "urgent", Work: 3, Width: 4, Worker: apportion.Resources{1}, Deadlines: []deadline.Deadline{{By: 2, Value: 9}}},
		{ID: "late", Work: 9, Width: 4, Worker: apportion.Resources{1}, Deadlines: []deadline.Deadline{{By: 2, Value: 9}}},
	} {
		decision, err := s.Offer(job)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %v %q\n", job.ID, decision.Admitted, decision.Reason)
	}
	for _, share := range s.Run() {
		fmt.Println(share.ID, share.Workers, "by", share.Promise.By)
	}
	outcome, _ := s.Advance(nil)
	fmt.Println(outcome.Finished)
	broken, _ := s.SetCapacity(apportion.Resources{1})
	fmt.Println(broken)
	// Output:
	// night true ""
	// urgent true ""
	// late false "it cannot end before its last deadline, even alone"
	// night 1 by 7
	// urgent 3 by 2
	// [{urgent 1 9}]
	// [{night {7 5}}]
}
