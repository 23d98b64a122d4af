// This file reads what elastic jobs leave free, and when.

package daemon

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/controller"
)

// reserveOf reads headroom, several with semicolons between: amounts and parts by kind, then hours of the day and days of the week, each
// of which may be missing.
func reserveOf(kinds apportion.Kinds, text string) (all []controller.Reserve, err error) {
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			return nil, fmt.Errorf("%q says nothing", part)
		}
		var one controller.Reserve
		if one.Headroom, err = headroomOf(kinds, words[0]); err != nil {
			return nil, err
		}
		for _, word := range words[1:] {
			if err := readHours(&one.Hours, word); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// headroomOf reads amounts and parts by kind, as cpu=2,memory=10%; kinds that are not named have none.
func headroomOf(kinds apportion.Kinds, text string) ([]controller.Headroom, error) {
	list := make([]controller.Headroom, len(kinds))
	for word := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(word, "=")
		k := slices.Index(kinds, name)
		if k < 0 {
			return nil, fmt.Errorf("%q is none of the kinds %s", name, strings.Join(kinds, ", "))
		}
		var err error
		if percent, isPart := strings.CutSuffix(amount, "%"); isPart {
			list[k].Part, err = strconv.ParseFloat(percent, 64)
			list[k].Part /= 100
		} else {
			list[k].Amount, err = strconv.ParseInt(amount, 10, 64)
		}
		if err != nil || list[k].Amount < 0 || !(list[k].Part >= 0 && list[k].Part <= 1) {
			return nil, fmt.Errorf("%q is neither an amount nor a part up to 100%%", word)
		}
	}
	return list, nil
}

// days are those of the week as people write them, by time.Weekday.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// readHours reads 08:00-18:00, mon-fri, or one day.
func readHours(h *controller.Hours, word string) error {
	from, to, _ := strings.Cut(word, "-")
	to = cmp.Or(to, from)
	if first, last := slices.Index(days, from), slices.Index(days, to); first >= 0 && last >= 0 {
		for day := first; ; day = (day + 1) % len(days) {
			h.Days[day] = true
			if day == last {
				return nil
			}
		}
	}
	var err error
	if h.From, err = clock(from); err == nil {
		h.To, err = clock(to)
	}
	if err != nil || h.From == h.To {
		return fmt.Errorf("%q is neither hours, as 08:00-18:00, nor days, as mon-fri", word)
	}
	return nil
}

// clock reads a time of day, from 00:00 to 24:00.
func clock(text string) (time.Duration, error) {
	if text == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err
}
