// Package fields makes a payload out of single fields, as a person gives them. [Set] puts one value
// into an object. The names of fields are paths: customer.id is the member id of the object
// customer, and items[0] the first element of the array items.
package fields

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// maxIndex bounds the arrays that [Set] makes.
const maxIndex = 999

// Cut divides a word at the first "=" that follows a path. It returns false if there is none.
func Cut(word string) (name, text string, ok bool) {
	for i := range len(word) {
		if word[i] != '=' {
			continue
		}
		if _, err := event.ParsePath(strings.TrimSuffix(word[:i], ":")); err == nil {
			return word[:i], word[i+1:], true
		}
	}
	return "", "", false
}

// Set puts a value into an object, below the objects and arrays that its name goes through. The
// name must be a path that begins with a member's name. The error says that there is a value
// already, or that the number of an element is over 999.
func Set(into map[string]any, name string, value any) error {
	path, err := event.ParsePath(name)
	if err != nil {
		return err
	}
	if _, _, named := path.First(); !named {
		return fmt.Errorf("field %s: a payload is an object, and has no elements", name)
	}
	_, err = set(into, event.Path{}, path, value)
	return err
}

func set(into any, at, rest event.Path, value any) (any, error) {
	if rest.IsZero() {
		if into != nil {
			return nil, fmt.Errorf("field %s is given twice", at)
		}
		return value, nil
	}
	var err error
	if name, after, named := rest.First(); named {
		object, is := into.(map[string]any)
		if into != nil && !is {
			return nil, fmt.Errorf("field %s has a value already", at)
		}
		if object == nil {
			object = map[string]any{}
		}
		if value, err = set(object[name], at.Member(name), after, value); err == nil {
			object[name] = value
		}
		return object, err
	}
	index, after, _ := rest.Number()
	list, is := into.([]any)
	if into != nil && !is {
		return nil, fmt.Errorf("field %s has a value already", at)
	}
	if index > maxIndex {
		return nil, fmt.Errorf("field %s: at most element %d of an array can be given", at.Index(index), maxIndex)
	}
	for len(list) <= index {
		list = append(list, nil)
	}
	if value, err = set(list[index], at.Index(index), after, value); err == nil {
		list[index] = value
	}
	return list, err
}
