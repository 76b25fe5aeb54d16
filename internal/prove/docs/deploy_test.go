package docs

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBuildAndDeployReadTheSameParameters shows that the parameters of the template are where both
// sam build and sam deploy read them. If they were only under deploy, the build would not know of
// Architecture=x86_64, and would put an arm64 binary into an x86_64 function.
func TestBuildAndDeployReadTheSameParameters(t *testing.T) {
	section, found := "", []string{}
	for line := range strings.Lines(read(t, "samconfig.toml")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		}
		if strings.HasPrefix(line, "parameter_overrides") {
			found = append(found, section)
		}
	}
	if got, want := strings.Join(found, " "), "default.global.parameters prod.global.parameters"; got != want {
		t.Errorf("parameter_overrides under %s, want them under %s", got, want)
	}
}

// TestMakeDeploy checks what make would run for the two commands that must agree.
func TestMakeDeploy(t *testing.T) {
	path, err := exec.LookPath("make")
	if err != nil {
		t.Skip("make is not on PATH; to have this test run, install it")
	}
	plan := func(words ...string) (string, error) {
		cmd := exec.Command(path, append([]string{"-n"}, words...)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := plan("deploy", "CONFIG=prod", "DEPLOYFLAGS=--no-confirm-changeset")
	if err != nil || !strings.Contains(out, "build --config-env prod") ||
		!strings.Contains(out, "deploy --config-env prod --no-confirm-changeset") || strings.Contains(out, "Architecture=") {
		t.Errorf("make deploy would run, %v:\n%s", err, out)
	}
	if out, err := plan("build", "LOCAL=1"); err != nil || !strings.Contains(out, "--parameter-overrides Architecture=") {
		t.Errorf("make build LOCAL=1 is not for this machine's processor, %v:\n%s", err, out)
	}
	for _, surplus := range []string{"LOCAL=1", "SAMFLAGS=--parameter-overrides Architecture=x86_64",
		"DEPLOYFLAGS=--parameter-overrides MemorySize=256"} {
		cmd := exec.Command(path, "deployable", surplus)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "stand in samconfig.toml") {
			t.Errorf("make deploy %s is not refused: %s", surplus, out)
		}
	}
}
