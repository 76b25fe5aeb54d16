package docs

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A shell can read every block of commands.
func TestShellSyntax(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not on PATH; to have this test run, install it")
	}
	for _, name := range documents(t) {
		for _, b := range blocks(t, name) {
			if b.info != "sh" {
				continue
			}
			cmd := exec.Command(bash, "-n")
			cmd.Stdin = strings.NewReader(b.text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v: %s", name, b.line, err, out)
			}
		}
	}
}

var (
	setVariable  = regexp.MustCompile(`(?:^|\s)([A-Z][A-Z_]+)=`)
	usedVariable = regexp.MustCompile(`\$([A-Z][A-Z_]+)`)
	output       = regexp.MustCompile(`\$\(output (\w+)\)`)
)

// Every variable that a command of the operating guide uses is set further up, and every output that one is set from
// is one of the template's.
func TestNamesOfAStack(t *testing.T) {
	_, outputs, found := strings.Cut(read(t, "template.yaml"), "\nOutputs:\n")
	if !found {
		t.Fatal("the template has no outputs")
	}
	var known []string
	for _, b := range blocksOf(t, operatingPage, "sh") {
		for line := range strings.Lines(b.text) {
			for _, m := range output.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(outputs, "  "+m[1]+": ") {
					t.Errorf("template.yaml has no output %s", m[1])
				}
			}
			for _, m := range usedVariable.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("$%s is set nowhere before: %s", m[1], line)
				}
			}
			for _, m := range setVariable.FindAllStringSubmatch(line, -1) {
				known = append(known, m[1])
			}
		}
	}
	if len(known) < 10 {
		t.Errorf("only %v are set", known)
	}
}
