package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/explain"
	"github.com/ingot-events/ingot/internal/tool/status"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/internal/tool/verified"
)

var word = regexp.MustCompile(`[A-Za-z]+`)

// jsonNames collects the names of all members of a report, including those of its parts.
func jsonNames(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		jsonNames(t.Elem(), names)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if !t.Field(i).IsExported() && !t.Field(i).Anonymous {
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

// Help names every member of the JSON. The JSON has every member that help names in its left
// column.
func TestJSONIsDocumented(t *testing.T) {
	for _, c := range []struct {
		help   string
		report any
	}{{checkJSON, check.Report{}}, {explainJSON, explain.Report{}}, {costJSON, cost.Report{}}, {versionJSON, build{}},
		{initJSON, initReport{}}, {queryJSON, answer{}},
		{getJSON, gotItem{}}, {totalsJSON, totals.View{}}, {sendJSON, sentReport{}},
		{verifyJSON, verified.Report{}}, {rebuildJSON, rebuilt{}},
		{workedJSON, workedReport{}}, {listJSON, listReport{}},
		{statusJSON, status.Report{}}} {
		names := map[string]bool{}
		jsonNames(reflect.TypeOf(c.report), names)
		words := word.FindAllString(c.help, -1)
		for name := range names {
			if !slices.Contains(words, name) {
				t.Errorf("help does not name %s", name)
			}
		}
		for _, line := range strings.Split(c.help, "\n")[1:] {
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
}
