package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Data masks a payload or a whole message. The paths are looked for wherever an object is, so that
// an envelope does not hide them, also in JSON that is the text of a string. A text that is not
// strict JSON is masked as a whole, because nobody knows what it holds.
func (m Personal) Data(text string) string {
	if m.None() {
		return text
	}
	doc, err := event.ParseDocument(text)
	if err != nil {
		return fmt.Sprintf("%s (%d bytes that are not JSON)", Mask, len(text))
	}
	var b strings.Builder
	m.write(&b, doc.Root(), map[event.Node]bool{})
	return b.String()
}

// write writes a value without those that are masked.
func (m Personal) write(b *strings.Builder, n event.Node, masked map[event.Node]bool) {
	if masked[n] {
		b.WriteString(`"` + Mask + `"`)
		return
	}
	between := ""
	switch n.Kind() {
	case event.Object:
		for _, path := range m.paths {
			if at := n.At(path); at.Exists() {
				masked[at] = true
			}
		}
		b.WriteByte('{')
		for name, value := range n.Members() {
			if name == "data_base64" { // of a CloudEvent
				masked[value] = true
			}
			b.WriteString(between + event.Quote(name) + ":")
			m.write(b, value, masked)
			between = ","
		}
		b.WriteByte('}')
	case event.Array:
		b.WriteByte('[')
		for value := range n.Elements() {
			b.WriteString(between)
			m.write(b, value, masked)
			between = ","
		}
		b.WriteByte(']')
	case event.String:
		inner := strings.TrimSpace(n.Text())
		if doc, err := event.ParseDocument(inner); err == nil && slices.Contains([]event.Kind{event.Object, event.Array, event.String},
			doc.Root().Kind()) {
			b.WriteString(event.Quote(m.Data(inner)))
			return
		}
		b.WriteString(n.Raw())
	default:
		b.WriteString(n.Raw())
	}
}
