package label

import (
	"slices"
	"strings"
)

// Meant returns which of the values that are offered was probably meant by
// one that is not: the one that looks most like it; empty if none does, or several do alike.
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
	meant, least := "", -1
	for _, o := range offered {
		switch slips := slipsBetween(o, value); {
		case slips > slipsAllowed(o):
		case least < 0 || slips < least:
			meant, least = o, slips
		case slips == least:
			meant = ""
		}
	}
	return meant
}

// Near reports whether two keys are so alike that one may be a slip for the other.
func Near(a, b string) bool { return slipsBetween(a, b) <= slipsAllowed(a) }

// slipsAllowed is how many slips a word may have and be recognised: a short one none but capitals, because with one it may be another word.
func slipsAllowed(word string) int {
	switch n := len(word); {
	case n < 4:
		return 0
	case n < 6:
		return 1
	default:
		return 2
	}
}

// slipsBetween counts the letters by which two words differ: those that are wrong, left out or too many, and neighbours that
// changed places. Capitals do not count.
func slipsBetween(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	// Row i, column j: how many slips lie between a[:i] and b[:j]. Two rows back are needed for neighbours that changed places.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
