package runtimeapi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// ProductionFlags are the flags that the deployed functions are built with; template.yaml and
// the Makefile name the same ones. lambda.norpc leaves out the pre-2019 entry point, which
// alone would link net/rpc and reflection over the whole program.
var ProductionFlags = []string{"-tags=lambda.norpc", "-trimpath", "-ldflags=-s"}

// Build compiles the main package (an import path or a ./path) to the file output with the
// production flags, without cgo, for Linux on arch; arch "" is this machine's system and
// architecture, the only kind that Start can run.
func Build(ctx context.Context, pkg, output, arch string) error {
	args := append([]string{"build", "-o", output}, ProductionFlags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if arch != "" {
		cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH="+arch)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, strings.TrimSpace(string(out)))
	}
	return nil
}
