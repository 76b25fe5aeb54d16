package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// Keys returns the keys of a mapping in the order of the file. path names the mapping by the keys
// above it. It returns nil if there is no such mapping.
func Keys(text []byte, path ...string) (keys []string) {
	var at yaml.MapSlice
	if yaml.UnmarshalWithOptions(text, &at, yaml.UseOrderedMap()) != nil {
		return nil
	}
	for _, name := range path {
		var below yaml.MapSlice
		for _, member := range at {
			if fmt.Sprint(member.Key) == name {
				below, _ = member.Value.(yaml.MapSlice)
			}
		}
		at = below
	}
	for _, member := range at {
		keys = append(keys, fmt.Sprint(member.Key))
	}
	return keys
}
