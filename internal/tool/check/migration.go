package check

import (
	"errors"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
)

// migration compiles migration.yaml for the pipeline, and adds its mistakes to the report.
func (r *Report) migration(f *rules.File, p *pipeline.Pipeline) {
	if f == nil || p == nil { // its mistakes come first
		return
	}
	_, err := rowmap.Load(*f, f.Name, p)
	r.loaded("migration", f, err)
}

// loaded reports whether a file beside the pipeline has been compiled. Otherwise it adds its
// mistakes to the report.
func (r *Report) loaded(rule string, f *rules.File, err error) bool {
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
