// Package examples holds pipelines to start from. Each folder has a pipeline.yaml, and a page that
// begins with the questions that the example answers.
package examples

import "embed"

// Files has NAME/pipeline.yaml of each example.
//
//go:embed shop/pipeline.yaml leaderboard/pipeline.yaml sensors/pipeline.yaml feed/pipeline.yaml feed/schemas ledger/pipeline.yaml
//go:embed migrate publish
var Files embed.FS
