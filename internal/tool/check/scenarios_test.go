package check

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// TestScenarios plays the files of testdata/scenarios. A scenario begins with # and its name, and
// has the sample's pipeline.yaml and template.yaml. Its lines change them one after the other:
//
//	@FILE            the next lines change this file
//	-OLD, +NEW       the lines after - are replaced by those after +, once; + alone is a whole file
//	cp, rm           copies a file, removes one
//	with NAME=VALUE  sets a parameter of the template
//	env NAME         has one environment of samconfig.toml checked alone
//	check            checks the files; what it says follows after >
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
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, file, played(t, string(text)))
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
			s = &scene{T: t, name: name, at: "template.yaml", parameters: map[string]string{},
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
	case line == "check":
		return s.check()
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

// check checks the files, and returns two lines for each finding and the last line of the command.
func (s *scene) check() string {
	file := func(name string) *textfile.File {
		if text, there := s.files[name]; there {
			return &textfile.File{Name: name, Text: []byte(text)}
		}
		return nil
	}
	in := Input{Pipeline: *file("pipeline.yaml"), Template: file("template.yaml"), Config: file("samconfig.toml"),
		Migration: file("migration.yaml"), Publish: file("publish.yaml"), Next: file("next.yaml"), Was: file("old.yaml"),
		Parameters: maps.Clone(s.parameters), ConfigEnv: s.env, Partitions: 4, Now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	r, err := Run(in)
	if err != nil {
		return fmt.Sprintf("> %v\n", err)
	}
	var b strings.Builder
	for _, f := range r.Findings {
		line := []rune(strings.Split(s.files[f.File], "\n")[f.Line-1])
		at := string(line[:f.Column-1]) + "|" + string(line[f.Column-1:])
		_, what, _ := strings.Cut(strings.TrimPrefix(f.String(), f.File), ": ")
		what = strings.TrimPrefix(what, "warning: ")
		fmt.Fprintf(&b, "> %s %s, %s: %s\n>   %s\n", f.Severity, f.Rule, f.File, strings.TrimSpace(at), what)
	}
	return b.String() + "> " + r.summary(in) + "\n"
}

// The rule of docs/deploy.md for the payloads of order.placed is the one of the scenarios.
func TestTheRuleOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../../../docs/deploy.md")
	scenarios, err2 := os.ReadFile("testdata/scenarios/payloads.txt")
	rule := regexp.MustCompile(`(?m)^- \{Id: order.placed, .*\}$`).Find(page)
	if err != nil || err2 != nil || rule == nil || !bytes.Contains(scenarios, rule) {
		t.Errorf("%v, %v: %s", err, err2, rule)
	}
}
