package console

import (
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/ingot-events/ingot/aggregate"
)

// declared returns the values of an aggregate in the order in which a pipeline.yaml names them for
// the first time. A definition has them in the order of their names.
func declared(text []byte, def *aggregate.Definition) []aggregate.Value {
	var file struct {
		Aggregates map[string]struct{ From yaml.MapSlice }
	}
	_ = yaml.UnmarshalWithOptions(text, &file, yaml.UseOrderedMap()) // it has compiled; without a file, the order is that of the names
	place := map[any]int{}
	for _, from := range file.Aggregates[def.Name].From {
		members, _ := from.Value.(yaml.MapSlice)
		for _, member := range members {
			values, _ := member.Value.(yaml.MapSlice)
			for _, v := range values {
				if _, there := place[v.Key]; !there && member.Key == "values" {
					place[v.Key] = len(place)
				}
			}
		}
	}
	list := slices.Clone(def.Values)
	slices.SortStableFunc(list, func(a, b aggregate.Value) int { return place[a.Name] - place[b.Name] })
	return list
}
