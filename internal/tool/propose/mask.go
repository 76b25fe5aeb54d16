package propose

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

// Masked returns events with made-up values in the fields that look personal, by their names or
// because they hold e-mail addresses. Equal values get equal ones. It leaves out an event that the
// proposal takes as it is and refuses masked. fields lists the names of the fields that were
// changed. Whether a field is personal is a guess, so a person must look at the result. Call
// [Proposal.Check] first.
func (p *Proposal) Masked(bodies []string) (masked, fields []string) {
	m := masker{made: map[string]string{}, count: map[string]int{}}
	for _, body := range bodies {
		if text := m.document(body); p.takes(text) || !p.takes(body) {
			masked = append(masked, text)
		}
	}
	return masked, slices.Sorted(maps.Keys(m.count))
}

// takes reports whether the proposal would store an event.
func (p *Proposal) takes(body string) bool {
	_, err := p.compiled.Plan(envelope.Message{Body: body})
	return err == nil
}

// mailWithin matches a text with an e-mail address somewhere in it, such as a note.
var mailWithin = regexp.MustCompile(`[^@\s]@[^@\s]+\.[^@\s]`)

// masker makes up values.
type masker struct {
	made  map[string]string // by the name of the field and the JSON text of the value
	count map[string]int    // of different values, by the name of the field
}

// document masks the JSON text of a document. A text that is not JSON stays.
func (m *masker) document(text string) string {
	doc, err := event.ParseDocument(text)
	if err != nil {
		return text
	}
	return m.value(doc.Root(), nil, false)
}

// value returns the JSON text of a value. above are the names that lead to it. personal says that
// one of them says so.
func (m *masker) value(n event.Node, above []string, personal bool) string {
	switch n.Kind() {
	case event.Object:
		var list []string
		for name, value := range n.Members() {
			path := append(slices.Clip(above), name)
			list = append(list, event.Quote(name)+":"+m.value(value, path, personal || saysPersonal(path)))
		}
		return "{" + strings.Join(list, ",") + "}"
	case event.Array:
		var list []string
		for value := range n.Elements() {
			list = append(list, m.value(value, above, personal))
		}
		return "[" + strings.Join(list, ",") + "]"
	case event.String:
		if text := n.Text(); strings.HasPrefix(text, "{") { // a payload inside an envelope
			return event.Quote(m.document(text))
		}
		if personal || mailWithin.MatchString(n.Text()) {
			return m.instead(n, above)
		}
	case event.Number:
		if personal {
			return m.instead(n, above)
		}
	}
	return n.Raw()
}

// instead returns a made-up value of the same kind.
func (m *masker) instead(n event.Node, above []string) string {
	name := "value"
	if len(above) > 0 {
		name = above[len(above)-1]
	}
	key := name + "\x00" + n.Raw()
	if made, ok := m.made[key]; ok {
		return made
	}
	m.count[name]++
	number, text := m.count[name], n.Text()
	day := time.Date(2000, 1, number, 0, 0, 0, 0, time.UTC)
	var value any = fmt.Sprintf("%s-%d", name, number)
	switch _, err := time.Parse(time.RFC3339, text); {
	case n.Kind() == event.Number:
		value = number
	case mail.MatchString(text):
		value = fmt.Sprintf("person-%d@example.com", number)
	case err == nil:
		value = day.Format(time.RFC3339)
	case date.MatchString(text):
		value = day.Format(time.DateOnly)
	}
	made, _ := json.Marshal(value) // a number or a text
	m.made[key] = string(made)
	return m.made[key]
}

// These words in the name of a field say that it is personal, or that a name or an id below it is.
var (
	personalWords = []string{"email", "mail", "phone", "mobile", "telephone", "tel", "fax", "ssn", "iban", "passport", "surname",
		"firstname", "lastname", "fullname",
		"username", "nickname", "birth", "birthday", "birthdate", "born", "dob", "street", "address", "zip", "postcode", "ip",
		"license", "licence", "card"}
	personWords = []string{"first", "last", "full", "given", "family", "middle", "user", "customer", "client", "patient", "driver",
		"passenger", "rider", "borrower", "member",
		"employee", "person", "contact", "billing", "shipping", "recipient", "sender", "holder", "owner", "author", "guest", "student",
		"doctor", "nurse"}
)

// saysPersonal reports whether the last of some names says that its value is personal.
func saysPersonal(path []string) bool {
	last := words(path[len(path)-1])
	if slices.ContainsFunc(last, func(word string) bool { return slices.Contains(personalWords, word) }) {
		return true
	}
	if len(last) == 0 || !slices.Contains([]string{"name", "id"}, last[len(last)-1]) {
		return false
	}
	around := last
	if len(path) > 1 {
		around = append(words(path[len(path)-2]), last...)
	}
	return slices.ContainsFunc(around, func(word string) bool { return slices.Contains(personWords, word) })
}
