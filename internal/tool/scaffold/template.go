package scaffold

import (
	"errors"
	"slices"
	"strings"
)

// errTemplate says that a template was changed in a way that this package does not understand.
var errTemplate = errors.New("the sample's template.yaml does not declare GSI1 in the form that is copied for other indexes")

// Template returns the sample's template.yaml with these indexes, in this order, instead of its
// own. It writes their attributes, the indexes themselves, and the alarm of each. It copies them
// from what the sample has for GSI1.
func Template(sample []byte, indexes []string) ([]byte, error) {
	lines := strings.SplitAfter(string(sample), "\n")
	var out []string
	made := 0
	for i := 0; i < len(lines); {
		block := indexBlock(lines[i:])
		if len(block) == 0 {
			if !strings.Contains(lines[i], "GlobalSecondaryIndexes:") || len(indexes) > 0 || i+1 == len(lines) ||
				len(indexBlock(lines[i+1:])) == 0 {
				out = append(out, lines[i])
			}
			i++
			continue
		}
		i += len(block)
		if !ofFirst(block) {
			continue
		}
		made++
		for n, name := range indexes {
			for i, line := range block {
				if n > 0 && i == 0 { // the comment beside the first one is about all of them
					if head, _, commented := strings.Cut(line, " #"); commented {
						line = head + "\n"
					}
				}
				out = append(out, strings.ReplaceAll(line, "GSI1", name))
			}
		}
	}
	if made != blocks {
		return nil, errTemplate
	}
	return []byte(strings.Join(out, "")), nil
}

// blocks is how many places of the template belong to each index: two attributes, the index and its
// alarm.
const blocks = 3

// indexBlock returns the block of lines for one index with which lines begins, or nothing.
func indexBlock(lines []string) []string {
	first := strings.TrimSpace(lines[0])
	switch {
	case strings.HasPrefix(first, "- {AttributeName: GSI"):
		return lines[:min(2, len(lines))]
	case strings.HasPrefix(first, "- IndexName: GSI"):
		return deeper(lines)
	case strings.HasPrefix(first, "GSI") && strings.Contains(first, "ThrottlesAlarm:"):
		return deeper(lines)
	}
	return nil
}

// deeper returns the first line and all following lines that are indented more than it.
func deeper(lines []string) []string {
	end := slices.IndexFunc(lines[1:], func(line string) bool { return indent(line) <= indent(lines[0]) })
	if end < 0 {
		return lines
	}
	return lines[:end+1]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// ofFirst reports whether a block is about GSI1, and not about an index such as GSI10.
func ofFirst(block []string) bool {
	_, rest, found := strings.Cut(block[0], "GSI1")
	return found && (rest == "" || rest[0] < '0' || rest[0] > '9')
}
