package docs

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
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
	must.Match(t, found, []string{"default.global.parameters", "prod.global.parameters"})
}

// TestMakeDeploy checks what make would run for the two commands that must agree.
func TestMakeDeploy(t *testing.T) {
	need(t, "make")
	out := run(t, root, "make", "-n", "deploy", "CONFIG=prod", "DEPLOYFLAGS=--no-confirm-changeset")
	must.Say(t, out, "build --config-env prod", "deploy --config-env prod --no-confirm-changeset")
	must.Equal(t, strings.Contains(out, "Architecture="), false, out)
	must.Say(t, run(t, root, "make", "-n", "build", "LOCAL=1"), "--parameter-overrides Architecture=") // this machine's processor
	for _, surplus := range []string{"LOCAL=1", "SAMFLAGS=--parameter-overrides Architecture=x86_64",
		"DEPLOYFLAGS=--parameter-overrides MemorySize=256"} {
		cmd := exec.Command("make", "deployable", surplus)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "stand in samconfig.toml") {
			t.Errorf("make deploy %s is not refused: %s", surplus, out)
		}
	}
}
