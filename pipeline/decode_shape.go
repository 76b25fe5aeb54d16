package pipeline

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/base/nearest"
)

// suggest returns the closest of names. If none is close, it returns all of them.
func suggest(word string, names []string) string {
	if best := nearest.Name(word, names); best != "" {
		return best
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(sorted) > 12 {
		sorted = append(sorted[:12], "…")
	}
	switch len(sorted) {
	case 0:
		return ""
	case 1:
		return sorted[0]
	}
	return "one of " + strings.Join(sorted, ", ")
}

// example shows the shape of a struct in the file.
func example(t reflect.Type) string {
	if t == reflect.TypeFor[KeySpec]() || t == reflect.TypeFor[IndexSpec]() {
		return `{pk: "…", sk: "…"}`
	}
	if t == reflect.TypeFor[FromSpec]() {
		return "{values: {orders: count}}"
	}
	if t == reflect.TypeFor[WasSpec]() {
		return "{retain: 30d, before: " + aTime + "}"
	}
	if t == reflect.TypeFor[PartSpec]() {
		return "{of: order.placed, each: lines, with: [order_id]}"
	}
	switch t {
	case reflect.TypeFor[Spec]():
		return wholeFile
	case reflect.TypeFor[EventSpec]():
		return anEvent
	case reflect.TypeFor[PatternSpec]():
		return "{read: [order.placed]}"
	case reflect.TypeFor[AggregateSpec]():
		return "{since: 1, from: {order.placed: {values: {orders: count}}}}"
	}
	return ""
}

// absent returns what to write for a member that must be there.
func absent(f reflect.StructField) string {
	shape := f.Tag.Get("like")
	switch f.Name {
	case "Ingot":
		shape = strconv.Itoa(Format)
	case "Epoch":
		shape = "1"
	case "Since":
		shape = "and the epoch that introduces this definition, 1 in a first file,"
	case "Retain": // an earlier retain; elsewhere retain may be left out
		shape = "30d"
	case "Before":
		shape = aTime
	case "Over":
		shape = "64KB"
	case "Of":
		shape = "and the event type that it is a part of, such as order.placed,"
	case "PK":
		shape = `"ORDER#{order_id}"`
	case "SK":
		shape = `"ORDER"`
	}
	return f.Tag.Get("yaml") + ": " + cmp.Or(shape, example(f.Type))
}

// anEvent is the smallest valid event type.
const anEvent = `{id: "{order_id}", at: "{placed_at}", key: {pk: "ORDER#{order_id}", sk: "ORDER"}}`

// wholeFile is what every file must have.
const wholeFile = "ingot: 1, epoch: 1 and events:"
