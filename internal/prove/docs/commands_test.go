package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere lists commands that do not belong to this repository.
var elsewhere = []string{"alias", "aws", "basename", "cd", "cp", "docker", "export", "git", "head", "jq", "mkdir", "python3", "sam",
	"sed", "test"}

// testCommands checks that every command of this repository in a document exists, with its flags.
func testCommands(t *testing.T, binary string) {
	found := 0
	for _, b := range everyBlock(t, "sh") {
		for n, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
			line, _, _ = strings.Cut(line, "  #")
			for _, command := range commandsOf(line) {
				if what := checkCommand(t, binary, strings.Fields(command)); what != "" {
					t.Errorf("%s:%d: %s: %s", b.file, b.line+n, strings.TrimSpace(command), what)
				}
				found++
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands found", found)
	}
}

// commandsOf returns the commands that a line pipes together or runs in turn.
func commandsOf(line string) []string {
	var quote rune
	return strings.FieldsFunc(line, func(r rune) bool {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		return quote == 0 && (r == '|' || r == '&')
	})
}

// checkCommand returns what is wrong with a command line. It returns an empty text if nothing is
// wrong.
func checkCommand(t *testing.T, binary string, words []string) string {
	t.Helper()
	for len(words) > 0 && assignment.MatchString(words[0]) {
		if _, command, is := strings.Cut(words[0], `="$(`); is { // what it prints is the value
			words[0] = command
			break
		}
		words = words[1:]
	}
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "#") || strings.HasSuffix(words[0], "()"): // nothing, or a function of the shell
		return ""
	case words[0] == "ingot":
		return checkIngot(t, binary, words[1:])
	case len(words) > 3 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/ingot":
		return checkIngot(t, binary, words[3:])
	case words[0] == "go":
		return checkGo(t, words[1:])
	case words[0] == "make":
		return checkMake(t, strings.Fields(quotedText.ReplaceAllString(strings.Join(words[1:], " "), "")))
	case strings.Contains(words[0], "/"):
		return mustExist(words[0])
	case !slices.Contains(elsewhere, words[0]):
		return "an unknown command; if it is not of this repository, add it to the list in this test"
	}
	return ""
}

var quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'`)

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

func checkIngot(t *testing.T, binary string, words []string) string {
	t.Helper()
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return ""
	}
	name := words[:1]
	group := slices.Contains([]string{"archive", "migrate", "quarantine"}, words[0]) // it has commands of its own
	if len(words) > 1 && (group && !strings.HasPrefix(words[1], "-") ||
		words[0] == "rebuild" && slices.Contains([]string{"parts", "mend"}, words[1])) {
		name = words[:2]
	}
	help, err := exec.Command(binary, append(slices.Clone(name), "--help")...).CombinedOutput()
	if err != nil || !strings.Contains(string(help), "ingot "+strings.Join(name, " ")) {
		return "there is no command " + strings.Join(name, " ")
	}
	if strings.Contains(string(help), "ingot help stack") { // which has the flags that such commands share
		topic, err := exec.Command(binary, "help", "stack").Output()
		if err != nil {
			return err.Error()
		}
		help = append(help, topic...)
	}
	for _, word := range words[1:] {
		flag, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).Match(help) {
			return "it has no flag " + flag
		}
		if strings.HasPrefix(word, "events/") && mustExist(word) != "" {
			return mustExist(word)
		}
	}
	return ""
}

// checkGo checks packages and names of tests.
func checkGo(t *testing.T, words []string) string {
	t.Helper()
	var packages, tests []string
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "./") && !strings.HasSuffix(word, "..."):
			packages = append(packages, strings.TrimSuffix(word, "/"))
		case i > 0 && (words[i-1] == "-run" || words[i-1] == "-fuzz"):
			tests = append(tests, strings.Trim(word, "'^$"))
		}
	}
	for _, pkg := range packages {
		if what := mustExist(pkg); what != "" {
			return what
		}
		for _, test := range tests {
			if !testExists(t, strings.TrimPrefix(pkg, "./"), test) && !testExists(t, filepath.Base(pkg), test) {
				return "there is no test " + test + " in " + pkg
			}
		}
	}
	return ""
}

func checkMake(t *testing.T, words []string) string {
	t.Helper()
	// docs/deploy.md is for the repository that ingot init makes.
	makefile := read(t, "Makefile") + read(t, "internal/tool/scaffold/files/Makefile.tmpl")
	for _, target := range words {
		if !assignment.MatchString(target) && !strings.Contains(makefile, "\n"+target+":") {
			return "there is no target " + target
		}
	}
	return ""
}

func mustExist(name string) string {
	if !exists(name) {
		return "there is no " + name
	}
	return ""
}
