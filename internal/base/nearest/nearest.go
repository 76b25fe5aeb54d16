// Package nearest finds the name that a misspelled word was meant to be.
package nearest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Name returns the name among known that word was most likely meant to be, or "" if none is
// close. A name is close if one letter differs, or at most a third of the letters. Upper and lower
// case do not matter. If no name is close in this way, Name returns the only name that is akin
// to word. (median is not a misspelled min.)
func Name(word string, known []string) string {
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		switch {
		case !akin(strings.ToLower(word), strings.ToLower(k)):
		case best != "":
			return ""
		default:
			best = k
		}
	}
	return best
}

// akin reports whether two words begin with the same three letters, and the longer word contains
// the rest of the shorter one in the same order, except for at most one letter. Examples are attr
// and attributes, retention and retain.
func akin(a, b string) bool {
	short, long := []rune(a), []rune(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) < 3 || !slices.Equal(short[:3], long[:3]) {
		return false
	}
	missed, rest := 0, long[3:]
	for _, letter := range short[3:] {
		if i := slices.Index(rest, letter); i >= 0 {
			rest = rest[i+1:]
		} else {
			missed++
		}
	}
	return missed <= min(1, len(short)-3)
}

// distance counts the changes that turn a into b: insertions, deletions, replacements and swaps of
// neighbours.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before []int
	last, row := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, slices.Clone(row)
	}
	return last[len(t)]
}
