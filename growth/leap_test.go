// This file tests what keeps wrong readings out of a history, on values that are written down.

package growth

import (
	"math"
	"testing"
	"time"

	"github.com/apportion/apportion/internal/must"
)

func taken(values ...float64) *leaps {
	l := &leaps{}
	for _, v := range values {
		l.count(v)
	}
	return l
}

// The middle is the newest value while there are fewer than three, then the median of three.
func TestMiddle(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{4}, 4}, {[]float64{4, 7}, 7}, {[]float64{4, 9, 7}, 7}, {[]float64{9, 4, 7}, 7}, {[]float64{7, 9, 4}, 7},
		{[]float64{1, 1, 5}, 1}, {[]float64{5, 1, 5}, 5}, {[]float64{100, 1, 2, 3}, 2}, {[]float64{1, 2, 3, 100, 101}, 100},
	} {
		must.Equal(t, taken(test.values...).middle(), test.want, test.values)
	}
}

// The usual distance is the largest of the first three, and afterwards follows by a tenth; one wrong value counts for three
// usual ones at most.
func TestUsual(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{5}, 0}, {[]float64{5, 4}, 1}, {[]float64{5, 4, 2}, 2}, {[]float64{5, 4, 2, 4}, 2},
		// The fifth value is 1 from the median of 4, 2 and 4.
		{[]float64{5, 4, 2, 4, 3}, 2 + 0.1*(1-2)},
		{[]float64{5, 4, 2, 4, 1000}, 2 + 0.1*(6-2)},
	} {
		if got := taken(test.values...).Usual; math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", test.values, got, test.want)
		}
	}
}

// A value more than six usual distances away is held until two more are close to it: closer than half of the leap. What comes
// back in between forgets it, and one elsewhere is a leap of its own.
func TestHolds(t *testing.T) {
	type step struct {
		value           float64
		held, confirmed bool
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"within six", []step{{16, false, false}, {4, false, false}}},
		{"confirmed by two more", []step{{30, true, false}, {31, true, false}, {29, false, true}}},
		{"taken back", []step{{30, true, false}, {10, false, false}, {30, true, false}, {31, true, false}, {29, false, true}}},
		{"just within half of the leap", []step{{30, true, false}, {40, true, false}, {20, false, true}}},
		{"another leap begins anew", []step{{30, true, false}, {41, true, false}, {42, true, false}, {43, false, true}}},
		{"down", []step{{-10, true, false}, {-11, true, false}, {-12, false, true}}},
	} {
		l := taken(10, 11, 10, 10) // the middle is 10, the usual distance 1
		for i, s := range test.steps {
			held, confirmed := l.holds(float64(i), s.value)
			if held != s.held || confirmed != s.confirmed {
				t.Errorf("%s, value %d, %g: held %t, confirmed %t", test.name, i, s.value, held, confirmed)
			}
		}
	}
	// While there are fewer than three nothing is held.
	if held, _ := taken(1, 2).holds(0, 1e9); held {
		t.Error("the third value was held")
	}
}

// After a leap is confirmed, readings are measured from where it has led.
func TestLand(t *testing.T) {
	l := taken(10, 11, 10, 10)
	for i := range 3 {
		l.holds(float64(i), 30)
	}
	if l.land(30); l.middle() != 30 {
		t.Errorf("the middle is %g", l.middle())
	}
	if held, _ := l.holds(3, 30.5); held {
		t.Error("a value beside the new ones was held")
	}
	if held, _ := l.holds(4, 10); !held {
		t.Error("the way back is no leap")
	}
}

// A first value is wrong if it is more than thirty times as large as the next two, and those are twenty times closer to each
// other; it is dropped, and the history begins with the second.
func TestStrayStart(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{100, 3, 2}, true}, {[]float64{-100, 3, 2}, true}, {[]float64{90, 3, 2}, false}, {[]float64{91, 3, 2}, true},
		{[]float64{100, 3, -2}, false}, // five apart: not twenty times closer
		{[]float64{100, 3}, false}, {[]float64{100, 3, 2, 2}, false}, {[]float64{0, 0, 0}, false},
	} {
		must.Equal(t, taken(test.values...).strayStart(), test.want, test.values)
	}
	var c course
	for i, v := range []float64{1000, 3, 2, 1.9, 1.8} {
		c.add(time.Duration(i)*time.Second, v, Usage{})
	}
	if c.Start != 3 || c.History.Points[0].Value != 3 || c.History.Points[0].Work != 1 || c.Leaps.Usual > 2 {
		t.Errorf("starts at %g, with %+v and a usual distance of %g", c.Start, c.History.Points[0], c.Leaps.Usual)
	}
	// In an ordinary run the first value stays.
	var d course
	for i, v := range []float64{4, 3, 2, 1.9} {
		d.add(time.Duration(i)*time.Second, v, Usage{})
	}
	if d.Start != 4 || d.History.Points[0].Value != 4 {
		t.Errorf("starts at %g", d.Start)
	}
}

// A job hangs once it has repeated a value eight times and four times longer than it ever took for a new one; a job that was
// idle meanwhile does not.
func TestHangs(t *testing.T) {
	for _, test := range []struct {
		name    string
		repeats int
		every   time.Duration
		usage   Usage
		want    bool
	}{
		{"seven repeats", 7, 20 * time.Second, Usage{}, false},
		{"eight, in time", 8, 5 * time.Second, Usage{}, false},
		{"eight, too long", 8, 6 * time.Second, Usage{}, true},
		{"idle", 20, 60 * time.Second, Used(0), false},
	} {
		var c course
		c.add(0, 5, Usage{})
		c.add(10*time.Second, 4, Usage{}) // the longest time to a new value is 10 s
		for i := range test.repeats {
			c.add(10*time.Second+time.Duration(i+1)*test.every, 4, test.usage)
		}
		must.Equal(t, c.hangs(), test.want, test.name, c)
	}
	// Before the first new value nobody knows how long one takes.
	var c course
	for i := range 50 {
		c.add(time.Duration(i)*time.Minute, 5, Usage{})
	}
	if c.hangs() {
		t.Error("a job without a new value hangs")
	}
}

// A leap that loses more than a fifth of all improvement begins the history anew; a smaller one does not.
func TestSetsBack(t *testing.T) {
	for _, test := range []struct {
		direction     Direction
		before, after float64
		want          bool
	}{
		{SmallerIsBetter, 2, 3.5, false}, {SmallerIsBetter, 2, 3.7, true}, {SmallerIsBetter, 2, 1, false}, // 10 to 2: 8 gained
		{LargerIsBetter, 18, 16.5, false}, {LargerIsBetter, 18, 16.3, true}, {LargerIsBetter, 18, 30, false},
	} {
		c := course{Start: 10, Direction: test.direction}
		must.Equal(t, c.setsBack(test.before, test.after), test.want, test.direction, "from", test.before, "to", test.after)
	}
}
