// Package dev runs a whole pipeline in this process for somebody who develops it: the engine that
// stands in for AWS, its protocols over HTTP on this machine, and both functions, by the real
// clock.
//
// [Start] begins it and [Dev.Close] ends it. [Dev.Steps] says what happens on the way, for the
// console. [Dev.Reload] replaces pipeline.yaml, as a deployment would.
//
// It is not a service: nobody but programs on this machine can reach it, and no request is checked
// for a signature.
package dev
