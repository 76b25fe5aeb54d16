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

// A paper is a small file of a pass. Its first line says what it is, its version, and the SHA-256
// of the rest in hex:
//
//	ingot-verify segment 1 9f86d081884c7d65…
//
// The rest is one JSON object.
const (
	paperMagic   = "ingot-verify"
	paperVersion = "1"
	maxPaper     = 64 << 20
)

// manifest says how far a segment is read, and which runs hold what was read. It is replaced at
// each checkpoint. A run that it does not name is ignored: it comes from a pass that stopped before
// its next checkpoint, and its items are read again.
type manifest struct {
	Job     string    `json:"job"` // what is verified; see jobOf
	Segment int       `json:"segment"`
	Of      int       `json:"of"`
	Buckets int       `json:"buckets"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"` // when all was read; zero: not yet
	Items   position  `json:"items"`
	Totals  position  `json:"totals"`
	Numbers int       `json:"numbers"` // the number that the next run gets
	Runs    []runFile `json:"runs"`
	Seen    seen      `json:"seen"`
}

// position says how far a segment of a table is read.
type position struct {
	PK   string `json:"pk,omitempty"` // go on after this key
	SK   string `json:"sk,omitempty"`
	Done bool   `json:"done,omitempty"`
}

func (p position) after() event.Key { return event.Key{PK: p.PK, SK: p.SK} }

// runFile names a run in the folder.
type runFile struct {
	Number  int    `json:"number"`
	Bucket  int    `json:"bucket"`
	Attempt string `json:"attempt"` // of the call that wrote it, drawn at random
	Records uint64 `json:"records"`
	Sum     string `json:"sum"` // its checksum in hex
}

// name is the name of the file. Two processes may read the same segment, by mistake or one after
// the other. They never write two files of one name, and each manifest names only its own files.
func (m *manifest) name(r runFile) string {
	return fmt.Sprintf("segment-%04d-of-%04d-run-%06d-bucket-%04d-%s", m.Segment, m.Of, r.Number, r.Bucket, r.Attempt)
}

func segmentPaper(segment, of int) string {
	return fmt.Sprintf("segment-%04d-of-%04d.manifest", segment, of)
}

func mergedPaper(bucket, of int) string { return fmt.Sprintf("merged-%04d-of-%04d.result", bucket, of) }

// encodePaper writes a paper.
func encodePaper(kind string, content any) ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(content); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body.Bytes())
	head := fmt.Sprintf("%s %s %s %s\n", paperMagic, kind, paperVersion, hex.EncodeToString(sum[:]))
	return append([]byte(head), body.Bytes()...), nil
}

// decodePaper reads a paper of a kind.
func decodePaper(kind string, text []byte, content any) error {
	line, body, whole := bytes.Cut(text, []byte("\n"))
	words := strings.Split(string(line), " ")
	switch {
	case !whole || len(words) != 4 || words[0] != paperMagic || words[1] != kind:
		return &errDamaged{"it is not a " + kind + " that ingot verify has written"}
	case words[2] != paperVersion:
		return &errDamaged{fmt.Sprintf("it has version %.20q, and this program reads version %s", words[2], paperVersion)}
	}
	if sum := sha256.Sum256(body); words[3] != hex.EncodeToString(sum[:]) {
		return &errDamaged{"its checksum is wrong"}
	}
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

// keep writes a paper into the folder.
func keep(ctx context.Context, folder Folder, name, kind string, content any) error {
	text, err := encodePaper(kind, content)
	if err != nil {
		return err
	}
	return folder.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// fetch reads a paper of the folder. It returns false if there is none.
func fetch(ctx context.Context, folder Folder, name, kind string, content any) (bool, error) {
	f, err := folder.Read(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s in %s: %w", name, folder, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPaper+1))
	if err == nil && len(text) > maxPaper {
		err = &errDamaged{fmt.Sprintf("it is longer than %d MB", maxPaper>>20)}
	}
	if err == nil {
		err = decodePaper(kind, text, content)
	}
	return true, unusable(folder, name, err)
}

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
