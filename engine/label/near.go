package label

import (
	"slices"
	"strings"
)

// Meant returns which of the values that are offered somebody meant who wrote
// another; empty if none looks like it, or several do.
func Meant(value string, offered []string) string {
	switch strings.ToLower(value) {
	case "x86_64", "x86-64", "x64":
		value = "amd64"
	case "aarch64", "arm64v8":
		value = "arm64"
	}
	if slices.Contains(offered, value) {
		return value
	}
	meant := ""
	for _, o := range offered {
		switch {
		case !strings.EqualFold(o, value) && !Near(o, value) && !swapped(o, value):
		case meant != "":
			return ""
		default:
			meant = o
		}
	}
	return meant
}

// swapped reports whether two values differ in two neighbouring letters that changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) || len(a) < 4 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// Near reports whether two keys are so alike that one may be a slip for the
// other: two letters at most are wrong, left out or too many.
func Near(a, b string) bool {
	const slips = 2
	if len(a) < 6 || len(a)-len(b) > slips || len(b)-len(a) > slips {
		return false
	}
	// row[j] is how many letters differ between a[:i] and b[:j].
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, corner)
			} else {
				next = min(next, corner+1)
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)] <= slips
}
