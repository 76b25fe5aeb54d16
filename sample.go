package ingot

import (
	"embed"
	"io/fs"
)

//go:embed pipeline.yaml
var files embed.FS

//go:embed template.yaml prices/us-east-1.yaml cmd/migrate/template.yaml AGENTS.md
var deployment embed.FS

// Deployment holds the template.yaml of the sample, its file of prices, the template.yaml of the
// capture function, and AGENTS.md. `ingot init` makes those of a new repository from them.
func Deployment() fs.FS { return deployment }

// Files holds the pipeline.yaml at the root of this repository, as it was when the binary was
// built. Only the commands of this repository use it. A program of your own embeds its own file.
func Files() fs.FS { return files }
