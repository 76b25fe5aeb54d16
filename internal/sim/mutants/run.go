package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/sim"
	"github.com/ingot-events/ingot/internal/sim/mutants/hunt/found"
)

const (
	stillWorlds = 10 // without trouble, which a mutant must live through unless it is plain
	buildTime   = 10 * time.Minute
	huntTime    = 10 * time.Minute
)

// verdict is what became of a mutant.
type verdict struct {
	mutant Mutant
	found.Found
	err error // why it is not killed
}

// runner hunts the mutants of a module.
type runner struct {
	root, dir string        // the module's, and one for what is built
	patience  time.Duration // with one hunt
}

// run hunts the mutants, prints the table, and fails unless all are killed.
func run(ctx context.Context, list []Mutant, beside int, markdown bool) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ingot-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return runner{root, dir, huntTime}.all(ctx, list, beside, newTable(os.Stdout, markdown), os.Stderr)
}

// all hunts the mutants, beside of them at a time, and says on talk what became of each as soon as it is known.
func (r runner) all(ctx context.Context, list []Mutant, beside int, table *table, talk io.Writer) error {
	verdicts := make([]chan verdict, len(list))
	for i := range list {
		verdicts[i] = make(chan verdict, 1)
	}
	slots := make(chan struct{}, max(1, beside))
	go func() {
		for i, m := range list {
			slots <- struct{}{}
			go func() {
				v := r.try(ctx, m)
				fmt.Fprintf(talk, "%s: %s in %d worlds\n", m.Name, v.Check, v.Worlds)
				<-slots
				verdicts[i] <- v
			}()
		}
	}()
	for i := range list {
		table.row(<-verdicts[i])
	}
	table.end()
	if n := table.survivors(); n > 0 {
		return fmt.Errorf("%d of %d mutants and blunders are not killed", n, len(list))
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

// try builds a mutant and hunts it: first through worlds without trouble, then through the others; a blunder
// through the first alone.
func (r runner) try(ctx context.Context, m Mutant) verdict {
	v := verdict{mutant: m}
	binary, err := r.build(ctx, &m)
	if err != nil {
		v.err = err
		return v
	}
	defer os.Remove(binary)
	args := []string{"-n", fmt.Sprint(m.seeds()), "-checks", m.names()}
	if m.Plain {
		args = append(args, "-fault-free")
	} else if v.err = r.still(ctx, binary); v.err != nil {
		return v
	}
	v.Found, err = r.hunt(ctx, binary, args...)
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

// still sends a mutant through worlds without trouble, in which it must be right.
func (r runner) still(ctx context.Context, binary string) error {
	found, err := r.hunt(ctx, binary, "-fault-free", "-n", fmt.Sprint(stillWorlds))
	if err == nil && found.Check != "" {
		err = fmt.Errorf("it fails a world without trouble already (seed %d: %s)", found.Seed, found.Detail)
	}
	return err
}

// build makes the hunter with the mutant's files laid over ours.
func (r runner) build(ctx context.Context, m *Mutant) (string, error) {
	dir := filepath.Join(r.dir, m.Name)
	files, err := m.files(r.root)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		laid := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(laid, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(r.root, filepath.FromSlash(path))] = laid
	}
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "hunt")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, buildTime)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", "build", "-p", "2", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./internal/sim/mutants/hunt")
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build, which is no kill: %w\n%s", err, out)
	}
	return binary, nil
}

func (r runner) hunt(ctx context.Context, binary string, args ...string) (f found.Found, err error) {
	ctx, stop := context.WithTimeout(ctx, r.patience)
	defer stop()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "GOGC=400")
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return f, fmt.Errorf("it takes longer than %v, which is no kill", r.patience)
	}
	if err != nil {
		text := problem.String()
		return f, fmt.Errorf("it crashes, which is no kill: %w\n%s", err, text[:min(len(text), 2000)])
	}
	return f, json.Unmarshal(out, &f)
}
