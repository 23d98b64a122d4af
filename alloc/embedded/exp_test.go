package embedded

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/apportion/apportion/alloc/alloctest"
	"github.com/apportion/apportion/alloc/p2"
)

func env(name string, def float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return def
}

func TestExp(t *testing.T) {
	var gaps, own []float64
	for _, ref := range alloctest.References() {
		start := time.Now()
		s := New(&Options{Effort: Effort(env("EFFORT", 100)), Seed: uint64(env("SEED", 0))})
		sol, _ := s.Solve(context.Background(), ref.Instance)
		el := time.Since(start)
		diff := (sol.Objective/ref.Objective - 1) * 100
		b, err := p2.DualBound(ref.Instance, sol.Multipliers)
		flag := ""
		if err != nil || b-sol.Bound > 1e-9 || sol.Bound-b > 1e-9 {
			flag = fmt.Sprint("DUAL ", b, err)
		}
		if sol.Bound < ref.Objective-1e-9 && !ref.Relaxed {
			flag += " BOUND"
		}
		gaps = append(gaps, diff)
		own = append(own, sol.Gap()*100)
		if os.Getenv("V") != "" {
			fmt.Printf("%-24s %.5f ref %.5f diff %+.3f%% gap %.3f%% (ref gap %.3f) %6.1fms moves %d %s\n", ref.Name, sol.Objective, ref.Objective, diff, sol.Gap()*100, (ref.Bound/ref.Objective-1)*100, el.Seconds()*1e3, sol.Effort, flag)
		}
	}
	slices.Sort(gaps)
	slices.Sort(own)
	var mean float64
	for _, g := range gaps {
		mean += g
	}
	fmt.Printf("median %.3f mean %.4f worst %.3f %.3f %.3f  owngap median %.3f worst %.3f\n", gaps[19], mean/38, gaps[0], gaps[1], gaps[2], own[19], own[37])
}
