// This file says what elastic jobs leave free on each server, and when.

package controller

import (
	"fmt"
	"math"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/internal/check"
)

// Headroom is what elastic jobs leave free of a kind on each server: an amount, in the unit of the kind, and at least a part,
// from 0 to 1, of what others leave there.
type Headroom struct {
	Amount int64
	Part   float64
}

// Reserve is headroom in some hours.
type Reserve struct {
	// Headroom has an entry for each kind.
	Headroom []Headroom
	// Hours are when it is left free; the zero Hours: always.
	Hours Hours
}

// Hours are a part of some days, by the local time of the program.
type Hours struct {
	// From and To are times of day, at least 0 and at most 24 hours. A To that is no later than From is that of the next day; both 0: the
	// whole day.
	From, To time.Duration
	// Days are the days on which it begins, by time.Weekday; none: all.
	Days [7]bool
}

// Hold reports whether a time is among them. Where clocks are changed an hour of the day is there twice or not at all, as people say it.
func (h *Hours) Hold(t time.Time) bool {
	hour, minute, second := t.Clock()
	clock, day := time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute+time.Duration(second)*time.Second, t.Weekday()
	switch {
	case h.From < h.To:
		return clock >= h.From && clock < h.To && h.on(day)
	case h.From == h.To && h.From == 0:
		return h.on(day)
	}
	return clock >= h.From && h.on(day) || clock < h.To && h.on((day+6)%7)
}

// on reports whether they begin on a day.
func (h *Hours) on(day time.Weekday) bool { return h.Days == [7]bool{} || h.Days[day] }

// headroom returns what is left free at a time, by kind: the most of what is said for it.
func (c *Config) headroom(now time.Time) []Headroom {
	most := make([]Headroom, len(c.Problem.Kinds))
	for i := range c.Reserve {
		if !c.Reserve[i].Hours.Hold(now) {
			continue
		}
		for k, h := range c.Reserve[i].Headroom {
			most[k] = Headroom{max(most[k].Amount, h.Amount), math.Max(most[k].Part, h.Part)}
		}
	}
	return most
}

func (r *Reserve) check(faults *apportion.Faults, item apportion.Item, kinds int) {
	for _, h := range r.Headroom {
		check.NotNegative(faults, item, map[string]int64{"Reserve": h.Amount})
		if !(h.Part >= 0 && h.Part <= 1) {
			faults.Add(item, "Reserve", apportion.ErrRange, fmt.Sprintf("a part of %v", h.Part))
		}
	}
	if n := len(r.Headroom); n != kinds {
		faults.Add(item, "Reserve", apportion.ErrLength, fmt.Sprintf("%d kinds of %d", n, kinds))
	}
	for _, at := range [...]time.Duration{r.Hours.From, r.Hours.To} {
		if at < 0 || at > 24*time.Hour {
			faults.Add(item, "Reserve.Hours", apportion.ErrRange, at.String())
		}
	}
}
