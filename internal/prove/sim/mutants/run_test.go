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

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/sim"
)

// hunter stands in for the real hunter, in a module of its own. It kills every mutant that it
// hunts. It lives through worlds without trouble and through worlds without a mutant. The mutants
// below change it so that it no longer does.
const hunter = `package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	still := slices.Contains(os.Args, "-fault-free")
	quiet, troubled := "", "lost"
	hunt(still)
	if still {
		troubled = quiet
	}
	if os.Getenv("INGOT_MUTANT") == "" {
		troubled = innocent()
	}
	fmt.Printf("{\"Worlds\":7,\"Check\":%q,\"Seed\":6,\"Detail\":\"what is wrong\",\"Others\":{\"cost\":3}}\n", troubled)
}

func hunt(_ bool) {}

func innocent() string { return "" }
`

const hunterFile = "internal/prove/sim/mutants/hunt/main.go"

func stubs(t *testing.T) runner {
	t.Helper()
	r := runner{root: t.TempDir(), dir: t.TempDir(), patience: time.Minute}
	for name, text := range map[string]string{"go.mod": "module stub\n\ngo 1.26\n", hunterFile: hunter} {
		path := filepath.Join(r.root, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return r
}

// made returns a mutant of the stub. It is meant for lost, and has one text of the hunter replaced.
func made(name, old, with string) Mutant {
	return Mutant{Name: name, What: "a stub", Checks: []sim.Check{sim.Twice, sim.Lost},
		Edits: []Edit{{"internal/prove/sim/mutants/hunt.main", old, with}}}
}

const (
	call     = "\thunt(still)\n"
	troubled = `quiet, troubled := "", "lost"`
)

// TestWhatIsAKill shows the only thing that is a kill: the mutant builds, lives through the quiet
// worlds, and is caught by a check that is meant for it.
func TestWhatIsAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	plain := func(m Mutant) Mutant { m.Plain = true; return m }
	cases := []struct {
		mutant Mutant
		why    string // why it is not a kill; empty if it is one
	}{
		{made("killed", call, ""), ""},
		{plain(made("plain-caught", troubled, `quiet, troubled := "lost", "lost"`)), ""},
		{plain(made("plain-uncaught", call, "")), "it survives 7 worlds"},
		{made("does-not-build", call, "\thunt(1)\n"), "it does not build, which is not a kill"},
		{made("is-no-go", call, "\tthis is no Go\n"), "what the mutants make of it is not Go"},
		{made("no-longer-applies", "no such text", ""), "no longer applies"},
		{made("panics", call, "\tpanic(`index out of range`)\n"),
			"it crashes, which is not a kill: exit status 2\npanic: index out of range"},
		{made("panics-in-trouble", call, "\tif !still { panic(`too late`) }\n"), "it crashes, which is not a kill"},
		{made("fails-after-its-answer", call, "\tfmt.Println(`{\"Check\":\"lost\"}`); os.Exit(1)\n"), "it crashes, which is not a kill"},
		{made("says-nothing", call, "\tos.Exit(0)\n"), "unexpected end of JSON input"},
		{made("survives", troubled, `quiet, troubled := "", ""`), "it survives 7 worlds"},
		{made("wrong-check", troubled, `quiet, troubled := "", "cost"`), "the hunter names cost, which it was not sent for"},
		{made("wrong-in-quiet", troubled, `quiet, troubled := "twice", "lost"`),
			"it fails a world without trouble already (seed 6: what is wrong)"},
	}
	// Those that do not build are built alone: they would have all others built alone too.
	var sound, unsound []Mutant
	for _, c := range cases {
		if slices.Contains([]string{"does-not-build", "is-no-go", "no-longer-applies"}, c.mutant.Name) {
			unsound = append(unsound, c.mutant)
		} else {
			sound = append(sound, c.mutant)
		}
	}
	binary, broken, err := r.buildAll(t.Context(), sound, io.Discard)
	if err != nil || len(broken) > 0 {
		t.Fatal(broken, err)
	}
	if _, broken, err = r.buildAll(t.Context(), unsound, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.mutant.Name, func(t *testing.T) {
			v := verdict{mutant: c.mutant, err: broken[c.mutant.Name]}
			if v.err == nil {
				v = r.try(t.Context(), binary, c.mutant)
			}
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
		})
	}
}

// TestPatienceEnds shows that a hunt that takes too long is not a kill, whatever it would have
// found.
func TestPatienceEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	r.patience = 300 * time.Millisecond
	m := made("takes-too-long", call, "\tfor { }\n")
	binary, _, err := r.buildAll(t.Context(), []Mutant{m}, io.Discard)
	must.Succeed(t, err)
	if v := r.try(t.Context(), binary, m); v.err == nil || v.err.Error() != "it takes longer than 300ms, which is not a kill" {
		t.Errorf("%v", v.err)
	}
}

// TestSurvivorsFailTheRun shows that a survivor fails the run. All mutants are still tried and
// reported, in their order.
func TestSurvivorsFailTheRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	killed, survivor := made("killed", call, ""), made("survivor", troubled, `quiet, troubled := "", ""`)
	blunder := made("blunder", "quiet, troubled", "troubled, quiet")
	blunder.Plain = true
	broken := made("broken", call, "\thunt(1)\n")
	for _, c := range []struct {
		list []Mutant
		says string
		ends string
	}{
		{[]Mutant{killed, blunder}, "", "1 mutants, 1 killed.\n1 blunders, 1 caught in worlds without trouble.\n"},
		{[]Mutant{survivor, killed}, "1 of 2 mutants and blunders are not killed",
			"2 mutants, 1 killed.\nsurvivor: it survives 7 worlds (meant for twice,lost); other promises broken: cost in 3 worlds\n"},
		{[]Mutant{broken, killed}, "1 of 2 mutants and blunders are not killed",
			"2 mutants, 1 killed.\nbroken: it does not build, which is not a kill: exit status 1\n"},
	} {
		for _, beside := range []int{1, 2} {
			var out bytes.Buffer
			err := r.all(context.Background(), c.list, beside, newTable(&out, false), io.Discard)
			if (err == nil) != (c.says == "") || err != nil && err.Error() != c.says {
				t.Errorf("%v, want %q", err, c.says)
			}
			if !strings.Contains(out.String(), c.ends) {
				t.Errorf("it does not end with %q:\n%s", c.ends, out.String())
			}
			var names []string
			for _, line := range strings.SplitN(out.String(), "\n", 4)[:3] {
				names = append(names, strings.Fields(line)[0])
			}
			if want := []string{"mutant", c.list[0].Name, c.list[1].Name}; !slices.Equal(names, want) {
				t.Errorf("rows %q, want %q", names, want)
			}
		}
	}
}

// TestWorldsThatKillAreInnocent shows that a kill proves nothing if the same world fails without
// the mutant.
func TestWorldsThatKillAreInnocent(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	path := filepath.Join(r.root, filepath.FromSlash(hunterFile))
	guilty := strings.Replace(hunter, `func innocent() string { return "" }`, `func innocent() string { return "lost" }`, 1)
	must.Succeed(t, os.WriteFile(path, []byte(guilty), 0o600))
	const want = "a world that is to kill a mutant fails without any: seed 6: what is wrong"
	err := r.all(t.Context(), []Mutant{made("killed", call, "")}, 2, newTable(io.Discard, true), io.Discard)
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestKnownKillIsTriedFirst shows that the world that killed a mutant before is tried first.
func TestKnownKillIsTriedFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	r := stubs(t)
	r.known = map[string]uint64{"hinted": 42}
	m := made("hinted", call, "\tif !still && !slices.Contains(os.Args, `42`) { panic(`42 is not among the seeds`) }\n")
	binary, _, err := r.buildAll(t.Context(), []Mutant{m}, io.Discard)
	must.Succeed(t, err)
	if v := r.try(t.Context(), binary, m); v.err != nil {
		t.Error(v.err)
	}
}
