package quarantine

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const (
	aParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	aHeader = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
)

func TestTraceOf(t *testing.T) {
	of := func(name, value string) map[string]string { return map[string]string{name: value} }
	cloud := `{"specversion":"1.0","type":"t","source":"s","id":"1","traceparent":"` + aParent + `","data":{}}`
	binary := map[string]string{"ce-specversion": "1.0", "ce-type": "t", "ce-source": "s", "ce-id": "1", "ce-traceparent": aParent}
	for what, c := range map[string]struct {
		m      envelope.Message
		header string
		want   string
	}{
		"an attribute":             {envelope.Message{Body: "not JSON", Attributes: of("traceparent", aParent)}, aHeader, aParent},
		"of a CloudEvent":          {envelope.Message{Body: cloud}, aHeader, aParent},
		"of a binary CloudEvent":   {envelope.Message{Body: `{}`, Attributes: binary}, "", aParent},
		"X-Ray":                    {envelope.Message{Body: "{}"}, aHeader, aHeader},
		"none":                     {envelope.Message{Body: "{}"}, "", ""},
		"a value of the producer":  {envelope.Message{Body: "{}", Attributes: of("traceparent", "ann@example.com")}, "Root=ann", ""},
		"another one beside X-Ray": {envelope.Message{Body: "{}", Attributes: of("traceparent", "x")}, aHeader, aHeader},
		"a long header":            {envelope.Message{Body: "{}"}, aHeader + ";Lineage=" + strings.Repeat("a", 200), ""},
		"a line end":               {envelope.Message{Body: "{}", Attributes: of("traceparent", aParent+"\n")}, aHeader + "\n", ""},
	} {
		must.Equal(t, TraceOf(c.m, c.header), c.want, what)
	}
}

// Notes of earlier versions have no trace.
func TestNotesWithAndWithoutATrace(t *testing.T) {
	for text, want := range map[string]string{`{"verdict":"Poison","reason":"undecodable","detail":""}`: "",
		`{"verdict":"Poison","reason":"undecodable","detail":"","trace":"` + aParent + `"}`: aParent} {
		note, is := ReadNote(text)
		must.Equal(t, is, true, text)
		must.Equal(t, note.Trace, want, text)
	}
}
