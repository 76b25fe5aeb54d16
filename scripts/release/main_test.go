package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// An archive holds the program, which everyone may run, and the license. Twice the same is packed
// in the same bytes.
func TestPack(t *testing.T) {
	t.Chdir("../..")
	for name, unpack := range map[string]func([]byte, func(string, os.FileMode, io.Reader)) error{"a.zip": unzip, "a.tar.gz": untar} {
		archive, err := pack(name, "ingot", []byte("a program"))
		must.Succeed(t, err)
		again, err := pack(name, "ingot", []byte("a program"))
		if err != nil || !bytes.Equal(archive, again) {
			t.Errorf("%s: again it is packed in other bytes (%v)", name, err)
		}
		var names []string
		must.Succeed(t, unpack(archive, func(file string, mode os.FileMode, r io.Reader) {
			names = append(names, file)
			text, err := io.ReadAll(r)
			if must.Succeed(t, err); file == "ingot" && (string(text) != "a program" || mode != 0o755) {
				t.Errorf("%s: the program has mode %v and is %q", name, mode, text)
			}
		}))
		must.Match(t, names, []string{"ingot", "LICENSE"}, name)
	}
}

func unzip(archive []byte, each func(string, os.FileMode, io.Reader)) error {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		each(f.Name, f.Mode(), r)
	}
	return nil
}

func untar(archive []byte, each func(string, os.FileMode, io.Reader)) error {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		each(h.Name, h.FileInfo().Mode(), r)
	}
}

// The list names each module once, and refers to no module that it does not name.
func TestBOM(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/Tool", Version: "v1.0.0+dirty"},
		Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.2.3"}, {Path: "example.com/b", Version: "v0.1.0",
			Replace: &debug.Module{Path: "example.com/c", Version: "v0.2.0"}}}}
	b := newBOM()
	b.add("one.zip", info)
	b.add("two.zip", info)
	var read bom
	must.Succeed(t, json.Unmarshal(b.json(), &read))
	var refs []string
	for _, c := range read.Components {
		refs = append(refs, c.Ref)
	}
	must.Match(t, refs, []string{"one.zip", "two.zip", "pkg:golang/example.com/a@v1.2.3", "pkg:golang/example.com/c@v0.2.0",
		"pkg:golang/example.com/tool@v1.0.0%2Bdirty", "pkg:golang/std@1.26.8"})
	for _, d := range read.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			must.Equal(t, slices.Contains(refs, ref), true, ref)
		}
	}
}
