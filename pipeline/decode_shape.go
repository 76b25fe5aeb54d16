package pipeline

import (
	"reflect"

	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// words is what messages say of the members of pipeline.yaml.
var words = &declare.Words{
	Version: "ingot", Format: Format, What: "pipeline", Whole: wholeFile, Example: example, Absent: absent, Entry: valueMapping,
	Owned: []declare.Owner{
		{Of: reflect.TypeFor[Spec](), Name: "the file itself"},
		{Of: reflect.TypeFor[BatchSpec](), Name: "an entry of batches"},
		{Of: reflect.TypeFor[EventSpec](), Name: "an event type"},
		{Of: reflect.TypeFor[PartSpec](), Name: "part"},
		{Of: reflect.TypeFor[PatternSpec](), Name: "a pattern"},
		{Of: reflect.TypeFor[AggregateSpec](), Name: "an aggregate"},
		{Of: reflect.TypeFor[FromSpec](), Name: "an entry of from"},
	},
	Empty: func(name string) string {
		switch name {
		case "pk", "sk":
			return `a template, or a constant such as "ORDER"`
		case "where":
			return "a condition such as total > 0, or leave where out"
		}
		return ""
	},
	Like: func(f *reflect.StructField, n *yamlfile.Node) string {
		if f.Name == "By" && n.Kind == yamlfile.Text {
			return apart(map[string]string{"": n.Text})
		}
		return ""
	},
}

// decode reads the text of a file into a Spec.
func decode(text []byte, r *report) (spec Spec) {
	declare.Decode(text, r, words, &spec)
	return spec
}

// example shows the shape of a struct in the file.
func example(t reflect.Type) string {
	if t == reflect.TypeFor[KeySpec]() || t == reflect.TypeFor[IndexSpec]() {
		return `{pk: "…", sk: "…"}`
	}
	if t == reflect.TypeFor[BatchSpec]() {
		return "{each: Records}"
	}
	if t == reflect.TypeFor[FromSpec]() {
		return "{values: {orders: count}}"
	}
	if t == reflect.TypeFor[WasSpec]() {
		return "{retain: 30d, before: " + declare.ATime + "}"
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
	switch f.Name {
	case "Each":
		return "and a path to the array of events, such as Records"
	case "Epoch":
		return "1"
	case "Since":
		return "and the epoch that introduces this definition, 1 in a first file"
	case "Before":
		return declare.ATime
	case "Over":
		return "64KB"
	case "Of":
		return "and the event type that it is a part of, such as order.placed"
	case "PK":
		return `"ORDER#{order_id}"`
	case "SK":
		return `"ORDER"`
	}
	return ""
}

// anEvent is the smallest valid event type.
const anEvent = `{id: "{order_id}", at: "{placed_at}", key: {pk: "ORDER#{order_id}", sk: "ORDER"}}`

// wholeFile is what every file must have.
const wholeFile = "ingot: 1, epoch: 1 and events:"
