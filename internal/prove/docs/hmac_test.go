package docs

import (
	"strings"
	"testing"
)

// TestPagesSayWhatHMACHides shows that each page that tells a user to hide data with hmac also says
// that the payload is stored in clear.
func TestPagesSayWhatHMACHides(t *testing.T) {
	for _, name := range []string{"README.md", "docs/pipeline.md", "docs/erasing.md", "docs/guarantees.md", "examples/shop/README.md",
		"docs/deploy.md"} {
		text := oneLine(t, name)
		if !strings.Contains(text, "stored in clear") && !strings.Contains(text, "payloads hide personal data") {
			t.Errorf("%s speaks of hmac and does not say that the payload is stored in clear", name)
		}
	}
}
