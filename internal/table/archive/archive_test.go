package archive

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func change(t testing.TB, sequence, image string) *event.Change {
	t.Helper()
	n, err := event.ParseSequence(sequence)
	must.Succeed(t, err)
	return &event.Change{Kind: event.Remove, Expired: true, Lane: event.Lane{StreamARN: "arn:stream", ShardID: "shardId-1"}, Sequence: n,
		Created: must.Time("2026-03-01T23:59:59Z"), OldImage: image}
}

// The name and the lines of a file are a format that is stored, and the same batch makes the same
// name.
func TestFile(t *testing.T) {
	images := []string{`{"PK":{"S":"A#1"},"SK":{"S":"-"}}`, `{"PK":{"S":"A#2\nß"},"SK":{"S":"-"}}`}
	expired := []*event.Change{change(t, "100000000000000000001", images[0]), change(t, "100000000000000000002", images[1])}
	name, body, err := File(expired)
	must.Succeed(t, err)
	const want = "dt=2026-03-01/9667aeece49c4e20-100000000000000000001-100000000000000000002-f7dba7a7374a8577.json.gz"
	if name != want || !IsFile(name) {
		t.Errorf("the name is %s", name)
	}
	if again, _, _ := File(expired); again != name {
		t.Errorf("the second time it is %s", again)
	}
	if part, _, _ := File(expired[1:]); part == name {
		t.Errorf("a part has the same name")
	}
	for _, name := range []string{"expired/00/aa.json", "dt=2026-03-01/x.json", "other"} {
		if IsFile(name) {
			t.Errorf("%s is taken for a file", name)
		}
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	must.Succeed(t, err)
	lines := new(strings.Builder)
	_, err = io.Copy(lines, z)
	must.Succeed(t, err)
	if lines.String() != `{"Item":`+images[0]+"}\n"+`{"Item":`+images[1]+"}\n" {
		t.Errorf("the lines are\n%s", lines)
	}
}

// The name is fixed, because other programs look objects up by it. Python computed the hashes:
//
//	part = lambda s: struct.pack(">I", len(s.encode())) + s.encode()
//	hashlib.sha256(part(pk) + part(sk)).hexdigest()
func TestObjectName(t *testing.T) {
	for key, hash := range map[event.Key]string{
		{PK: "ORDER#1", SK: "ORDER"}: "bb4fa292552e84646b2178fde8d4f294d846388a7003f951b967b2dfea103fa5",
		{PK: "ORDER#1O",
			SK: "RDER"}: "aa3dbb06f8396d7b928b56fda02c77b3e10783822016b8823960576d449d962e", // the same bytes but for the lengths
		{PK: "M#größe#日本", SK: "-"}: "d8549fee06e08a5057ffad0dde190b06d629b805970e7721f0b1a9ea1f4609ff", // lengths count bytes
	} {
		want := "expired/" + hash + "/010203" + strings.Repeat("0", 58) + ".json"
		must.Equal(t, ObjectName(&event.Item{Key: key, Digest: event.Digest{1, 2, 3}}), want, key)
	}
}
