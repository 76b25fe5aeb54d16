package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

// versionJSON documents --output json. A test compares it with build.
const versionJSON = `With --output json, one object; what is not known is absent:
  version                 a release, or a name that Go made from the commit
  revision, time          of the commit it was built from
  modified                true: the sources had changes that were not committed
  go, os, arch            what it was built by, and for`

// build says how this program was built.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func newVersion(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version, and what it was built from",
		Long:  "Prints which version this is, from which commit it was built, and with which Go. ingot --version prints only the\nversion.\n\n" + versionJSON,
		Example: `  ingot version
  ingot version --output json`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild(debug.ReadBuildInfo())
			if a.JSON() {
				return a.WriteJSON(b)
			}
			_, err := fmt.Fprintln(a.Stdout, b)
			return err
		},
	}
}

// String returns one line: "ingot v1.2.3, go1.26.0, linux/amd64, commit 0123456789ab of
// 2026-03-01T09:00:00Z".
func (b build) String() string {
	text := fmt.Sprintf("ingot %s, %s, %s/%s", b.Version, b.Go, b.OS, b.Arch)
	if b.Revision != "" {
		text += ", commit " + b.Revision[:min(12, len(b.Revision))]
		if b.Time != "" {
			text += " of " + b.Time
		}
	}
	if b.Modified {
		text += ", with changes that are not committed"
	}
	return text
}

// readBuild reads what the go command has recorded in the program. ok says whether it has recorded
// anything.
func readBuild(info *debug.BuildInfo, ok bool) build {
	b := build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if !ok {
		return b
	}
	b.Version, b.Go = cmp.Or(info.Main.Version, b.Version), cmp.Or(info.GoVersion, b.Go)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
