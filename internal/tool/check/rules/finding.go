package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// Severity says how bad a finding is.
type Severity string

// These are the severities. Mistakes and changes need attention. Warnings are allowed but probably
// not meant, or the file does not show whether they are right.
const (
	Mistake Severity = "mistake"
	Change  Severity = "change"
	Warning Severity = "warning"
)

// Finding is one thing that needs attention.
type Finding struct {
	Severity Severity `json:"severity"` // mistake, change or warning
	Rule     string   `json:"rule"`     // a stable word for the rule: "stream-window"
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1
	Column   int      `json:"column"` // from 1, in characters
	What     string   `json:"what"`
	Instead  string   `json:"instead,omitempty"` // what to write
}

// String returns "file:line:column: what; write …".
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(f.What + yamlfile.Advice(f.Instead))
	return b.String()
}

// Notes are the findings of one file.
type Notes struct {
	File     string
	Findings []Finding
}

// Add adds a finding about the place at.
func (n *Notes) Add(severity Severity, rule string, at yamlfile.Position, what, instead string) {
	n.Findings = append(n.Findings, Finding{severity, rule, n.File, at.Line, at.Column, what, instead})
}

// Mistake adds a mistake.
func (n *Notes) Mistake(rule string, at yamlfile.Position, what, instead string) {
	n.Add(Mistake, rule, at, what, instead)
}

// Warn adds a warning.
func (n *Notes) Warn(rule string, at yamlfile.Position, what, instead string) {
	n.Add(Warning, rule, at, what, instead)
}

// Sorted returns findings in the order of the given files, without repetitions.
func Sorted(list []Finding, files ...string) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(files, a.File), slices.Index(files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.What, b.What))
	})
	return slices.Compact(list)
}
