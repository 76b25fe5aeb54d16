package pipeline

import (
	"slices"
	"unicode/utf8"
)

// nearest is the name among known that word was most likely meant to be, or "" if none is close: one letter of it
// differs, or at most a third of them. (median is no misspelled min.)
func nearest(word string, known []string) string {
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
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
