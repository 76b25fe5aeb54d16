package check

import (
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
)

// migration compiles migration.yaml for the pipeline, and adds its mistakes to the report. It warns
// of types that wait for a migration of which there is no file. back reports whether events go back
// to the old table after the turn.
func (r *Report) migration(f *textfile.File, p *pipeline.Pipeline, at rules.Places) (back bool) {
	if p == nil { // its mistakes come first
		return false
	}
	known := ""
	if f != nil {
		m, err := rowmap.Load(*f, f.Name, p)
		if !r.loaded("migration", f, err) {
			return false
		}
		known, back = m.Name(), m.GoesBack()
	}
	for name, of := range p.Describe().Spec.Events {
		if of.Migrated != "" && of.Migrated != known {
			at.Warn("migration", at.Of("events."+name, "migrated"),
				fmt.Sprintf("messages of %s are held back until migration %s turns it, and no file of that migration was checked: name it "+
					"with --migration FILE", name, of.Migrated), "")
		}
	}
	return back
}

// loaded reports whether a file has been compiled. Otherwise it adds its mistakes to the report.
func (r *Report) loaded(rule string, f *textfile.File, err error) bool {
	var mistakes pipeline.Mistakes
	switch {
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			found := fromPipeline(rules.Mistake, m)
			found.Rule = rule
			r.Findings = append(r.Findings, found)
		}
	case err != nil: // not expected for a file that has been read
		r.mistake(rule, f.Name, begin, err.Error(), "")
	}
	return err == nil
}
