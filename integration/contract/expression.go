package contract

import (
	"strings"
	"testing"
)

// expressions checks requests with mistakes that a program could make. They are refused as a whole,
// before anything is written.
func expressions(t *testing.T, h *Harness) {
	long := strings.Repeat("x", 255)
	w := newTable(t, h)
	for name, c := range map[string]struct {
		update, condition string
		names             map[string]string
		values            attrs
	}{
		"a value that is not used":       {"SET #a = :a", "", map[string]string{"#a": "a"}, attrs{":a": n("1"), ":b": n("1")}},
		"a name that is not used":        {"SET #a = :a", "", map[string]string{"#a": "a", "#b": "b"}, attrs{":a": n("1")}},
		"a value that is not defined":    {"SET #a = :b", "", map[string]string{"#a": "a"}, nil},
		"a name that is not defined":     {"SET #b = :a", "", nil, attrs{":a": n("1")}},
		"a reserved word":                {"SET data = :a", "", nil, attrs{":a": n("1")}},
		"a reserved word in a condition": {"SET #a = :a", "attribute_exists(data)", map[string]string{"#a": "a"}, attrs{":a": n("1")}},
		"one attribute twice":            {"SET #a = :a ADD #a :a", "", map[string]string{"#a": "a"}, attrs{":a": n("1")}},
		"one section twice":              {"SET #a = :a SET #b = :a", "", map[string]string{"#a": "a", "#b": "b"}, attrs{":a": n("1")}},
		"one attribute under two names":  {"SET #a = :a, #b = :a", "", map[string]string{"#a": "a", "#b": "a"}, attrs{":a": n("1")}},
		"set and removed":                {"SET #a = :a REMOVE #a", "", map[string]string{"#a": "a"}, attrs{":a": n("1")}},
		"no names in the map of names":   {"SET a = :a", "", map[string]string{}, attrs{":a": n("1")}},
		"a range of two types": {"SET #a = :a", "#a BETWEEN :a AND :b", map[string]string{"#a": "a"},
			attrs{":a": n("1"), ":b": s("2")}},
		"an empty expression":    {"", "", nil, nil},
		"redundant parentheses":  {"SET #a = :a", "((attribute_exists(PK)))", map[string]string{"#a": "a"}, attrs{":a": n("1")}},
		"a colon in a bare name": {"SET m:lane = :a", "", nil, attrs{":a": n("1")}},
		"over 4 KB of text": {"SET #a = :a", "attribute_not_exists(#a)" + strings.Repeat(" OR attribute_not_exists(#a)", 150),
			map[string]string{"#a": "a"}, attrs{":a": n("1")}},
		"over 300 operators": {"SET #a = :a", "#a = :a" + strings.Repeat(" OR #a=:a", 160), map[string]string{"#a": "a"},
			attrs{":a": n("1")}},
	} {
		h.run(t, name, func(t *testing.T) {
			w := w.in(t)
			_, err := w.update(w.key("-"), c.update, c.condition, c.names, c.values)
			want := "ValidationException"
			if name == "over 300 operators" {
				want = pick(w, h, "operators are not counted", want, "ConditionalCheckFailedException")
			}
			refused(w, err, want)
			w.absent(w.key("-"))
		})
	}
	h.run(t, "long attribute names are names", func(t *testing.T) {
		w := w.in(t)
		if _, err := w.update(w.key("-"), "SET #a = :a", "", map[string]string{"#a": long}, attrs{":a": n("1")}); err != nil {
			t.Error(err)
		}
	})
}
