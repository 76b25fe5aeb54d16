package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version says in one line what the go command has recorded in the program: "v1.2.3, go1.26.0,
// linux/amd64, commit 0123456789ab of 2026-03-01T09:00:00Z". ok says whether it has recorded
// anything.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		info = &debug.BuildInfo{}
	}
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	text := fmt.Sprintf("%s, %s, %s/%s", cmp.Or(info.Main.Version, "unknown"), cmp.Or(info.GoVersion, runtime.Version()),
		runtime.GOOS, runtime.GOARCH)
	if commit := of["vcs.revision"]; commit != "" {
		text += ", commit " + commit[:min(12, len(commit))]
	}
	if at := of["vcs.time"]; at != "" {
		text += " of " + at
	}
	if of["vcs.modified"] == "true" {
		text += ", with changes that are not committed"
	}
	return text
}
