package main

import (
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// bom is a software bill of materials in the format CycloneDX 1.6: which modules are linked into
// which program. It has neither a time nor a serial number, which would differ each time.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
	modules      map[string]component
}

type component struct {
	Type    string `json:"type"` // application or library
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func newBOM() *bom {
	return &bom{Format: "CycloneDX", Spec: "1.6", Version: 1, modules: map[string]component{}}
}

// add takes up what the go command has recorded in the program of an archive.
func (b *bom) add(archive string, info *debug.BuildInfo) {
	b.Components = append(b.Components, component{"application", archive, archive, info.Main.Version, ""})
	needs := []string{b.library("std", strings.TrimPrefix(info.GoVersion, "go")), b.library(info.Main.Path, info.Main.Version)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		needs = append(needs, b.library(m.Path, m.Version))
	}
	b.Dependencies = append(b.Dependencies, dependency{archive, needs})
}

// library returns the reference of a module, which is its package URL.
func (b *bom) library(path, version string) string {
	purl := "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
	b.modules[purl] = component{"library", purl, path, version, purl}
	return purl
}

func (b *bom) json() []byte {
	for _, purl := range slices.Sorted(maps.Keys(b.modules)) {
		b.Components = append(b.Components, b.modules[purl])
	}
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		panic(err) // cannot happen: there are only texts
	}
	return append(text, '\n')
}
