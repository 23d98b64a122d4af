// This file implements whom the processes of a job run as.

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/user"
	"strconv"
	"strings"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/checkpoint/internal/owner"
	"github.com/apportion/apportion/internal/check"
)

// User is whom processes run as, by the numbers of the system. In JSON it is a text, see [ParseUser].
type User struct {
	// UID is the user and GID its group. Neither is 0, which is root: who wants that names no user.
	UID, GID uint32
	// Groups are those that it belongs to beside; nil: none, whatever the system says of the user.
	Groups []uint32
}

// ParseUser reads "USER", or "USER:GROUP" with further groups behind it and commas between, each by its name or its number, as
// "nobody", "1000:1000" or "ann:users,video". Without a group it is the user's own, which the system must know then; no other groups
// are taken from there. The error is that of Validate, or names what is not known.
func ParseUser(text string) (User, error) {
	name, groups, grouped := strings.Cut(text, ":")
	uid, own, ok := lookUser(name, !grouped)
	if !ok {
		return User{}, &apportion.FieldError{Item: check.Item("user", text, 0), Field: "UID", Err: apportion.ErrUnknown}
	}
	if !grouped {
		groups = own
	}
	u := User{UID: uid}
	for i, name := range strings.Split(groups, ",") {
		gid, ok := lookGroup(name)
		switch {
		case !ok:
			return User{}, &apportion.FieldError{Item: check.Item("user", text, 0), Field: "GID", Err: apportion.ErrUnknown, Detail: strconv.Quote(name)}
		case i == 0:
			u.GID = gid
		default:
			u.Groups = append(u.Groups, gid)
		}
	}
	return u, u.Validate()
}

// lookUser returns the number of a user, by that or by its name, and its own group if that is wanted; it is empty where the system does
// not know the number. Numbers alone are not looked up: that may ask a directory in the network.
func lookUser(name string, wanted bool) (uid uint32, group string, ok bool) {
	if uid, err := systemID(name); err == nil {
		if !wanted {
			return uid, "", true
		}
		if known, err := user.LookupId(name); err == nil {
			group = known.Gid
		}
		return uid, group, true
	}
	known, err := user.Lookup(name)
	if err != nil {
		return 0, "", false
	}
	uid, err = systemID(known.Uid)
	return uid, known.Gid, err == nil
}

// lookGroup returns the number of a group, by that or by its name.
// A number is taken as it is, whether or not the system has a name for it.
func lookGroup(name string) (uint32, bool) {
	if gid, err := systemID(name); err == nil {
		return gid, true
	}
	known, err := user.LookupGroup(name)
	if err != nil {
		return 0, false
	}
	gid, err := systemID(known.Gid)
	return gid, err == nil
}

// systemID reads the number of a user or a group.
// Whatever is no number of 32 bits is taken for a name.
func systemID(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// Validate returns the faults of a user as [apportion.Faults]: root, its group, and the number that stands for nobody in calls of the
// system.
func (u User) Validate() error {
	var faults apportion.Faults
	item := check.Item("user", u.String(), 0)
	look := func(field string, n uint32) {
		switch n {
		case 0:
			faults.Add(item, field, apportion.ErrRange, "a job never runs as root by name: leave the user out for that")
		case math.MaxUint32:
			faults.Add(item, field, apportion.ErrRange, "")
		}
	}
	look("UID", u.UID)
	look("GID", u.GID)
	for i, g := range u.Groups {
		look(fmt.Sprintf("Groups[%d]", i), g)
	}
	return faults.Err()
}

// Possible returns the faults of a user, and an error that wraps fs.ErrPermission where this process may not start others as it: where
// it is not root.
func (u User) Possible() error {
	if err := u.Validate(); err != nil {
		return err
	}
	err := owner.Possible()
	if errors.Is(err, fs.ErrPermission) {
		err = &apportion.FieldError{Item: check.Item("user", u.String(), 0), Err: fs.ErrPermission, Detail: "only root starts processes of another user"}
	}
	return err
}

// String returns the numbers in the form that ParseUser reads.
func (u User) String() string {
	text := fmt.Sprintf("%d:%d", u.UID, u.GID)
	for _, g := range u.Groups {
		text += "," + strconv.FormatUint(uint64(g), 10)
	}
	return text
}

// MarshalText returns what String returns; the error is that of Validate.
func (u User) MarshalText() ([]byte, error) { return []byte(u.String()), u.Validate() }

// UnmarshalText reads what ParseUser reads.
func (u *User) UnmarshalText(text []byte) error {
	read, err := ParseUser(string(text))
	if err == nil {
		*u = read
	}
	return err
}
