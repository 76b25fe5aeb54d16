package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// fieldsHelp is for the long help of commands that take fields of an event.
const fieldsHelp = `Each FIELD=VALUE is a field of the payload, with its value as text; the fields of an object are written with a
point, as in customer.id=c-1. FIELD:=JSON gives a value as JSON. FIELD=@- reads the value from standard input, so
that a personal one does not end up in the shell's history.`

// payloadFields makes a payload of FIELD=VALUE.
func (a *app) payloadFields(words []string) (map[string]any, error) {
	all := map[string]any{}
	stdin := false
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		raw := strings.HasSuffix(name, ":")
		name = strings.TrimSuffix(name, ":")
		if _, err := event.ParsePath(name); !ok || err != nil || strings.Contains(name, "[") {
			return nil, usage(fmt.Errorf("%q: write FIELD=VALUE, such as order_id=o-1", word))
		}
		if !raw && text == "@-" {
			if stdin {
				return nil, usage(fmt.Errorf("%q: only one value can come from standard input", word))
			}
			stdin = true
			all, err := io.ReadAll(io.LimitReader(a.stdin, maxInput))
			if err != nil {
				return nil, fmt.Errorf("standard input: %w", err)
			}
			text = strings.TrimRight(string(all), "\r\n")
		}
		var value any = text
		if raw {
			if _, err := event.ParseDocument(text); err != nil {
				return nil, usage(fmt.Errorf("%q: the value after := is not JSON: %w", word, err))
			}
			value = json.RawMessage(text)
		}
		if err := set(all, strings.Split(name, "."), value); err != nil {
			return nil, usage(fmt.Errorf("%q: %w", word, err))
		}
	}
	return all, nil
}

// set puts a value into an object, below the objects that its name goes through.
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

// wrong says what is wrong with fields, without the verdict that an event would get.
func wrong(err error) string {
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		return refusal.Detail
	}
	return err.Error()
}

// payload writes fields as the text of a payload.
func payload(fields map[string]any) string {
	text, _ := json.Marshal(fields) // of texts and of JSON that was parsed
	return string(text)
}
