package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The heart is read in at most twelve files, and in one sentence each. TestLinks shows that they
// exist.
func TestReadingList(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "docs/reading.md"), "## The heart, in twelve files")
	list, _, _ = strings.Cut(list, "To follow one event")
	files := regexp.MustCompile(`(?m)^\d+\. \[\S+\.go\]\(\.\./\S+\.go\): `).FindAllString(list, -1)
	must.Equal(t, len(files), 12)
}
