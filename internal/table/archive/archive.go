// Package archive keeps events that have expired in the archive bucket. [Keeper] does that for a
// batch of changes. The rest is the form: files of many events, or an object for each.
// docs/formats.md describes both.
package archive

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"sync"

	"github.com/ingot-events/ingot/event"
)

// ObjectName returns the name of an object that holds one item: the hash of its key, and its
// digest.
func ObjectName(item *event.Item) string { return Prefix(item.Key) + item.Digest.String() + ".json" }

// Prefix is the beginning of the names of all objects that hold items of one key.
func Prefix(key event.Key) string { return "expired/" + key.Hash() + "/" }

// suffix is the end of the name of a file.
const suffix = ".json.gz"

// IsFile reports whether a name is that of a file of many events.
func IsFile(name string) bool {
	return strings.HasPrefix(name, "dt=") && strings.HasSuffix(name, suffix)
}

// File makes the file of what expired, in the order of one shard: its name and its bytes. The name
// has the day of the first removal, the shard, the first and the last sequence number, and a digest
// of the lines. So a name never stands for two contents, and a batch that is delivered again has
// the same one. Each line is an item as DynamoDB exports it, {"Item":{…}}.
func File(expired []*event.Change) (name, body string, err error) {
	var lines strings.Builder
	for _, c := range expired {
		lines.WriteString(`{"Item":`)
		lines.WriteString(c.OldImage)
		lines.WriteString("}\n")
	}
	first, last := expired[0], expired[len(expired)-1]
	lane := sha256.Sum256([]byte(first.Lane.StreamARN + "\x00" + first.Lane.ShardID))
	digest := sha256.Sum256([]byte(lines.String()))
	name = "dt=" + first.Created.UTC().Format("2006-01-02") + "/" + hex.EncodeToString(lane[:8]) + "-" + first.Sequence.String() + "-" +
		last.Sequence.String() + "-" + hex.EncodeToString(digest[:8]) + suffix
	body, err = Compress(lines.String())
	return name, body, err
}

// compressors are kept, because each takes a megabyte of memory.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Compress returns the bytes of a file with these lines.
func Compress(lines string) (string, error) {
	var b strings.Builder
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&b)
	if _, err := io.WriteString(z, lines); err != nil {
		return "", err
	}
	err := z.Close()
	return b.String(), err
}
