package console

import (
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// declared returns the values of an aggregate in the order in which a pipeline.yaml names them for
// the first time. Without a file, the order is that of the names.
func declared(text []byte, def *aggregate.Definition) []aggregate.Value {
	place := map[string]int{}
	for _, from := range yamlfile.Keys(text, "aggregates", def.Name, "from") {
		for _, name := range yamlfile.Keys(text, "aggregates", def.Name, "from", from, "values") {
			if _, there := place[name]; !there {
				place[name] = len(place)
			}
		}
	}
	list := slices.Clone(def.Values)
	slices.SortStableFunc(list, func(a, b aggregate.Value) int { return place[a.Name] - place[b.Name] })
	return list
}
