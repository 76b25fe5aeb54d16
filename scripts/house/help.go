package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// help measures what --help of each command prints. help and completion come with cobra, and are
// not counted.
type help struct {
	tool                   string // the built program
	words, commands, flags int
}

// commandLine measures the command line of the tool, which it builds.
func commandLine(root string) ([]number, error) {
	folder, err := os.MkdirTemp("", "house")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	h := help{tool: filepath.Join(folder, "ingot")}
	build := exec.Command("go", "run", "-exec", "cp", "./cmd/ingot", h.tool) // go run keeps it in the build cache
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go run: %w\n%s", err, out)
	}
	if err := h.walk(nil); err != nil {
		return nil, err
	}
	return []number{{what: helpWords, now: h.words}, {what: commandCount, now: h.commands}, {what: flagCount, now: h.flags}}, nil
}

// walk measures a command and those below it.
func (h *help) walk(path []string) error {
	text, err := exec.Command(h.tool, append(path, "--help")...).Output()
	if err != nil {
		return fmt.Errorf("ingot %s --help: %w", strings.Join(path, " "), err)
	}
	for _, name := range h.add(string(text)) {
		if err := h.walk(append(path[:len(path):len(path)], name)); err != nil {
			return err
		}
	}
	return nil
}

var (
	section  = regexp.MustCompile(`^([A-Z][A-Za-z ]*):$`)
	declared = regexp.MustCompile(`^ +(?:-\w, )?--([a-z-]+)`)
	listed   = regexp.MustCompile(`^  (\S+) +\S`)
)

// add counts one help, and returns the commands below. A global flag is one of the root's flags,
// and stands in another section everywhere else.
func (h *help) add(text string) (below []string) {
	h.commands++
	h.words += len(strings.Fields(text))
	in := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := section.FindStringSubmatch(line); m != nil {
			in = m[1]
		}
		if m := declared.FindStringSubmatch(line); m != nil && in == "Flags" && m[1] != "help" {
			h.flags++
		}
		if m := listed.FindStringSubmatch(line); m != nil && in == "Available Commands" && m[1] != "help" && m[1] != "completion" {
			below = append(below, m[1])
		}
	}
	return below
}
