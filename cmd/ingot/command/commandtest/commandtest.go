// Package commandtest has what the tests of several families of commands use.
package commandtest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var word = regexp.MustCompile(`[A-Za-z]+`)

// Documented checks that help names every member of the JSON of a report, and that the report has
// every member that help names in its left column.
func Documented(t *testing.T, help string, report any) {
	t.Helper()
	names := map[string]bool{}
	jsonNames(reflect.TypeOf(report), names)
	words := word.FindAllString(help, -1)
	for name := range names {
		if !slices.Contains(words, name) {
			t.Errorf("help does not name %s", name)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len(line) < 24 || !strings.HasPrefix(line, "  ") {
			continue
		}
		for _, name := range word.FindAllString(line[:24], -1) {
			if !names[name] {
				t.Errorf("help names %s, which the JSON does not have", name)
			}
		}
	}
}

// jsonNames collects the names of all members of a report, including those of its parts.
func jsonNames(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		jsonNames(t.Elem(), names)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "-" || !t.Field(i).IsExported() && !t.Field(i).Anonymous {
				continue
			}
			if !t.Field(i).Anonymous {
				names[name] = true
			}
			if f := t.Field(i).Type; f.Kind() == reflect.Slice && f.Elem() == t {
				continue // a part of a message is explained as a message is
			}
			jsonNames(t.Field(i).Type, names)
		}
	}
}
