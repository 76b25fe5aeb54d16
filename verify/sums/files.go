package sums

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Every file of a pass begins with a line that says what it is, its version, and the SHA-256 of the
// rest in hex:
//
//	ingot-sums segment 3 9f86d081884c7d65…
//
// The rest is sums, or one JSON object.
const magic = "ingot-sums"

// These are the kinds of files.
const (
	kindSums    = "sums"
	kindSegment = "segment"
	kindResult  = "result"
)

// versions are those of the kinds. A kind that is not listed has version 1.
var versions = map[string]string{kindSums: "3", kindSegment: "3", kindResult: "3"}

func versionOf(kind string) string { return cmp.Or(versions[kind], "1") }

// seal puts the first line before the rest of a file. It also returns the checksum.
func seal(kind string, body []byte) (text []byte, sum string) {
	digest := sha256.Sum256(body)
	sum = hex.EncodeToString(digest[:])
	return append(fmt.Appendf(nil, "%s %s %s %s\n", magic, kind, versionOf(kind), sum), body...), sum
}

// unseal returns the rest of a file and its checksum, which is right.
func unseal(kind string, text []byte) (body []byte, sum string, err error) {
	line, body, whole := bytes.Cut(text, []byte("\n"))
	words := strings.Split(string(line), " ")
	switch {
	case !whole || len(words) != 4 || words[0] != magic || words[1] != kind:
		return nil, "", &errDamaged{"it is not a " + kind + " that Ingot has written"}
	case words[2] != versionOf(kind):
		return nil, "", &errDamaged{fmt.Sprintf("it has version %.20q, and this program reads version %s", words[2], versionOf(kind))}
	}
	if _, sum = seal(kind, body); words[3] != sum {
		return nil, "", &errDamaged{"its checksum is wrong"}
	}
	return body, sum, nil
}

// keep writes a file into the folder, and returns its checksum.
func keep(ctx context.Context, folder Folder, name, kind string, body []byte) (sum string, err error) {
	text, sum := seal(kind, body)
	return sum, folder.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// fetch reads a file of the folder. The error is [fs.ErrNotExist] if there is none.
func fetch(ctx context.Context, folder Folder, name, kind string) (body []byte, sum string, err error) {
	body, sum, _, err = fetchVersion(ctx, folder, name, kind)
	return body, sum, err
}

// fetchVersion is like fetch. It also returns the version of the file, where the folder knows
// versions.
func fetchVersion(ctx context.Context, folder Folder, name, kind string) (body []byte, sum, version string, err error) {
	var f io.ReadCloser
	if versions, knows := folder.(Versions); knows {
		f, version, err = versions.ReadVersion(ctx, name)
	} else {
		f, err = folder.Read(ctx, name)
	}
	if err == nil {
		defer f.Close()
		body, err = io.ReadAll(f)
	}
	if err == nil {
		body, sum, err = unseal(kind, body)
	}
	return body, sum, version, unusable(folder, name, err)
}

// KeepJSON writes a file with a JSON object. kind is what a reader asks for.
func KeepJSON(ctx context.Context, folder Folder, name, kind string, content any) error {
	body, err := encodeJSON(content)
	if err == nil {
		_, err = keep(ctx, folder, name, kind, body)
	}
	return err
}

// KeepNewJSON is like [KeepJSON] if there is no such file yet. Otherwise that file stays as it is.
func KeepNewJSON(ctx context.Context, folder Folder, name, kind string, content any) error {
	versions, knows := folder.(Versions)
	if !knows {
		if file, err := folder.Read(ctx, name); err == nil {
			return file.Close()
		}
		return KeepJSON(ctx, folder, name, kind, content)
	}
	body, err := encodeJSON(content)
	if err != nil {
		return err
	}
	text, _ := seal(kind, body)
	_, err = versions.WriteVersion(ctx, name, "", func(w io.Writer) error { _, err := w.Write(text); return err })
	if errors.Is(err, ErrReplaced) {
		return nil
	}
	return err
}

func encodeJSON(content any) ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(content)
	return body.Bytes(), err
}

// FetchJSON reads a file with a JSON object. It returns false if there is none.
func FetchJSON(ctx context.Context, folder Folder, name, kind string, content any) (bool, error) {
	body, _, err := fetch(ctx, folder, name, kind)
	if missingFile(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, unusable(folder, name, decodeJSON(body, content))
}

func decodeJSON(body []byte, content any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(content); err != nil {
		return &errDamaged{fmt.Sprintf("it is not the JSON that Ingot writes: %v", err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &errDamaged{"there is more text after its JSON"}
	}
	return nil
}

// errDamaged is why a file cannot be read.
type errDamaged struct{ why string }

func (e *errDamaged) Error() string { return e.why }

// missingFile reports whether a folder has no such file.
func missingFile(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// unusable explains an error about a file of the folder.
func unusable(folder Folder, name string, err error) error {
	if err == nil {
		return nil
	}
	if damaged := (*errDamaged)(nil); errors.As(err, &damaged) {
		return fmt.Errorf("%s in %s cannot be used, because %s; begin again in an empty folder", name, folder, damaged.why)
	}
	return fmt.Errorf("reading %s in %s: %w", name, folder, err)
}
