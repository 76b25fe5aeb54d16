package main

import (
	"strings"
	"testing"
)

// Parts that are missing come back, and a second pass finds none.
func TestRebuildParts(t *testing.T) {
	w := hashedShop(t, "rebuild")
	w.lose(t)
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"--dry-run", exitFine, "", "ingot: rebuild parts takes "},
		{"orders_daily", exitUsage, "", `ingot rebuild parts takes no argument "orders_daily"`},
		{"--rate 100", exitUsage, "", "unknown flag"},
		{"", exitFine, "5 parts of 2 events missing, 5 put\n", "this changes stack shop"},
		{"--output json", exitFine, `{
  "wholes": 2,
  "missing": 0,
  "put": 0,
  "refused": []
}`, "this changes stack shop"},
	} {
		o := tool(t, "rebuild parts --stack shop "+c.line)
		if o.code != c.code || !strings.Contains(o.out, c.out) || c.out == "" && o.out != "" || !strings.Contains(o.errors, c.err) {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.line, o.code, c.code, o.out, o.errors)
		}
	}
}
