// Package scaffold makes a repository that builds, tests and deploys a pipeline of its own.
//
// [New] takes a pipeline.yaml and a few names; [Repository.Files] gives every file of the repository, which
// `ingot init` writes. [Diff] says how files that exist differ from what this version would write.
//
// Everything but the pipeline comes from files in this package, except template.yaml: it is the sample
// shop's, with the indexes of the given pipeline in place of the shop's. So there is one template.
package scaffold
