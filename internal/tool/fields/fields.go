// Package fields makes a payload out of single fields, as a person gives them. [Set] puts one value
// into an object. The names of fields are paths: customer.id is the member id of the object
// customer.
package fields

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Valid reports whether a name can be that of a field that [Set] sets.
func Valid(name string) bool {
	_, err := event.ParsePath(name)
	return err == nil && !strings.Contains(name, "[")
}

// Set puts a value into an object, below the objects that its name goes through. The name must be
// [Valid]. The error says that there is a value already.
func Set(into map[string]any, name string, value any) error {
	return set(into, strings.Split(name, "."), value)
}

func set(into map[string]any, names []string, value any) error {
	if len(names) == 1 {
		if _, there := into[names[0]]; there {
			return fmt.Errorf("field %s is given twice", names[0])
		}
		into[names[0]] = value
		return nil
	}
	inner, ok := into[names[0]].(map[string]any)
	if !ok {
		if _, there := into[names[0]]; there {
			return fmt.Errorf("field %s has a value already", names[0])
		}
		inner = map[string]any{}
		into[names[0]] = inner
	}
	return set(inner, names[1:], value)
}
