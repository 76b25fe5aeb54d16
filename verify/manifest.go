package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
)

// Every file of a pass begins with a line that says what it is, its version, and the SHA-256 of the
// rest in hex:
//
//	ingot-verify segment 2 9f86d081884c7d65…
//
// The rest is sums, or one JSON object.
const magic = "ingot-verify"

var versions = map[string]string{"sums": "2", "segment": "2", "result": "2", "touch": "1"}

// manifest says how far a segment is read, and which files hold the sums of what was read. It is
// replaced at each checkpoint, after its files are written. A file that it does not name is
// ignored: it comes from a call that stopped before its next checkpoint, and what it holds is read
// again.
type manifest struct {
	Job     string    `json:"job"` // what is verified; see jobOf
	Segment int       `json:"segment"`
	Of      int       `json:"of"`
	Buckets int       `json:"buckets"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"` // when all was read; zero: not yet
	Items   position  `json:"items"`
	Totals  position  `json:"totals"`
	Files   []sumFile `json:"files"`
	Seen    seen      `json:"seen"`

	version string // of the file, where the folder knows versions
}

// position says how far a segment of a table is read.
type position struct {
	PK   string `json:"pk,omitempty"` // go on after this key
	SK   string `json:"sk,omitempty"`
	Done bool   `json:"done,omitempty"`
}

func (p position) after() event.Key { return event.Key{PK: p.PK, SK: p.SK} }

func segmentPaper(segment, of int) string {
	return fmt.Sprintf("segment-%04d-of-%04d.manifest", segment, of)
}

func mergedPaper(bucket, of int) string { return fmt.Sprintf("merged-%04d-of-%04d.result", bucket, of) }

// seal puts the first line before the rest of a file. It also returns the checksum.
func seal(kind string, body []byte) (text []byte, sum string) {
	digest := sha256.Sum256(body)
	sum = hex.EncodeToString(digest[:])
	return append(fmt.Appendf(nil, "%s %s %s %s\n", magic, kind, versions[kind], sum), body...), sum
}

// unseal returns the rest of a file and its checksum, which is right.
func unseal(kind string, text []byte) (body []byte, sum string, err error) {
	line, body, whole := bytes.Cut(text, []byte("\n"))
	words := strings.Split(string(line), " ")
	switch {
	case !whole || len(words) != 4 || words[0] != magic || words[1] != kind:
		return nil, "", &errDamaged{"it is not a " + kind + " that ingot verify has written"}
	case words[2] != versions[kind]:
		return nil, "", &errDamaged{fmt.Sprintf("it has version %.20q, and this program reads version %s", words[2], versions[kind])}
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

// keepManifest replaces the manifest of a segment. A folder that knows versions refuses that with
// [ErrReplaced] if somebody else has replaced it since it was read.
func keepManifest(ctx context.Context, folder Folder, m *manifest) error {
	versions, knows := folder.(Versions)
	if !knows {
		return keepJSON(ctx, folder, segmentPaper(m.Segment, m.Of), "segment", m)
	}
	body, err := encodeJSON(m)
	if err != nil {
		return err
	}
	text, _ := seal("segment", body)
	m.version, err = versions.WriteVersion(ctx, segmentPaper(m.Segment, m.Of), m.version,
		func(w io.Writer) error { _, err := w.Write(text); return err })
	return err
}

// fetchManifest reads the manifest of a segment, if there is one.
func fetchManifest(ctx context.Context, folder Folder, segment, of int, m *manifest) (there bool, err error) {
	name := segmentPaper(segment, of)
	body, _, version, err := fetchVersion(ctx, folder, name, "segment")
	if missingFile(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m.version = version
	return true, unusable(folder, name, decodeJSON(body, m))
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

// keepJSON writes a file with a JSON object.
func keepJSON(ctx context.Context, folder Folder, name, kind string, content any) error {
	body, err := encodeJSON(content)
	if err == nil {
		_, err = keep(ctx, folder, name, kind, body)
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

// fetchJSON reads a file with a JSON object. It returns false if there is none.
func fetchJSON(ctx context.Context, folder Folder, name, kind string, content any) (bool, error) {
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
		return &errDamaged{fmt.Sprintf("it is not the JSON that ingot verify writes: %v", err)}
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
