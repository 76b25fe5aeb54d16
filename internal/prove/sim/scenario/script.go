package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// step is one command of a script.
type step struct {
	above  []string // comments and empty lines before it, unchanged
	line   int
	words  []string // the command and its arguments
	raw    string
	body   []string // input lines
	output []string
}

// separator is the line between a command with its input and what was seen.
const separator = "----"

// script is a file split into steps, and what comes after the last step.
type script struct {
	steps []*step
	below []string
}

// parse splits a script. Output ends at the first empty line.
func parse(text string) (*script, error) {
	s := &script{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var above []string
	for i := 0; i < len(lines); {
		if strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], "#") {
			above = append(above, lines[i])
			i++
			continue
		}
		st := &step{above: above, line: i + 1, raw: lines[i], words: strings.Fields(lines[i])}
		above = nil
		for i++; i < len(lines) && lines[i] != separator; i++ {
			if lines[i] == "" {
				return nil, fmt.Errorf("line %d: %q has no %s under it", st.line, st.raw, separator)
			}
			st.body = append(st.body, lines[i])
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: %q has no %s under it", st.line, st.raw, separator)
		}
		for i++; i < len(lines) && lines[i] != ""; i++ {
			st.output = append(st.output, lines[i])
		}
		s.steps = append(s.steps, st)
	}
	s.below = above
	return s, nil
}

// String returns the script as text, with the output that it holds now.
func (s *script) String() string {
	var b strings.Builder
	write := func(lines []string) {
		for _, line := range lines {
			b.WriteString(line + "\n")
		}
	}
	for _, st := range s.steps {
		write(st.above)
		write([]string{st.raw})
		write(st.body)
		write([]string{separator})
		write(st.output)
	}
	write(s.below)
	return b.String()
}

// Run plays a script and returns it with what was seen under each command. files holds the
// pipelines that the script names. An error means that the script is wrong: a command does not
// exist, or an argument makes no sense.
func Run(files fs.FS, text string) (string, error) {
	s, err := parse(text)
	if err != nil {
		return "", err
	}
	w := &world{files: files}
	defer w.close()
	for i, st := range s.steps {
		if (i == 0) != (st.words[0] == "world") {
			return "", fmt.Errorf("line %d: a script has one world, and it is its first command", st.line)
		}
		if err := w.play(st); err != nil {
			return "", fmt.Errorf("line %d: %s: %w", st.line, st.raw, err)
		}
	}
	return s.String(), nil
}

// play runs one step and puts what was seen under it.
func (w *world) play(st *step) error {
	c, ok := commands[st.words[0]]
	if !ok {
		return errors.New("no such command; see README.md beside the scripts")
	}
	if len(st.body) > 0 && !c.input {
		return errors.New("takes no input lines")
	}
	a := &arguments{left: st.words[1:], body: st.body}
	out := &report{}
	if err := c.run(w, a, out); err != nil {
		return err
	}
	if err := a.done(); err != nil {
		return err
	}
	if st.output = out.lines(); len(st.output) == 0 {
		st.output = []string{"nothing"}
	}
	return nil
}
