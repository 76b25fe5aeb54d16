package scaffold

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// errPlace says that a template has no place for an index that is known here.
var errPlace = errors.New("the template does not have its indexes where ingot init writes them")

// AddIndexes returns a template with the indexes that it lacks: the attributes, the index and the
// alarm of each, as the sample's template has them. The rest of the template stays as it is. It
// must have the form that the sample has, apart from changes that a person made elsewhere. added
// lists the indexes that were missing.
func AddIndexes(text, sample []byte, indexes []string) (changed []byte, added []string, err error) {
	for _, name := range indexes {
		if !hasIndex(text, name) {
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return text, nil, nil
	}
	with, err := Template(sample, added)
	if err != nil {
		return nil, nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	source := strings.SplitAfter(string(with), "\n")
	for i := 0; i < len(source); i++ {
		from := i
		for i < len(source) && len(indexBlock(source[i:])) > 0 { // the blocks of one kind follow each other
			i += len(indexBlock(source[i:]))
		}
		if i == from {
			continue
		}
		if lines, err = insert(lines, source[:from], source[from:i]); err != nil {
			return nil, nil, err
		}
	}
	return []byte(strings.Join(lines, "")), added, nil
}

// hasIndex reports whether a template declares an index of this name.
func hasIndex(text []byte, name string) bool {
	return regexp.MustCompile(`IndexName: "?` + regexp.QuoteMeta(name) + `\b`).Match(text)
}

// insert puts blocks into a template: after the last block of the same kind, or else after the line
// that comes before them in the sample.
func insert(lines, before, blocks []string) ([]string, error) {
	if kindOf(blocks) == "attribute" { // one that is defined already stays alone
		if blocks = slices.DeleteFunc(slices.Clone(blocks), func(line string) bool {
			return slices.Contains(lines, line)
		}); len(blocks) == 0 {
			return lines, nil
		}
	}
	end := -1
	for i := 0; i < len(lines); {
		block := indexBlock(lines[i:])
		i += max(1, len(block))
		if len(block) > 0 && kindOf(block) == kindOf(blocks) {
			end = i
		}
	}
	if end >= 0 {
		if head, _, commented := strings.Cut(blocks[0], " #"); commented {
			blocks = append([]string{head + "\n"}, blocks[1:]...)
		}
		return slices.Insert(slices.Clone(lines), end, blocks...), nil
	}
	last := before[len(before)-1]
	if strings.Contains(last, "GlobalSecondaryIndexes:") && !slices.Contains(lines, last) { // a table without indexes has no list of them
		blocks, last = append([]string{last}, blocks...), before[len(before)-2]
	}
	// The line may be there again, in another resource. So it must come after the same resource.
	resource := lastResource(before)
	start := slices.Index(lines, resource)
	if start < 0 {
		return nil, errPlace
	}
	i := slices.Index(lines[start:], last)
	if i < 0 {
		return nil, errPlace
	}
	return slices.Insert(slices.Clone(lines), start+i+1, blocks...), nil
}

// kindOf says which of the places of an index a block belongs to.
func kindOf(block []string) string {
	first := strings.TrimSpace(block[0])
	switch {
	case strings.HasPrefix(first, "- {AttributeName"):
		return "attribute"
	case strings.HasPrefix(first, "- IndexName"):
		return "index"
	}
	return "alarm"
}

// lastResource returns the line that begins the last resource.
func lastResource(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if indent(line) == 2 && strings.HasSuffix(strings.TrimSpace(line), ":") {
			return line
		}
	}
	return ""
}
