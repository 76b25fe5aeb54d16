package changes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/pipeline"
)

const undrop = "first deploy the file without this entry of drop and without %s, and wait until no old function runs: until then they " +
	"drop its events. Meanwhile they go to quarantine. Then declare %[1]s, and send again what is there"

// typesOf lists what the type of a message is read from, in order. The type of an envelope goes
// first unless the file says otherwise.
func typesOf(s pipeline.Spec) []string {
	list := lines(s.Type)
	if !strings.Contains(s.Type, "@type") {
		list = append([]string{"{@type}"}, list...)
	}
	return list
}

// severalChanges lists changes of where a message holds several events, and of what is dropped.
func severalChanges(was, is pipeline.Spec) (list []Change) {
	before, after := batchTexts(was), batchTexts(is)
	for _, text := range before {
		if !slices.Contains(after, text) {
			list = append(list, Change{Identity, "batches", "", text, "", drainArrays})
		}
	}
	for _, text := range after {
		if !slices.Contains(before, text) && text != wholeMessages { // which was Poison
			list = append(list, Change{Identity, "batches", "", "", text, drainFirst})
		}
	}
	for _, name := range sorted(is.Events) {
		for _, entry := range was.Drop {
			if planner.ParseDrop(entry).Names(name) {
				list = append(list, Change{Identity, "drop", "", entry, "", fmt.Sprintf(undrop, name)})
			}
		}
	}
	return list
}

const wholeMessages = "{each: .}"

// batchTexts returns the entries of batches, as the file writes them.
func batchTexts(s pipeline.Spec) (list []string) {
	for _, b := range s.Batches {
		text := "{each: " + b.Each
		var with []string
		for _, name := range slices.Sorted(maps.Keys(b.With)) {
			with = append(with, name+": "+b.With[name])
		}
		if len(with) > 0 {
			text += ", with: {" + strings.Join(with, ", ") + "}"
		}
		if b.Optional {
			text += ", optional: true"
		}
		list = append(list, text+"}")
	}
	return list
}
