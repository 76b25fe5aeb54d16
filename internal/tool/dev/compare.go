package dev

import (
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// compare compares two versions of pipeline.yaml as `ingot check --was` does. It returns the
// reasons why the new one cannot be used, and notes about its changes.
func (d *Dev) compare(was, is []byte) (objects, notes []string) {
	file := name(d.cfg.File)
	report, err := check.Run(check.Input{Pipeline: textfile.File{Name: file, Text: is},
		Was:        &textfile.File{Name: file + " of before", Text: was},
		Partitions: 1, Parameters: map[string]string{}, Now: d.cfg.Now()})
	if err != nil {
		return []string{err.Error()}, nil
	}
	for _, f := range report.Findings {
		switch {
		case f.Severity != rules.Warning:
			objects = append(objects, f.String())
		case f.Rule == "change-index" || f.Rule == "change-rebuild" || f.Rule == "change-schema":
			notes = append(notes, f.String())
		}
	}
	return objects, notes
}
