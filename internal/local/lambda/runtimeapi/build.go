package runtimeapi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ProductionFlags are the flags with which the deployed functions are built. template.yaml and the
// Makefile name the same flags. lambda.norpc leaves out the entry point from before 2019. That
// entry point alone would link net/rpc, and reflection over the whole program.
var ProductionFlags = []string{"-tags=lambda.norpc", "-trimpath", "-ldflags=-s"}

// Build compiles the main package (an import path or a ./path) to the file output. It uses the
// production flags, no cgo, and Linux on arch. If arch is "", it uses the system and architecture
// of this machine, which is the only kind that Start can run.
//
// Build gets the file from go run. Unlike go build, go run keeps the linked program in the build
// cache. So each program is linked only once, even if many tests and commands build it.
func Build(ctx context.Context, pkg, output, arch string) error {
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil { // cp does not make the folder
		return err
	}
	args := append([]string{"run", "-exec", "cp"}, ProductionFlags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg, output)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, strings.TrimSpace(string(out)))
	}
	return nil
}
