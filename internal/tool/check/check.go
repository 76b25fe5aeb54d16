package check

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/changes"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// Input is what is checked.
type Input struct {
	Pipeline   textfile.File
	Template   *textfile.File    // nil: not checked
	Parameters map[string]string // of the template; they replace its defaults
	Config     *textfile.File    // a samconfig.toml, for its parameters; nil: not read
	ConfigEnv  string            // the only one of its environments to check; empty: all of them
	Migration  *textfile.File    // a migration.yaml; nil: there is none
	Publish    *textfile.File    // a publish.yaml; nil: there is none
	Next       *textfile.File    // the pipeline of the Ingot that gets what is published; nil: not compared
	Was        *textfile.File    // an earlier pipeline.yaml; nil: not compared
	Partitions int               // of the events table, for the estimates; at least 1
	Rate       float64           // changes a second to keep up with; 0: not checked
	ReadUnit   float64           // dollars for a read unit; 0: not known
	Region     string            // where that is the price; "": not known
	Events     *sample.Report    // the plans of sample events; nil: none
	Now        time.Time         // the time of the check; the deployment comes later
	// Exists reports whether a file or folder exists, by its path. nil: files are not looked for.
	Exists func(path string) bool
}

// files lists the names of the files that are checked.
func (in Input) files() []string {
	names := []string{in.Pipeline.Name}
	for _, f := range []*textfile.File{in.Template, in.Config, in.Migration, in.Publish, in.Next} {
		if f != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Report is the result of a check.
type Report struct {
	Types      []string        `json:"types"`              // event types of the pipeline, in byte order
	Epoch      int64           `json:"epoch"`              // of the pipeline
	Counting   string          `json:"counting,omitempty"` // marks or receipts, as the template sets it; empty: not known
	Partitions int             `json:"partitions"`         // assumed by the estimates
	Findings   []rules.Finding `json:"findings"`           // in the order of the files
	Events     *sample.Report  `json:"events,omitempty"`   // the result of planning sample events; absent if there are none
	Capacity   *Capacity       `json:"capacity,omitempty"` // whether the streams functions keep up; absent if no rate is given
	Patterns   []Pattern       `json:"patterns,omitempty"` // what a page of each pattern takes, by name
	Hot        []Hot           `json:"hot,omitempty"`      // partition keys that all writes of one moment share
	Totals     []Total         `json:"totals"`             // what each aggregate costs, by name; empty while the pipeline has mistakes
}

// Clean reports whether there are only warnings, and no event that would be Poison.
func (r *Report) Clean() bool {
	if r.Events != nil && r.Events.Poison() > 0 {
		return false
	}
	for _, f := range r.Findings {
		if f.Severity != rules.Warning {
			return false
		}
	}
	return true
}

// Run checks in. A file that is not YAML, or not a template, has a finding that says so. The error
// is a [*template.ParameterError].
func Run(in Input) (*Report, error) {
	r := &Report{Types: []string{}, Findings: []rules.Finding{}, Totals: []Total{}, Partitions: max(1, in.Partitions)}
	p := r.pipeline(in.Pipeline)
	at := rules.Places{Notes: &rules.Notes{File: in.Pipeline.Name}}
	at.Root, _ = template.Read(in.Pipeline.Text) // if it has mistakes, they were reported, and no place is looked up
	environments, err := r.environments(in)
	if err != nil {
		return nil, err
	}
	r.Events, r.Capacity = in.Events, capacityOf(in, p)
	var readers []string // of the events table's stream, in other stacks
	if r.migration(in.Migration, p, at) {
		readers = append(readers, "the function that brings events back ("+in.Migration.Name+")")
	}
	if in.Publish != nil {
		readers = append(readers, "the publish function of publish.yaml")
	}
	counting, known := aggregate.Marks, false
	if in.Template != nil {
		if counting, known, err = r.template(in, p, at, environments, readers); err != nil {
			return nil, err
		}
	}
	r.publishing(in.Publish, in.Next, p)
	files := in.files()
	if in.Was != nil {
		files = append(files, in.Was.Name)
		r.changes(*in.Was, p, at, in.Now)
	}
	if known {
		r.Counting = counting.String()
	}
	if p != nil {
		r.Types, r.Epoch, r.Totals = slices.Sorted(maps.Keys(p.Describe().Spec.Events)), p.Epoch(), totals(p, counting, r.Partitions)
		r.outgrown(p, at)
		r.hotTotals(in, p, counting, at)
		r.hotLists(in, p, counting, at)
		r.compressed(at)
		r.quoted(at)
		r.conflicts(at)
		r.doubtful(at)
		r.patterns(in, p, at)
	}
	r.Findings = rules.Sorted(append(r.Findings, at.Findings...), files...)
	return r, nil
}

// template compares the template with the pipeline, with the parameters of each environment.
// readers are functions of other stacks that read the stream. counting is that of the first
// environment.
func (r *Report) template(in Input, p *pipeline.Pipeline, at rules.Places, environments []rules.Environment, readers []string) (
	counting aggregate.Counting, known bool, err error) {
	t, err := template.Open(in.Template.Text, in.Parameters)
	var syntax *template.SyntaxError
	switch {
	case errors.As(err, &syntax):
		r.mistake("template", in.Template.Name, syntax.Position, syntax.What, syntax.Instead)
		return aggregate.Marks, false, nil
	case err != nil:
		return aggregate.Marks, false, err
	}
	var order []rules.Finding
	found := map[rules.Finding][]string{} // the environments under which each finding occurs
	for i, e := range environments {
		r.Findings = append(r.Findings, e.Refused(t, in.Config)...)
		tpl, err := template.Open(in.Template.Text, e.Values(in.Parameters))
		if err != nil {
			return aggregate.Marks, false, err
		}
		c := rules.NewChecker(in.Template.Name, tpl, p, at)
		c.Exists, c.Readers = in.Exists, readers
		how, told := c.All()
		if i == 0 {
			counting, known = how, told
		}
		r.Capacity.keepsUp(c, how)
		for _, f := range slices.Compact(c.Findings) {
			if len(found[f]) == 0 {
				order = append(order, f)
			}
			found[f] = append(found[f], e.Name)
		}
	}
	for _, f := range order {
		if under := found[f]; len(under) < len(environments) {
			f.What = "with the parameters of " + strings.Join(under, " and ") + ": " + f.What
		}
		r.Findings = append(r.Findings, f)
	}
	return counting, known, nil
}

// environments returns the environments of samconfig.toml that are asked for, or one without
// parameters of its own.
func (r *Report) environments(in Input) ([]rules.Environment, error) {
	if in.Config == nil {
		return []rules.Environment{{}}, nil
	}
	all, findings := rules.ReadConfig(*in.Config)
	r.Findings = append(r.Findings, findings...)
	for _, e := range all {
		if e.Name == in.ConfigEnv {
			return []rules.Environment{e}, nil
		}
	}
	switch {
	case in.ConfigEnv != "" && len(findings) == 0:
		return nil, &template.ParameterError{What: samconfig.NoEnvironment(in.Config.Name, in.Config.Text, in.ConfigEnv).Error()}
	case len(all) == 0:
		return []rules.Environment{{}}, nil
	}
	return all, nil
}

// pipeline compiles the pipeline and adds its mistakes and warnings to the report. It returns nil
// if the pipeline has mistakes.
func (r *Report) pipeline(f textfile.File) *pipeline.Pipeline {
	p := r.load(f)
	if p == nil {
		return nil
	}
	for _, w := range p.Describe().Warnings {
		r.Findings = append(r.Findings, fromPipeline(rules.Warning, w))
	}
	return p
}

// load compiles a file and adds its mistakes to the report. It returns nil if there are any.
func (r *Report) load(f textfile.File) *pipeline.Pipeline {
	p, err := f.Load(pipeline.CheckOnly())
	if !r.loaded("pipeline", &f, err) {
		return nil
	}
	return p
}

func fromPipeline(severity rules.Severity, m pipeline.Mistake) rules.Finding {
	return rules.Finding{Severity: severity, Rule: "pipeline", File: m.File, Line: max(1, m.Line), Column: max(1, m.Column), What: m.What,
		Instead: m.Instead}
}

var begin = template.Position{Line: 1, Column: 1}

// mistake adds a finding about a file.
func (r *Report) mistake(rule, file string, at template.Position, what, instead string) {
	r.Findings = append(r.Findings, rules.Finding{Severity: rules.Mistake, Rule: rule, File: file, Line: at.Line, Column: at.Column,
		What: what, Instead: instead})
}

// changes compares the pipeline with an earlier file.
func (r *Report) changes(was textfile.File, p *pipeline.Pipeline, at rules.Places, now time.Time) {
	old := r.load(was)
	switch {
	case old == nil:
		r.mistake("was", was.Name, begin, "nothing was compared: this file has mistakes, so it cannot be the one that is deployed now",
			"the name of that file after --was")
		return
	case p == nil:
		return // its mistakes are reported first
	}
	for _, c := range changes.Between(old, p, now) {
		severity := rules.Change
		if c.Kind == changes.Index || c.Kind == changes.Rebuild || c.Kind == changes.Schema {
			severity = rules.Warning // it can be deployed, but readers or producers must know of it
		}
		at.Add(severity, "change-"+string(c.Kind), at.Of(c.Subject, c.Member), strings.TrimPrefix(c.String(), "; "), "")
	}
}
