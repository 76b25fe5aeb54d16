package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"strings"
	"time"
)

// packed is when all files of an archive were changed: the earliest time that a zip can hold.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack returns an archive that holds a program, and the license under which it may be passed on.
func pack(archive, name string, program []byte) ([]byte, error) {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	files := []file{{name, 0o755, program}, {"LICENSE", 0o644, license}}
	if strings.HasSuffix(archive, ".zip") {
		return zipped(files)
	}
	return tarred(files)
}

type file struct {
	name string
	mode os.FileMode
	text []byte
}

func zipped(files []file) ([]byte, error) {
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: packed}
		h.SetMode(f.mode)
		w, err := out.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := out.Close()
	return b.Bytes(), err
}

func tarred(files []file) ([]byte, error) {
	var b bytes.Buffer
	shrunk := gzip.NewWriter(&b)
	out := tar.NewWriter(shrunk)
	for _, f := range files {
		err := out.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: packed})
		if err == nil {
			_, err = out.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := errors.Join(out.Close(), shrunk.Close())
	return b.Bytes(), err
}
