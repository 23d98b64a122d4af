// This file tests the rules on names, and that a folder never leads anywhere else.

package store_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/apportion/apportion/checkpoint/store"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, test := range []struct {
		name      string
		job, part bool
	}{
		{"a", true, true},
		{"model.ckpt-100.index", true, true},
		{"häuser 模型", true, true},
		{"host:8080", true, true},
		{"...", true, true},
		{".hidden", true, true},
		{"a/b", true, true},
		{"a/.../b", true, true},
		{strings.Repeat("x", 129), true, true},
		{long, true, true},
		{long + "x", true, false},
		{long + "/" + long + "/" + long + "/" + long, true, true},
		{long + "/" + long + "/" + long + "/" + long + "/", true, false},
		{long + "/" + long + "/" + long + "/" + long + "/x", true, false},
		{"", false, false},
		{".", true, false},
		{"..", true, false},
		{"../a", true, false},
		{"a/..", true, false},
		{"a/./b", true, false},
		{"/a", true, false},
		{"a/", true, false},
		{"a//b", true, false},
		{`a\b`, true, false},
		{"a\x00b", false, false},
		{"a\nb", false, false},
		{"a\u0085b", false, false},
		{"a\xffb", false, false},
		{strings.Repeat("\x00", 255), false, false},
	} {
		for what, check := range map[string]struct {
			err  error
			good bool
		}{"job": {store.CheckJob(test.name), test.job}, "part": {store.CheckPart(test.name), test.part}} {
			if (check.err == nil) != check.good || check.err != nil && !errors.Is(check.err, store.ErrName) {
				t.Errorf("%s %.40q: %v, want good: %v", what, test.name, check.err, check.good)
			}
			if check.err != nil && len(check.err.Error()) > 400 {
				t.Errorf("%s: a message of %d bytes", what, len(check.err.Error()))
			}
		}
	}
}

// TestFolder pins the folders, for stores of another version read them. The sum is that of sha256sum.
func TestFolder(t *testing.T) {
	long := strings.Repeat("j", 129)
	for job, want := range map[string]string{
		"lr":                     "lr",
		"team/lr":                "team%2Flr",
		`team\lr`:                "team%5Clr",
		"100%":                   "100%25",
		"team%2Flr":              "team%252Flr",
		".":                      "%2E",
		"..":                     "%2E%2E",
		"...":                    "...",
		".tmp":                   ".tmp",
		"../../etc/passwd":       "..%2F..%2Fetc%2Fpasswd",
		"größe 模型 [*]":           "größe 模型 [*]",
		strings.Repeat("j", 128): strings.Repeat("j", 128),
		long:                     strings.Repeat("j", 62) + "%%" + "32fb7581970ecae83afa006904bc2dcdd2972ceefc2319be7a6443f253fe825f",
		strings.Repeat("/", 50):  strings.Repeat("%2F", 20) + "%%" + "0eaf9cb24d6a30e72c4bcd68d30872cba15c3d16b0cf06624f40164ea661096e",
	} {
		if got := store.FolderOf(job); string(got) != want || !got.Valid() {
			t.Errorf("FolderOf(%.40q) = %q, want %q; valid: %v", job, got, want, got.Valid())
		}
	}
}

// TestFolderInvalid: what no job is called by.
func TestFolderInvalid(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, folder := range []string{
		"", ".", "..", "a/b", `a\b`, "100%", "%", "%2", "%41", "%2f", "%2E%2Ea", "a\x00", "a\xff", "%00", "%FF", strings.Repeat("j", 129),
		"a%%", "a%%" + sum[1:], "a%%" + sum + "0", "a%%" + strings.Repeat("A", 64), "a%2f%%" + sum, strings.Repeat("j", 63) + "%%" + sum,
	} {
		if store.Folder(folder).Valid() {
			t.Errorf("%q is valid", folder)
		}
	}
}

// TestFolderProperties: a folder is one element of a path, is short, and belongs to one job.
func TestFolderProperties(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"%", "%%", "/", `\`, ".", "..", "%2F", "2F", "a", "ä", "模", "\U0001F600"}), rapid.StringN(0, 3, -1))
	name := rapid.Map(rapid.SliceOfN(piece, 1, 60), func(pieces []string) string { return strings.Join(pieces, "") })
	seen := map[store.Folder]string{}
	rapid.Check(t, func(t *rapid.T) {
		job := name.Draw(t, "job")
		if store.CheckJob(job) != nil {
			return
		}
		folder := store.FolderOf(job)
		text := string(folder)
		if !folder.Valid() || len(text) > store.MaxFolderBytes || store.CheckJob(text) != nil {
			t.Fatalf("%q has the folder %q", job, text)
		}
		if !fs.ValidPath(text) || path.Base(text) != text || path.Join("root", text) != "root/"+text || strings.Contains(text, `\`) {
			t.Fatalf("%q leads elsewhere: %q", job, text)
		}
		if store.CheckPart(text) != nil {
			t.Fatalf("%q is no element of a path: %q", job, text)
		}
		if other, taken := seen[folder]; taken && other != job {
			t.Fatalf("%q and %q have one folder", job, other)
		}
		seen[folder] = job
		if text != job && store.FolderOf(text) == folder {
			t.Fatalf("%q and %q have one folder", job, text)
		}
	})
}
