package check

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// TestScenarios plays the files of testdata/scenarios. A scenario begins with # and its name, and
// has the sample's pipeline.yaml and template.yaml. Its lines change them one after the other:
//
//	@FILE            the next lines change this file
//	-OLD, +NEW       the lines after - are replaced by those after +, once; + alone is a whole file
//	cp, rm           copies a file, removes one
//	with NAME=VALUE  sets a parameter of the template
//	env NAME         has one environment of samconfig.toml checked alone
//	rate N           sets the changes a second to keep up with
//	partitions N     sets the partitions of the events table, which are 4
//	check            checks the files, with the events of events.ndjson; what it says follows after >
//	totals           checks them for the table of what totals cost
//	follow           does what check says to write; the lines that this changes follow after >
//
// The tests that take long try what check says to write after each check: see [scene.follow].
//
// Lines before the first scenario begin each of them, and those after ; are for people. What check
// says is written anew by go test -update.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			golden.File(t, file, played(t, string(must.Read(t, file))))
		})
	}
}

// played plays a file of scenarios, and returns it with what check says now.
func played(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	first, _, _ := strings.Cut(text, "\n# ")
	s := &scene{T: t}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ">") {
			continue
		}
		fmt.Fprintln(&out, line)
		if name, begins := strings.CutPrefix(line, "# "); begins {
			s = &scene{T: t, name: name, at: "template.yaml", partitions: 4, parameters: map[string]string{},
				files: map[string]string{"pipeline.yaml": read(t, "pipeline.yaml"), "template.yaml": read(t, "template.yaml")}}
			for line := range strings.Lines(first) {
				s.play(strings.TrimSuffix(line, "\n"))
			}
		} else if s.files != nil {
			out.WriteString(s.play(line))
		}
	}
	return out.String()
}

// scene is one scenario.
type scene struct {
	*testing.T
	name       string
	files      map[string]string
	at         string   // the file that is changed
	old, new   []string // lines that are replaced next, and by what
	parameters map[string]string
	env        string
	rate       float64
	partitions int
}

// play plays one line, and returns what check says.
func (s *scene) play(line string) (said string) {
	s.Helper()
	if old, is := strings.CutPrefix(line, "-"); is {
		if len(s.new) > 0 {
			s.replace()
		}
		s.old = append(s.old, old)
		return ""
	}
	if text, is := strings.CutPrefix(line, "+"); is {
		s.new = append(s.new, text)
		return ""
	}
	s.replace()
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "" || word == ";":
	case line == "check" || line == "totals":
		return s.check(line == "totals")
	case line == "follow":
		before, after := s.input(), s.input()
		s.follow(after, run(s.T, after).Findings)
		return changed(before.Template, after.Template) + changed(before.Config, after.Config)
	case strings.HasPrefix(line, "@"):
		s.at = line[1:]
	case word == "cp":
		from, to, _ := strings.Cut(rest, " ")
		s.files[to] = s.files[from]
	case word == "rm":
		delete(s.files, rest)
	case word == "with":
		name, value, _ := strings.Cut(rest, "=")
		s.parameters[name] = value
	case word == "env":
		s.env = rest
	case word == "rate":
		s.rate, _ = strconv.ParseFloat(rest, 64)
	case word == "partitions":
		s.partitions, _ = strconv.Atoi(rest)
	default:
		s.Errorf("%s: %q is no line of a scenario", s.name, line)
	}
	return ""
}

func (s *scene) replace() {
	s.Helper()
	old, text := strings.Join(s.old, "\n"), strings.Join(s.new, "\n")
	switch {
	case len(s.old) > 0:
		if len(s.new) == 0 {
			old += "\n"
		}
		s.files[s.at] = replace(s.T, s.files[s.at], [][2]string{{old, text}})
	case len(s.new) > 0:
		s.files[s.at] = text + "\n"
	}
	s.old, s.new = nil, nil
}

// input returns the files as check gets them.
func (s *scene) input() Input {
	s.Helper()
	file := func(name string) *textfile.File {
		if text, there := s.files[name]; there {
			return &textfile.File{Name: name, Text: []byte(text)}
		}
		return nil
	}
	in := Input{Pipeline: *file("pipeline.yaml"), Template: file("template.yaml"), Config: file("samconfig.toml"),
		Migration: file("migration.yaml"), Publish: file("publish.yaml"), Next: file("next.yaml"), Was: file("old.yaml"),
		Parameters: maps.Clone(s.parameters), ConfigEnv: s.env, Rate: s.rate, Partitions: s.partitions,
		Now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	if events := file("events.ndjson"); events != nil {
		p, err := in.Pipeline.Load(pipeline.CheckOnly())
		if err == nil {
			in.Events, err = (&sample.Sampler{Pipeline: p, Now: in.Now}).Read(events.Name, bytes.NewReader(events.Text))
		}
		if err != nil {
			s.Fatal(s.name, err)
		}
	}
	return in
}

// check checks the files. It returns two lines for each finding, what check says of a rate and of
// events, and its last line. Or it returns the table of totals.
func (s *scene) check(totals bool) string {
	s.Helper()
	in := s.input()
	r, err := Run(in)
	if err != nil {
		return fmt.Sprintf("> %v\n", err)
	}
	var b strings.Builder
	if totals {
		r.writeTotals(&b)
		return "> " + strings.ReplaceAll(strings.TrimSpace(b.String()), "\n", "\n> ") + "\n"
	}
	for _, f := range r.Findings {
		line := []rune(strings.Split(s.files[f.File], "\n")[f.Line-1])
		at := string(line[:f.Column-1]) + "|" + string(line[f.Column-1:])
		_, what, _ := strings.Cut(strings.TrimPrefix(f.String(), f.File), ": ")
		what = strings.TrimPrefix(what, "warning: ")
		fmt.Fprintf(&b, "> %s %s, %s: %s\n>   %s\n", f.Severity, f.Rule, f.File, strings.TrimSpace(at), what)
	}
	more := ""
	if r.Capacity != nil {
		more += r.Capacity.text()
	}
	if r.Events != nil {
		more += r.Events.Text()
	}
	for line := range strings.Lines(more + r.summary(in) + "\n") {
		b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
	}
	if slow.All() {
		s.follow(in, r.Findings)
	}
	return b.String()
}

// What the guides say to write for a payload bucket and for floors, the scenarios accept.
func TestWhatTheGuidesSay(t *testing.T) {
	for says, names := range map[string][2]string{`(?m)^- \{Id: order.placed, .*\}$`: {"deploy.md", "payloads.txt"},
		"(?s)\n  QuarantineAlarm:\n.*?\n```": {"watch.md", "floors.txt"}} {
		scenarios := must.Read(t, "testdata/scenarios/"+names[1])
		text := regexp.MustCompile(says).Find(must.Read(t, "../../../docs/"+names[0]))
		if text == nil {
			t.Errorf("%s does not say it", names[0])
		}
		for line := range bytes.Lines(bytes.TrimSuffix(text, []byte("```"))) {
			if !bytes.Contains(scenarios, line) {
				t.Errorf("%s says what is not in %s: %s", names[0], names[1], line)
			}
		}
	}
}
