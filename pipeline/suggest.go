package pipeline

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// nearest is the name among known that word was most likely meant to be, or "" if none is close: one letter of it
// differs, or at most a third of them, small and capital letters being the same; or else only one is akin to it.
// (median is no misspelled min.)
func nearest(word string, known []string) string {
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

// akin reports whether two words begin with the same three letters, and the rest of the shorter is found in the
// longer in its order, but for one letter at most: attr and attributes, retention and retain.
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

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
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
