package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// testEvent is one line of `go test -json` (see go doc test2json). Build output has an ImportPath
// but no Package.
type testEvent struct {
	Action     string
	Package    string
	Test       string
	Output     string
	ImportPath string
}

// report prints a stream of test events and counts them. It holds back the output of a test until
// it knows whether anyone needs to see it.
type report struct {
	out     io.Writer
	held    map[string][]byte // output so far, by package or package.Test
	open    map[string]bool   // packages that began but have not finished
	broken  []string          // packages that failed
	skipped []string          // package.Test
	ran     map[string]bool   // package.Test, of those that passed
	passed  int               // tests and subtests, each time that one ran
	failed  int
}

func newReport(out io.Writer) *report {
	return &report{out: out, held: make(map[string][]byte), open: make(map[string]bool), ran: make(map[string]bool)}
}

// read takes events until the stream ends. A line that is not an event (from make or a linker) is
// printed unchanged.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in) // not a Scanner: a test may print a line of any length
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line []byte) {
	var e testEvent
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		r.out.Write(line)
		return
	}
	switch {
	case e.Action == "build-output":
		io.WriteString(r.out, e.Output)
	case e.Package == "":
		// This is a build-fail. The package that needed the build fails on its own.
	case e.Test == "":
		r.packageEvent(e)
	default:
		r.testEvent(e)
	}
}

func (r *report) testEvent(e testEvent) {
	name := e.Package + "." + e.Test
	switch e.Action {
	case "output":
		r.held[name] = append(r.held[name], e.Output...)
		return
	case "pass":
		r.passed++
		r.ran[name] = true
	case "fail":
		r.failed++
		r.out.Write(r.held[name])
	case "skip":
		r.skipped = append(r.skipped, name)
		r.out.Write(r.held[name])
	default:
		return // run, pause, cont
	}
	delete(r.held, name)
}

func (r *report) packageEvent(e testEvent) {
	switch e.Action {
	case "start":
		r.open[e.Package] = true
		return
	case "output":
		r.held[e.Package] = append(r.held[e.Package], e.Output...)
		return
	case "pass", "skip": // a skip means that the package has no tests
		r.out.Write(lastLine(r.held[e.Package]))
	case "fail":
		r.broken = append(r.broken, e.Package)
		r.unfinishedTests(e.Package)
		r.out.Write(r.held[e.Package])
	default:
		return
	}
	delete(r.held, e.Package)
	delete(r.open, e.Package)
}

// unfinishedTests prints the output of tests that never ended. A panic or a timeout ends the whole
// package.
func (r *report) unfinishedTests(pkg string) {
	for _, name := range slices.Sorted(maps.Keys(r.held)) {
		if strings.HasPrefix(name, pkg+".") {
			r.out.Write(r.held[name])
			delete(r.held, name)
		}
	}
}

// problems returns the reasons why this run is not good.
func (r *report) problems(allowed map[string]string) []string {
	var all []string
	for _, name := range r.skipped {
		if _, ok := allowed[name]; !ok && !r.ran[name] {
			all = append(all, fmt.Sprintf("%s was skipped and is not on the list; make it run, or list it with a reason", name))
		}
	}
	for _, pkg := range r.broken {
		all = append(all, fmt.Sprintf("package %s failed", pkg))
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.open)) {
		all = append(all, fmt.Sprintf("package %s did not finish: the output ends in the middle", pkg))
	}
	if r.failed > 0 && len(r.broken) == 0 {
		all = append(all, fmt.Sprintf("%d tests failed", r.failed))
	}
	if r.passed+r.failed == 0 {
		all = append(all, "no test ran; check the command that makes the output")
	}
	return all
}

// lastLine returns the line that sums up a package: "ok   package 1.2s" or "?     package [no test
// files]".
func lastLine(output []byte) []byte {
	return output[bytes.LastIndexByte(bytes.TrimRight(output, "\n"), '\n')+1:]
}
