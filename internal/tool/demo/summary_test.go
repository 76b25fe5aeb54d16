package demo

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// members lists the JSON members of a type as docs/demo.md writes them. It reports names that break
// the rules.
func members(t *testing.T, of reflect.Type, at string) []string {
	t.Helper()
	switch of.Kind() {
	case reflect.Slice:
		return members(t, of.Elem(), at+"[]")
	case reflect.Map:
		return members(t, of.Elem(), at+"{}")
	case reflect.Pointer:
		return append([]string{at}, members(t, of.Elem(), at)...)
	case reflect.Struct:
	default:
		return []string{at}
	}
	var list []string
	for i := range of.NumField() {
		if !of.Field(i).IsExported() {
			continue
		}
		name := of.Field(i).Tag.Get("json")
		if !regexp.MustCompile(`^[a-z][A-Za-z]*$`).MatchString(name) {
			t.Errorf("%s.%s has the JSON name %q", of, of.Field(i).Name, name)
		}
		list = append(list, members(t, of.Field(i).Type, strings.TrimPrefix(at+"."+name, "."))...)
	}
	return list
}

// TestSummaryIsDocumented compares docs/demo.md with the Go type.
func TestSummaryIsDocumented(t *testing.T) {
	page := must.Read(t, "../../../docs/demo.md")
	_, after, _ := strings.Cut(string(page), "<!-- summary -->")
	section, _, found := strings.Cut(after, "<!-- end -->")
	if !found {
		t.Fatal("docs/demo.md has no section between <!-- summary --> and <!-- end -->")
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$").FindAllStringSubmatch(section, -1) {
		documented = append(documented, row[1])
	}
	if want := members(t, reflect.TypeFor[Summary](), ""); !slices.Equal(documented, want) {
		t.Errorf("docs/demo.md lists\n%s\nand the type has\n%s", strings.Join(documented, "\n"), strings.Join(want, "\n"))
	}
	must.Equal(t, SummaryVersion, 1)
}

// TestSummaryHasNoNulls shows that lists and objects are empty rather than null, except for expiry.
func TestSummaryHasNoNulls(t *testing.T) {
	s := mustRun(t, firstDays(t, 0))
	s.Expiry = nil
	text, err := json.Marshal(s)
	must.Succeed(t, err)
	if n := strings.Count(string(text), "null"); n != 1 || !strings.Contains(string(text), `"expiry":null`) {
		t.Errorf("%d nulls in %s", n, text)
	}
}
