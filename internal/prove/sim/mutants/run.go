package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/mutants/hunt/found"
)

const (
	stillWorlds = 10 // worlds without trouble that a mutant must live through, unless it is plain
	buildTime   = 10 * time.Minute
	huntTime    = 60 * time.Minute
)

// verdict is the outcome of one mutant.
type verdict struct {
	mutant Mutant
	found.Found
	err error // why it is not killed
}

// runner hunts the mutants of a module.
type runner struct {
	root, dir string        // of the module; and a folder for what is built
	patience  time.Duration // the longest that one hunt may take
	// known holds, for each mutant, the seed of a world that killed it before.
	known map[string]uint64
}

// run hunts the mutants, prints the table, and fails unless all are killed.
func run(ctx context.Context, list []Mutant, beside int, kills bool) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ingot-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := runner{root: root, dir: dir, patience: huntTime, known: map[string]uint64{}}
	known, err := knownKills()
	if err != nil {
		return err
	}
	for _, k := range known {
		r.known[k.mutant] = k.seed
	}
	return r.all(ctx, list, beside, newTable(os.Stdout, kills), os.Stderr)
}

// all hunts the mutants, beside at a time. As soon as it knows the outcome of one, it prints it on
// talk. At the end it lives the worlds that have killed once more, without any mutant. Nothing may
// go wrong in them.
func (r runner) all(ctx context.Context, list []Mutant, beside int, table *table, talk io.Writer) error {
	binary, broken, err := r.buildAll(ctx, list, talk)
	if err != nil {
		return err
	}
	verdicts := make([]verdict, len(list))
	each(len(list), beside, func(i int) {
		m := list[i]
		if err := broken[m.Name]; err != nil {
			verdicts[i] = verdict{mutant: m, err: err}
		} else {
			verdicts[i] = r.try(ctx, binary, m)
		}
		fmt.Fprintf(talk, "%s: %s in world %d, after %d\n", m.Name, verdicts[i].Check, verdicts[i].Seed, verdicts[i].Worlds)
	})
	for _, v := range verdicts {
		table.row(v)
	}
	table.end()
	if n := table.survivors(); n > 0 {
		return fmt.Errorf("%d of %d mutants and blunders are not killed", n, len(list))
	}
	return r.innocent(ctx, binary, verdicts, beside)
}

// each calls do for the numbers below n, beside at a time. It returns when all calls have.
func each(n, beside int, do func(int)) {
	slots := make(chan struct{}, max(1, beside))
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() { do(i); <-slots })
	}
	all.Wait()
}

// innocent lives the worlds that have killed, without a mutant. If one of them still finds
// something wrong, then it did not find the mutant.
func (r runner) innocent(ctx context.Context, binary string, verdicts []verdict, beside int) error {
	type kind struct {
		still  bool
		worlds string
	}
	worlds := map[kind]map[uint64]bool{}
	for _, v := range verdicts {
		of := kind{v.mutant.Plain, v.mutant.Worlds}
		if worlds[of] == nil {
			worlds[of] = map[uint64]bool{}
		}
		worlds[of][v.Seed] = true
	}
	var mu sync.Mutex
	var errs []error
	for of := range worlds {
		seeds := slices.Sorted(maps.Keys(worlds[of]))
		each(min(beside, len(seeds)), beside, func(part int) {
			var own []string
			for i := part; i < len(seeds); i += beside {
				own = append(own, fmt.Sprint(seeds[i]))
			}
			args := []string{"-n", "0", "-first", strings.Join(own, ","), "-worlds=" + of.worlds,
				"-fault-free=" + fmt.Sprint(of.still)}
			found, err := r.hunt(ctx, binary, "", args...)
			if err == nil && found.Check != "" {
				err = fmt.Errorf("seed %d: %s", found.Seed, found.Detail)
			}
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("a world that is to kill a mutant fails without any: %w", err)
	}
	return nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("the module's directory is not known; run this inside the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// try hunts a mutant, first through worlds without trouble and then through the others. It hunts a
// blunder only through the first.
func (r runner) try(ctx context.Context, binary string, m Mutant) verdict {
	v := verdict{mutant: m}
	args := []string{"-n", fmt.Sprint(m.seeds()), "-checks", m.names(), "-worlds=" + m.Worlds}
	if seed, ok := r.known[m.Name]; ok {
		args = append(args, "-first", fmt.Sprint(seed))
	}
	if m.Plain {
		args = append(args, "-fault-free")
	} else if v.err = r.still(ctx, binary, m); v.err != nil {
		return v
	}
	var err error
	v.Found, err = r.hunt(ctx, binary, m.Name, args...)
	switch {
	case err != nil:
		v.err = err
	case v.Check == "":
		v.err = fmt.Errorf("it survives %d worlds", v.Worlds)
	case !slices.Contains(m.Checks, sim.Check(v.Check)):
		v.err = fmt.Errorf("the hunter names %s, which it was not sent for", v.Check)
	}
	return v
}

// still sends a mutant through worlds without trouble. The mutant must be right in them.
func (r runner) still(ctx context.Context, binary string, m Mutant) error {
	found, err := r.hunt(ctx, binary, m.Name, "-fault-free", "-n", fmt.Sprint(stillWorlds), "-worlds="+m.Worlds)
	if err == nil && found.Check != "" {
		err = fmt.Errorf("it fails a world without trouble already (seed %d: %s)", found.Seed, found.Detail)
	}
	return err
}

// buildAll makes one hunter for all mutants. If that fails, it makes one for each mutant, to find
// out which do not build. Then it makes one for those that do.
func (r runner) buildAll(ctx context.Context, list []Mutant, talk io.Writer) (binary string, broken map[string]error, err error) {
	if binary, err = r.build(ctx, "all", list); err == nil {
		return binary, nil, nil
	}
	fmt.Fprintf(talk, "Together the mutants do not build. Each is built alone now, to find those that do not:\n%v\n", err)
	broken = map[string]error{}
	var sound []Mutant
	for _, m := range list {
		one, err := r.build(ctx, m.Name, []Mutant{m})
		if err != nil {
			broken[m.Name] = err
			continue
		}
		os.Remove(one)
		sound = append(sound, m)
	}
	if len(broken) == 0 {
		return "", nil, fmt.Errorf("each mutant builds alone, and all together do not: %w", err)
	}
	binary, err = r.build(ctx, "sound", sound)
	return binary, broken, err
}

// build makes a hunter with the mutants grafted onto our source.
func (r runner) build(ctx context.Context, name string, list []Mutant) (string, error) {
	files, err := newSource(r.root).graft(list)
	if err != nil {
		return "", err
	}
	overlay, err := r.lay(name, files)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(r.dir, name, "hunt")
	ctx, stop := context.WithTimeout(ctx, buildTime)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./internal/prove/sim/mutants/hunt")
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build, which is not a kill: %w\n%s", err, out)
	}
	return binary, nil
}

// lay writes files, and the overlay that lays them over ours.
func (r runner) lay(name string, files map[string]string) (overlay string, err error) {
	dir := filepath.Join(r.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	over := map[string]string{}
	for path, text := range files {
		laid := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(laid, []byte(text), 0o600); err != nil {
			return "", err
		}
		over[filepath.Join(r.root, filepath.FromSlash(path))] = laid
	}
	text, err := json.Marshal(map[string]any{"Replace": over})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// hunt runs the hunter as a mutant. Without a name, the hunter runs our own code.
func (r runner) hunt(ctx context.Context, binary, name string, args ...string) (f found.Found, err error) {
	ctx, stop := context.WithTimeout(ctx, r.patience)
	defer stop()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "GOGC=400", activeVariable+"="+name)
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return f, fmt.Errorf("it takes longer than %v, which is not a kill", r.patience)
	}
	if err != nil {
		text := problem.String()
		return f, fmt.Errorf("it crashes, which is not a kill: %w\n%s", err, text[:min(len(text), 2000)])
	}
	return f, json.Unmarshal(out, &f)
}
