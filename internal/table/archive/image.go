package archive

import (
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
)

// quotedJSON writes a JSON text as the inside of a JSON string, in the spelling of
// [keys.Canonical]. A JSON text contains no other characters that such a string escapes.
var quotedJSON = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// withPayload returns an image, which is canonical JSON, with the whole payload in place of the
// part that the item has kept. The result is the image of an item with the payload in it.
// withPayload makes no further copy, because the payload may have 16 MiB.
func withPayload(image, payload string) string {
	doc, err := event.ParseDocument(image)
	if err != nil { // cannot happen: it was made from a document
		return image
	}
	escapes := 0
	for _, c := range []string{`"`, `\`, "\t", "\n", "\r"} {
		escapes += strings.Count(payload, c)
	}
	var b strings.Builder
	b.Grow(len(image) + len(payload) + escapes)
	for name := range doc.Root().Members() {
		switch {
		case name == itemform.Payload:
			continue
		case b.Len() == 0:
			b.WriteByte('{')
		default:
			b.WriteByte(',')
		}
		if name != "data" {
			b.WriteString(doc.Root().Spelled(name))
			continue
		}
		b.WriteString(`"data":{"S":"`)
		_, _ = quotedJSON.WriteString(&b, payload) // a Builder takes everything
		b.WriteString(`"}`)
	}
	b.WriteByte('}')
	return b.String()
}
