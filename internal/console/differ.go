package console

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

// These constants bound what is shown of two payloads that differ.
const (
	maxDifferences = 100
	maxDiffering   = 500 // bytes of one value
)

// differ lists the members in which two payloads differ. Both are the text that a digest
// hashes, so members that are ignored do not count, and equal values have equal text.
func differ(stored, here string) []Difference {
	a, err := event.ParseDocument(stored)
	if err != nil {
		return nil
	}
	b, err := event.ParseDocument(here)
	if err != nil {
		return nil
	}
	var list []Difference
	compare(&list, "", a.Root().Index(1), b.Root().Index(1)) // [type, payload]
	return list
}

func compare(list *[]Difference, path string, a, b event.Node) {
	switch {
	case a.Exists() && b.Exists() && a.Raw() == b.Raw() || len(*list) == maxDifferences:
		return
	case a.Kind() == event.Object && b.Kind() == event.Object:
		for _, name := range members(a, b) {
			compare(list, strings.TrimPrefix(path+"."+name, "."), a.Member(name), b.Member(name))
		}
	default:
		*list = append(*list, Difference{path, raw(a), raw(b)})
	}
}

// members returns the names of both objects, those of the first one first.
func members(a, b event.Node) []string {
	var names []string
	seen := map[string]bool{}
	for _, n := range []event.Node{a, b} {
		for name := range n.Members() {
			if !seen[name] {
				seen[name], names = true, append(names, name)
			}
		}
	}
	return names
}

func raw(n event.Node) string {
	if !n.Exists() {
		return ""
	}
	return event.Shorten(n.Raw(), maxDiffering)
}
