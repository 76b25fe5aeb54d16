package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestPins shows that the versions that the scripts name are those whose hashes are pinned, that
// every pinned package has a hash, and that every image is pulled by its digest.
func TestPins(t *testing.T) {
	read := func(name string) string {
		text := must.Read(t, "../../../scripts/"+name)
		return string(text)
	}
	for _, pin := range []struct{ script, variable, file, pkg string }{
		{"uv.sh", "version", "uv.txt", "uv"},
		{"localstack-image.sh", "version", "localstack.txt", "localstack-core"},
	} {
		m := regexp.MustCompile(`(?m)\b` + pin.variable + `=([0-9.]+)`).FindStringSubmatch(read(pin.script))
		if m == nil {
			t.Fatalf("%s names no %s", pin.script, pin.variable)
		}
		if want := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(pin.pkg) + `(\[runtime\])?==` + regexp.QuoteMeta(m[1]) +
			` `); !want.MatchString(read("pins/" + pin.file)) {
			t.Errorf("%s is at %s %s, which pins/%s does not have", pin.script, pin.pkg, m[1], pin.file)
		}
	}
	for _, file := range []string{"uv.txt", "sam.txt", "awscli.txt", "localstack.txt"} {
		lines := strings.Split(strings.TrimSpace(read("pins/"+file)), "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, " ") && (i+1 == len(lines) || !strings.Contains(lines[i+1], "--hash=sha256:")) {
				t.Errorf("pins/%s: %s has no hash", file, line)
			}
		}
	}
	for _, script := range []string{"localstack-image.sh", "lambda-base-image.sh"} {
		if !regexp.MustCompile(`(?m)^digest=sha256:[0-9a-f]{64} `).MatchString(read(script)) {
			t.Errorf("%s pulls an image without a digest", script)
		}
	}
	// The tests pull the same image as the script, and the pages have their readers do so.
	digest := regexp.MustCompile(`(?m)^digest=(\S+)`).FindStringSubmatch(read("localstack-image.sh"))[1]
	for _, name := range []string{"../internal/prove/peers/endpoint/endpoint.go", "../docs/without.md", "../events/README.md"} {
		must.Say(t, read(name), digest)
	}
}
