package demo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/show"
)

// TestVerifySaysWhatItComparesInPart shows what happens after everything expired. Totals of a
// window that keep what expired can then be compared only by n. The summary counts them, and the
// text says so. Before that, each total is compared as a whole.
func TestVerifySaysWhatItComparesInPart(t *testing.T) {
	s := mustRun(t, firstDays(t, 0))
	verify := func(checks []Check) Check {
		return checks[slices.IndexFunc(checks, func(c Check) bool { return c.Name == "verify" })]
	}
	keep := s.Expiry.Checks[slices.IndexFunc(s.Expiry.Checks, func(c Check) bool { return c.Name == "keep" })]
	before, after := verify(s.Checks), verify(s.Expiry.Checks)
	if before.Partly+before.Expired != 0 || strings.Contains(before.About, "(") {
		t.Errorf("before: %+v", before)
	}
	if after.Expired == 0 || after.Expired != keep.Compared {
		t.Errorf("after: %d totals are compared by n, and %d are kept", after.Expired, keep.Compared)
	}
	var text bytes.Buffer
	if err := s.Text(&text, 3); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), fmt.Sprintf("(%s by n alone", show.Comma(after.Expired))); n != 1 {
		t.Errorf("the text says %d times that totals are compared by n", n)
	}
}
