// Command release builds what a release consists of, into a folder: the tool for each platform, the
// functions as zips for both processors of Lambda, a list of the modules in each program, and the
// checksums. The same commit and the same Go make the same bytes, in whatever folder.
//
//	go run ./scripts/release            # all of it, into dist
//	go run ./scripts/release arm64      # what has arm64 in its name
//
// A program that is larger than it may be ends it with exit code 1.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("o", "dist", "the `folder` to write to, which must be empty or absent")
	flag.Parse()
	if err := release(ctx, *out, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// program is one program of a release, and the archive that it is in.
type program struct {
	archive      string // its name ends in .tar.gz or .zip
	goos, goarch string
	pkg          string // its main package
	name         string // in the archive
	most         int64  // so many bytes may it have
}

// What a program may have. A function is loaded at each cold start, for which nobody waits at the
// worker.
const mostTool, mostFunction, mostWorker = 40e6, 15e6, 17e6

// programs lists what a release has.
func programs() []program {
	var all []program
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			name, form := "ingot", ".tar.gz"
			if goos == "windows" {
				name, form = "ingot.exe", ".zip"
			}
			all = append(all, program{"ingot-" + goos + "-" + goarch + form, goos, goarch, "./cmd/ingot", name, mostTool})
		}
	}
	for _, f := range []struct {
		name, pkg string
		most      int64
	}{{"ingest", "ingest", mostFunction}, {"streams", "streams", mostFunction}, {"publish", "publish", mostFunction},
		{"capture", "migrate", mostFunction}, {"worker", "worker", mostWorker}} {
		for _, p := range []struct{ goarch, lambda string }{{"amd64", "x86_64"}, {"arm64", "arm64"}} {
			all = append(all, program{f.name + "-" + p.lambda + ".zip", "linux", p.goarch, "./cmd/" + f.pkg, "bootstrap", f.most})
		}
	}
	return all
}

// release builds the programs whose archives have one of the words in their names, or all.
func release(ctx context.Context, out string, words []string, stdout io.Writer) error {
	if there, err := os.ReadDir(out); err == nil && len(there) > 0 {
		return fmt.Errorf("%s is not empty: delete it, or name another folder with -o", out)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var sums bytes.Buffer
	write := func(name string, text []byte) error {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		return os.WriteFile(filepath.Join(out, name), text, 0o644)
	}
	list := newBOM()
	var large []error
	for _, p := range programs() {
		if len(words) > 0 && !named(p.archive, words) {
			continue
		}
		binary, info, err := p.build(ctx, work)
		if err != nil {
			return err
		}
		list.add(p.archive, info)
		archive, err := pack(p.archive, p.name, binary)
		if err != nil {
			return err
		}
		if err := write(p.archive, archive); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-28s %5.1f MB, the program %5.1f MB\n", p.archive, float64(len(archive))/1e6, float64(len(binary))/1e6)
		if int64(len(binary)) > p.most {
			large = append(large, fmt.Errorf("the program in %s has %d bytes, and may have %d", p.archive, len(binary), p.most))
		}
	}
	if err := write("ingot.cdx.json", list.json()); err != nil {
		return err
	}
	large = append(large, os.WriteFile(filepath.Join(out, "checksums.txt"), sums.Bytes(), 0o644))
	return errors.Join(large...)
}

func named(archive string, words []string) bool {
	for _, word := range words {
		if strings.Contains(archive, word) {
			return true
		}
	}
	return false
}

// build returns the linked program, and what the go command has recorded in it, such as the tag of
// the commit as its version. Of the environment, only where Go finds its modules and its cache
// matters.
func (p program) build(ctx context.Context, work string) (binary []byte, info *debug.BuildInfo, err error) {
	file := filepath.Join(work, p.archive)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-tags=lambda.norpc", "-ldflags=-s", "-o", file, p.pkg)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOAMD64=", "GOARM64=", "GOEXPERIMENT=", "GOOS="+p.goos,
		"GOARCH="+p.goarch)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w\n%s", p.archive, err, bytes.TrimSpace(said))
	}
	if info, err = buildinfo.ReadFile(file); err == nil {
		binary, err = os.ReadFile(file)
	}
	return binary, info, errors.Join(err, os.Remove(file))
}
