package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/sim"
)

// hunter stands in for the real one, in a module of its own. It kills whatever it is sent after, and lives through
// worlds without trouble; what the mutants below make of it does not.
const hunter = `package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	still := slices.Contains(os.Args, "-fault-free")
	quiet, troubled := "", "lost"
	hunt()
	if still {
		troubled = quiet
	}
	fmt.Printf("{\"Worlds\":7,\"Check\":%q,\"Seed\":6,\"Detail\":\"what is wrong\",\"Others\":{\"cost\":3}}\n", troubled)
}

func hunt() {}
`

const hunterFile = "internal/sim/mutants/hunt/main.go"

func stubs(t *testing.T) runner {
	t.Helper()
	r := runner{t.TempDir(), t.TempDir(), time.Minute}
	for name, text := range map[string]string{"go.mod": "module stub\n\ngo 1.26\n", hunterFile: hunter} {
		path := filepath.Join(r.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// made is a mutant of the stub: meant for lost, with one text of the hunter replaced.
func made(name, old, with string) Mutant {
	return Mutant{Name: name, What: "a stub", Checks: []sim.Check{sim.Twice, sim.Lost}, Patches: []Patch{{hunterFile, old, with}}}
}

const (
	call     = "\thunt()\n"
	troubled = `quiet, troubled := "", "lost"`
)

// Only one thing is a kill: it builds, lives through the quiet worlds, and is caught by a check that it is meant for.
func TestWhatIsAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	plain := func(m Mutant) Mutant { m.Plain = true; return m }
	for _, c := range []struct {
		mutant Mutant
		why    string // it is no kill; empty: it is one
	}{
		{made("killed", call, ""), ""},
		{plain(made("plain-caught", troubled, `quiet, troubled := "lost", "lost"`)), ""},
		{plain(made("plain-uncaught", call, "")), "it survives 7 worlds"},
		{made("does-not-build", call, "\thunt(1)\n"), "it does not build, which is no kill"},
		{made("is-no-go", call, "\tthis is no Go\n"), "it does not build, which is no kill"},
		{made("no-longer-applies", "no such text", ""), "no longer applies"},
		{made("panics", call, "\tpanic(`index out of range`)\n"), "it crashes, which is no kill: exit status 2\npanic: index out of range"},
		{made("panics-in-trouble", call, "\tif !still { panic(`too late`) }\n"), "it crashes, which is no kill"},
		{made("fails-after-its-answer", "func hunt() {}", "func hunt() { fmt.Println(`{\"Check\":\"lost\"}`); os.Exit(1) }"), "it crashes, which is no kill"},
		{made("says-nothing", call, "\tos.Exit(0)\n"), "unexpected end of JSON input"},
		{made("survives", troubled, `quiet, troubled := "", ""`), "it survives 7 worlds"},
		{made("wrong-check", troubled, `quiet, troubled := "", "cost"`), "the hunter names cost, which it was not sent for"},
		{made("wrong-in-quiet", troubled, `quiet, troubled := "twice", "lost"`), "it fails a world without trouble already (seed 6: what is wrong)"},
	} {
		t.Run(c.mutant.Name, func(t *testing.T) {
			v := r.try(t.Context(), c.mutant)
			switch {
			case c.why == "" && (v.err != nil || v.Check != "lost" || v.Worlds != 7):
				t.Errorf("it is killed, and the verdict is %+v", v)
			case c.why != "" && (v.err == nil || !strings.Contains(v.err.Error(), c.why)):
				t.Errorf("%v, want %q", v.err, c.why)
			}
			var out bytes.Buffer
			table := newTable(&out, false)
			table.row(v)
			if survived := table.survivors(); survived != 1 && c.why != "" || survived != 0 && c.why == "" {
				t.Errorf("%d survive", survived)
			}
			table.end()
			if c.why != "" && (!strings.Contains(out.String(), "NOT KILLED") || !strings.Contains(out.String(), c.why)) {
				t.Errorf("the table does not say so:\n%s", out.String())
			}
			left, err := filepath.Glob(filepath.Join(r.dir, c.mutant.Name, "hunt"))
			if err != nil || len(left) > 0 {
				t.Errorf("the hunter's program is left: %v %v", left, err)
			}
		})
	}
}

// A hunt that takes too long is no kill, whatever it would have found.
func TestPatienceEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	r.patience = 300 * time.Millisecond
	m := made("takes-too-long", call, "\tfor { }\n")
	if v := r.try(t.Context(), m); v.err == nil || v.err.Error() != "it takes longer than 300ms, which is no kill" {
		t.Errorf("%v", v.err)
	}
}

// A survivor fails the run, and all are tried and told of all the same, in their order.
func TestSurvivorsFailTheRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	killed, survivor := made("killed", call, ""), made("survivor", troubled, `quiet, troubled := "", ""`)
	blunder := made("blunder", "quiet, troubled", "troubled, quiet")
	blunder.Plain = true
	for _, c := range []struct {
		list []Mutant
		says string
		ends string
	}{
		{[]Mutant{killed, blunder}, "", "1 mutants, 1 killed; the last of them within 7 worlds.\n1 blunders, 1 caught in worlds without trouble.\n"},
		{[]Mutant{survivor, killed}, "1 of 2 mutants and blunders are not killed",
			"2 mutants, 1 killed; the last of them within 7 worlds.\nsurvivor: it survives 7 worlds (meant for twice,lost); other promises broken: cost in 3 worlds\n"},
	} {
		for _, beside := range []int{1, 2} {
			var out bytes.Buffer
			err := r.all(context.Background(), c.list, beside, newTable(&out, true), io.Discard)
			if (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
				t.Errorf("%v, want %q", err, c.says)
			}
			if !strings.HasSuffix(out.String(), c.ends) {
				t.Errorf("it ends otherwise than with %q:\n%s", c.ends, out.String())
			}
			var names []string
			for line := range strings.Lines(out.String()) {
				if cells := strings.Split(line, " | "); len(cells) > 2 && strings.HasPrefix(line, "| ") {
					names = append(names, strings.TrimPrefix(cells[0], "| "))
				}
			}
			if want := []string{"mutant", "---", c.list[0].Name, c.list[1].Name}; !slices.Equal(names, want) {
				t.Errorf("rows %q, want %q", names, want)
			}
		}
	}
}
