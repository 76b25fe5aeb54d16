// Package scaffold makes a repository that builds, tests and deploys a pipeline of its own.
//
// [New] takes a pipeline.yaml and a few names. [Repository.Files] returns every file of the
// repository, and `ingot init` writes them.
//
// Everything except the pipeline comes from files in this package. The exception is template.yaml:
// it is the sample shop's, but it has the indexes of the given pipeline instead of the shop's. So
// there is only one template.
package scaffold
