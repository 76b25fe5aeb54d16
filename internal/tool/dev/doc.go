// Package dev runs a whole pipeline in this process for its developer. It runs both functions and
// the engine that stands in for AWS, in real time, and serves the protocols of AWS over HTTP on
// this machine.
//
// [Start] starts it and [Dev.Close] ends it. [Dev.Steps] returns what happens in the pipeline, for
// the console. [Dev.Reload] replaces pipeline.yaml, as a deployment would.
//
// It is not a service: nobody but programs on this machine can reach it, and no request is checked
// for a signature.
package dev
