package docs

import (
	"regexp"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The heart is read in at most twelve files, and in one sentence each. TestLinks shows that they
// exist.
func TestReadingList(t *testing.T) {
	list := between(t, "docs/reading.md", "## The heart, in twelve files", "To follow one event")
	files := regexp.MustCompile(`(?m)^\d+\. \[\S+\.go\]\(\.\./\S+\.go\): `).FindAllString(list, -1)
	must.Equal(t, len(files), 12)
}
