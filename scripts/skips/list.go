package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// noImage is the beginning of the reason for skipping a test in integration.
const noImage = "no image: "

// readList reads the tests that may be skipped. Each line holds the import path, a dot and the name
// of a test, and then the reason. Blank lines and lines that begin with # do not count.
//
// A line without a reason is an error. So is a test in integration, because those tests exist to
// run in CI. It is allowed only if no image that CI can have runs the test.
func readList(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	allowed := make(map[string]string)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		reason = strings.TrimSpace(reason)
		if reason == "" {
			return nil, fmt.Errorf("%s:%d: %s has no reason; write why it may be skipped after its name", path, n, name)
		}
		integration := strings.Contains(name, "/integration.") || strings.Contains(name, "/integration/")
		if integration && !strings.HasPrefix(reason, noImage) {
			return nil, fmt.Errorf("%s:%d: %s may not be skipped: CI has Docker; make it run, or begin the reason with %q if no image can",
				path, n, name, noImage)
		}
		allowed[name] = reason
	}
	return allowed, lines.Err()
}
