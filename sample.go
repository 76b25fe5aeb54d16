package ingot

import (
	"embed"
	"io/fs"
)

//go:embed pipeline.yaml
var files embed.FS

//go:embed template.yaml env.json prices/us-east-1.yaml
var deployment embed.FS

// Deployment holds the sample's template.yaml and env.json, from which `ingot init` makes those of a new
// repository, and its file of prices.
func Deployment() fs.FS { return deployment }

// Files holds the pipeline.yaml at the root of this repository, as it was when the binary was built. Only
// the commands of this repository use it; a program of your own embeds its own file.
func Files() fs.FS { return files }
