package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// These are lines as `go test -json` of Go 1.26 prints them, without Time and Elapsed.
const (
	passA = `{"Action":"start","Package":"m/a"}` + "\n" + `{"Action":"run","Package":"m/a","Test":"TestA"}` + "\n" +
		`{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}` + "\n" +
		`{"Action":"pass","Package":"m/a","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"m/a","Output":"PASS\n"}` + "\n" +
		`{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"m/a"}` + "\n"
	skipB = `{"Action":"start","Package":"m/b"}` + "\n" +
		`{"Action":"output","Package":"m/b","Test":"TestB/x","Output":"    b_test.go:9: no engine\n"}` + "\n" +
		`{"Action":"skip","Package":"m/b","Test":"TestB/x"}` + "\n" + `{"Action":"pass","Package":"m/b","Test":"TestB"}` + "\n" +
		`{"Action":"output","Package":"m/b","Output":"ok  \tm/b\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"m/b"}` + "\n"
	failC = `{"Action":"start","Package":"m/c"}` + "\n" +
		`{"Action":"output","Package":"m/c","Test":"TestC","Output":"    c_test.go:7: got 1, want 2\n"}` + "\n" +
		`{"Action":"fail","Package":"m/c","Test":"TestC"}` + "\n" + `{"Action":"output","Package":"m/c","Output":"FAIL\n"}` + "\n" +
		`{"Action":"output","Package":"m/c","Output":"FAIL\tm/c\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"m/c"}` + "\n"
	panicD = `{"Action":"start","Package":"m/d"}` + "\n" + `{"Action":"output","Package":"m/d","Test":"TestD","Output":"panic: boom\n"}` +
		"\n" + `{"Action":"output","Package":"m/d","Output":"FAIL\tm/d\t0.1s\n"}` + "\n" + `{"Action":"fail","Package":"m/d"}` + "\n"
	buildE = `{"ImportPath":"m/e [m/e.test]","Action":"build-output","Output":"e/e.go:3:1: undefined: x\n"}` + "\n" +
		`{"ImportPath":"m/e [m/e.test]","Action":"build-fail"}` + "\n" + `{"Action":"start","Package":"m/e"}` + "\n" +
		`{"Action":"output","Package":"m/e","Output":"FAIL\tm/e [build failed]\n"}` + "\n" +
		`{"Action":"fail","Package":"m/e","FailedBuild":"m/e [m/e.test]"}` + "\n"
	emptyF = `{"Action":"start","Package":"m/f"}` + "\n" + `{"Action":"output","Package":"m/f","Output":"?   \tm/f\t[no test files]\n"}` +
		"\n" + `{"Action":"skip","Package":"m/f"}` + "\n"
	cutG = `{"Action":"start","Package":"m/g"}` + "\n" + `{"Action":"pass","Package":"m/g","Test":"TestG"}` + "\n"
)

func TestRun(t *testing.T) {
	tests := []struct {
		name, list, in string
		code           int
		out, errs      []string // parts of the output, in order
		absent         string   // it must not occur in either
	}{
		{"all passed", "", passA, 0, []string{"ok  \tm/a\t0.1s\n", "1 tests passed, 0 failed, 0 skipped"}, nil, "=== RUN"},
		{"a package without tests is not a skipped test", "", passA + emptyF, 0, []string{"?   \tm/f\t[no test files]\n"}, nil, "skips:"},
		{"unlisted skip", "", skipB, 1, []string{"no engine", "1 tests passed, 0 failed, 1 skipped"},
			[]string{"m/b.TestB/x was skipped and is not on the list"}, ""},
		{"a test that another run does not skip", "", skipB + strings.Replace(skipB, `"Action":"skip"`, `"Action":"pass"`, 1), 0,
			[]string{"1 skipped"}, nil, "not on the list"},
		{"listed skip", "# header\n\nm/b.TestB/x needs a thing\n", skipB, 0, []string{"1 skipped"}, nil, "not on the list"},
		{"another test of that name is not listed", "m/z.TestB/x needs a thing\n", skipB, 1, nil, []string{"m/b.TestB/x was skipped"}, ""},
		{"the parent's entry does not cover it", "m/b.TestB needs a thing\n", skipB, 1, nil, []string{"m/b.TestB/x was skipped"}, ""},
		{"failed test", "", passA + failC, 1, []string{"got 1, want 2", "FAIL\tm/c", "1 tests passed, 1 failed"},
			[]string{"package m/c failed"}, ""},
		{"panic", "", panicD, 1, []string{"panic: boom", "FAIL\tm/d"}, []string{"package m/d failed", "no test ran"}, ""},
		{"build failure", "", passA + buildE, 1, []string{"undefined: x", "[build failed]"}, []string{"package m/e failed"}, ""},
		{"no tests", "", emptyF, 1, nil, []string{"no test ran"}, ""},
		{"empty stream", "", "", 1, nil, []string{"no test ran"}, ""},
		{"only skips is not a run", "m/h.TestH why\n", `{"Action":"skip","Package":"m/h","Test":"TestH"}`, 1, nil,
			[]string{"no test ran"}, ""},
		{"cut short", "", passA + cutG, 1, nil, []string{"package m/g did not finish"}, ""},
		{"other lines pass through", "", "make: entering\n{}\n" + passA, 0, []string{"make: entering\n{}\nok"}, nil, ""},
		{"entry without reason", "m/b.TestB/x\n", skipB, 2, nil, []string{"list.txt:1: m/b.TestB/x has no reason"}, ""},
		{"nor what is below it", "m/integration/contract.TestS3 slow\n", passA, 2, nil,
			[]string{"list.txt:1: m/integration/contract.TestS3 may not be skipped"}, ""},
		{"integration may not be listed", "\nm/integration.TestS3 slow\n", passA, 2, nil,
			[]string{"list.txt:2: m/integration.TestS3 may not be skipped"}, ""},
		{"unless no image can run it", "m/integration.TestS3 no image: has no S3\nm/b.TestB/x why\n", skipB, 0, []string{"1 skipped"}, nil,
			"may not be skipped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "list.txt")
			must.Write(t, list, tt.list)
			var stdout, stderr bytes.Buffer
			if code := run([]string{list}, strings.NewReader(tt.in), &stdout, &stderr); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			inOrder(t, stdout.String(), tt.out)
			inOrder(t, stderr.String(), tt.errs)
			if tt.absent != "" && strings.Contains(stdout.String()+stderr.String(), tt.absent) {
				t.Errorf("output contains %q:\n%s%s", tt.absent, &stdout, &stderr)
			}
		})
	}
}

func inOrder(t *testing.T, text string, parts []string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Errorf("%q is missing or out of order in:\n%s", part, text)
			return
		}
		rest = after
	}
}

func TestRunNeedsAReadableList(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(nil, strings.NewReader(passA), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "usage:") {
		t.Errorf("without a list: exit code %d, %q", code, &stderr)
	}
	stderr.Reset()
	if code := run([]string{filepath.Join(t.TempDir(), "none")}, strings.NewReader(passA), &stdout, &stderr); code != 2 ||
		!strings.Contains(stderr.String(), "no such file") {
		t.Errorf("with a list that is not there: exit code %d, %q", code, &stderr)
	}
}

// TestShippedList shows that CI can read the committed list.
func TestShippedList(t *testing.T) {
	if _, err := readList("../../.ci/skips.txt"); err != nil {
		t.Error(err)
	}
}
