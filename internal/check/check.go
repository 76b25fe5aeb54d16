package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/check/template"
	"github.com/ingot-events/ingot/pipeline"
)

// File is a file that has been read, with the name that findings say.
type File struct {
	Name string
	Text []byte
}

// Load compiles the file as a pipeline; the errors are those of pipeline.Load.
func (f File) Load(options ...pipeline.Option) (*pipeline.Pipeline, error) {
	return pipeline.Load(oneFile(f), f.Name, options...)
}

// Input is what is checked.
type Input struct {
	Pipeline   File
	Template   *File             // nil: not checked
	Parameters map[string]string // of the template, in place of their defaults
	Was        *File             // an earlier pipeline.yaml; nil: not compared
	Partitions int               // of the events table, for the estimates; at least 1
}

// Report is what came out.
type Report struct {
	Types      []string  `json:"types"`              // event types of the pipeline, in byte order
	Epoch      int64     `json:"epoch"`              // of the pipeline
	Counting   string    `json:"counting,omitempty"` // marks or receipts, as the template sets it; empty: not known
	Partitions int       `json:"partitions"`         // that the estimates suppose
	Findings   []Finding `json:"findings"`           // in the order of the files
	Totals     []Total   `json:"totals"`             // what each aggregate costs, by name; empty while the pipeline has mistakes
}

// Clean says that there is nothing but warnings.
func (r *Report) Clean() bool {
	for _, f := range r.Findings {
		if f.Severity != Warning {
			return false
		}
	}
	return true
}

// Unreadable says that a file is no YAML, or no template, or cannot be compared with: nothing was checked.
type Unreadable struct {
	File         string
	Line, Column int // 0: unknown
	What         string
}

// Error is "file:line:column: what".
func (e *Unreadable) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.What
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Run checks in. The error is an *Unreadable or a *template.ParameterError.
func Run(in Input) (*Report, error) {
	tree, err := template.Read(in.Pipeline.Text)
	if err != nil {
		return nil, in.Pipeline.unreadable(err)
	}
	r := &Report{Types: []string{}, Findings: []Finding{}, Totals: []Total{}, Partitions: max(1, in.Partitions)}
	p := r.pipeline(in.Pipeline)
	files := []string{in.Pipeline.Name}
	counting, known := aggregate.Marks, false
	if in.Template != nil {
		files = append(files, in.Template.Name)
		t, err := template.Open(in.Template.Text, in.Parameters)
		if err != nil {
			return nil, unreadable(in.Template.Name, err)
		}
		c := newChecker(in.Template.Name, t, p, places{in.Pipeline.Name, tree})
		counting, known = c.all()
		r.Findings = append(r.Findings, c.findings...)
	}
	if in.Was != nil {
		if err := r.changes(*in.Was, p, places{in.Pipeline.Name, tree}); err != nil {
			return nil, err
		}
	}
	if known {
		r.Counting = counting.String()
	}
	if p != nil {
		r.Types, r.Epoch, r.Totals = p.Types(), p.Epoch(), totals(p, counting, r.Partitions)
	}
	r.Findings = sorted(r.Findings, files...)
	return r, nil
}

// unreadable says in the pipeline's own words why the file cannot be read, and in those of the YAML reader if it could.
func (f File) unreadable(err error) error {
	var mistakes pipeline.Mistakes
	if _, failed := f.Load(pipeline.CheckOnly()); errors.As(failed, &mistakes) {
		first := mistakes[0]
		what := pipeline.Mistake{What: first.What, Instead: first.Instead}.String()
		return &Unreadable{f.Name, first.Line, first.Column, what + more(mistakes)}
	}
	return unreadable(f.Name, err)
}

// more counts the mistakes that are not shown beside the first.
func more(mistakes pipeline.Mistakes) string {
	if len(mistakes) == 1 {
		return ""
	}
	return " (and " + count(len(mistakes)-1, "more mistake") + ")"
}

func unreadable(file string, err error) error {
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return &Unreadable{file, syntax.Line, syntax.Column, syntax.What}
	}
	return err
}

// pipeline compiles the pipeline and takes over its mistakes and warnings; nil if it has mistakes.
func (r *Report) pipeline(f File) *pipeline.Pipeline {
	p, err := f.Load(pipeline.CheckOnly())
	var mistakes pipeline.Mistakes
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			r.Findings = append(r.Findings, fromPipeline(Mistake, m))
		}
		return nil
	}
	if err != nil { // not to be expected of a file that has been read
		r.Findings = append(r.Findings, Finding{Mistake, "pipeline", f.Name, 1, 1, err.Error(), ""})
		return nil
	}
	for _, w := range p.Warnings() {
		r.Findings = append(r.Findings, fromPipeline(Warning, w))
	}
	return p
}

func fromPipeline(severity Severity, m pipeline.Mistake) Finding {
	return Finding{severity, "pipeline", m.File, max(1, m.Line), max(1, m.Column), m.What, m.Instead}
}

// changes compares with an earlier file.
func (r *Report) changes(was File, p *pipeline.Pipeline, at places) error {
	old, err := was.Load(pipeline.CheckOnly())
	var mistakes pipeline.Mistakes
	switch {
	case errors.As(err, &mistakes):
		return &Unreadable{was.Name, mistakes[0].Line, mistakes[0].Column, mistakes[0].What + more(mistakes) + "; --was needs the file that is deployed now, which had none"}
	case err != nil:
		return &Unreadable{File: was.Name, What: err.Error()}
	case p == nil:
		return nil // its mistakes come first
	}
	for _, c := range pipeline.Changes(old, p) {
		pos := at.of(c.Subject, c.Member)
		what := strings.TrimPrefix(c.String(), "; ")
		severity := Change
		if c.Kind == pipeline.IndexChange {
			severity = Warning // it can be deployed: who reads the index must know of it
		}
		r.Findings = append(r.Findings, Finding{severity, "change-" + string(c.Kind), at.file, pos.Line, pos.Column, what, ""})
	}
	return nil
}

// oneFile is a file system of one file, whatever it is called: fs.FS itself refuses ../ and absolute names.
type oneFile File

func (f oneFile) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// ReadFile is what fs.ReadFile prefers.
func (f oneFile) ReadFile(string) ([]byte, error) { return f.Text, nil }
