// Package ingot carries the root pipeline.yaml inside the binaries: SAM's Go builder ships nothing but the
// binary. Only the commands import it.
package ingot

import (
	"embed"
	"io/fs"
)

// PipelineName is the name of the pipeline in Files.
const PipelineName = "pipeline.yaml"

//go:embed pipeline.yaml
var files embed.FS

// Files holds pipeline.yaml as it was when the binary was built.
func Files() fs.FS { return files }
