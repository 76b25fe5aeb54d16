package main

import (
	"regexp"
	"strings"
	"testing"
)

// A damaged total is mended in place, and a flag is accepted only with --yes.
func TestMendAndAccept(t *testing.T) {
	w := newDevWorld(t)
	w.sales(5)
	w.alter("ADD cents :v, fp :v", "1")
	w.run(exitDifference, "verify", "--local")
	if got := w.run(exitFine, "rebuild", "--mend", "--local"); got.out != "mended: sales since 1\n1 total mended, 0 not\n" ||
		!strings.Contains(got.errors, "this changes ingot dev") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitFine, "verify", "--local"); got.out != "5 items, 1 total: no difference\n" {
		t.Errorf("%s", got.out)
	}
	if got := w.run(exitFine, "rebuild", "--mend", "sales", "--local", "--output", "json"); strings.Contains(got.out, `"mended"`) {
		t.Errorf("there was nothing to mend: %s", got.out)
	}
	w.alter("SET fpx = :v, flag = if_not_exists(flag, PK)", "7") // some of its events have expired
	if got := w.run(exitDifference, "rebuild", "--mend", "--local"); !strings.Contains(got.out,
		"not mended: sales since 1: it holds events that have expired, so it cannot be computed again\n0 totals mended, 1 not\n") {
		t.Errorf("%s", got.out)
	}
	if got := w.run(exitRefused, "rebuild", "--accept", "--local"); got.out != "" ||
		!strings.Contains(got.errors, "flagged: sales since 1: A#sales#1#0\n") ||
		!strings.Contains(got.errors, "write --yes to accept these flags") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitFine, "rebuild", "--accept", "sales", "--local",
		"--yes"); !regexp.MustCompile(`^accepted: sales since 1: A#sales#1#0\n1 flag accepted by \S+\n$`).MatchString(got.out) {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitFine, "totals", "sales", "--local"); !regexp.MustCompile(`flag: accepted \S+ by \S+: A#sales#1#0`).MatchString(
		got.out) {
		t.Errorf("%s", got.out)
	}
	if got := w.run(exitUsage, "rebuild", "--mend", "--accept", "--local"); !strings.Contains(got.errors, "write one of them") {
		t.Errorf("%s", got.errors)
	}
}
