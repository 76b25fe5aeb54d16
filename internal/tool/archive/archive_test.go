package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/archive"
)

// shelf is an archive bucket that a test fills.
type shelf struct {
	*testing.T
	Bucket
}

func newShelf(t *testing.T) shelf {
	client := embedded.New(embedded.Config{}).S3()
	must.Succeed(t, stack.CreateArchive(t.Context(), client, "archive"))
	return shelf{t, Bucket{client, "archive"}}
}

func expired(t *testing.T, day, sequence, id string) *event.Change {
	t.Helper()
	image := `{"PK":{"S":"ORDER#` + id + `"},"SK":{"S":"-"},"at":{"S":"2026-01-01T00:00:00.000000000Z"},"data":{"S":"{\"id\":\"` + id +
		`\"}"},"digest":{"B":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="},"epoch":{"N":"1"},"expiresAt":{"N":"1"},"id":{"S":"` + id +
		`"},"type":{"S":"order"}}`
	item, err := Decode(image)
	must.Succeed(t, err)
	n, err := event.ParseSequence("1000000000000000000" + sequence)
	must.Succeed(t, err)
	at, err := time.Parse(time.DateOnly, day)
	must.Succeed(t, err)
	return &event.Change{Kind: event.Remove, Expired: true, Sequence: n, Created: at, Old: item, OldImage: image}
}

// file puts a file, as the streams function does.
func (s shelf) file(list ...*event.Change) string {
	s.Helper()
	name, body, err := archive.File(list)
	must.Succeed(s.T, err)
	s.put(name, body)
	return name
}

func (s shelf) put(name, body string) {
	s.Helper()
	in := &s3.PutObjectInput{Bucket: &s.Name, Key: &name, Body: strings.NewReader(body)}
	_, err := s.S3.PutObject(s.Context(), in)
	must.Succeed(s.T, err)
}

// ids returns the ids that are read, and how often reading fails.
func (s shelf) ids(days Days) string {
	s.Helper()
	var list []string
	errs := 0
	for item, err := range s.Read(s.Context(), days) {
		if err != nil {
			errs++
			continue
		}
		list = append(list, item.Event.ID)
	}
	return fmt.Sprint(list, errs)
}

// An event that is in several files, or in a file and in an object, is read once. The days bound
// what is read, and a file that is broken hides no other.
func TestRead(t *testing.T) {
	s := newShelf(t)
	a, b, c, d := expired(t, "2026-03-01", "001", "a"), expired(t, "2026-03-01", "002", "b"), expired(t, "2026-03-02", "003", "c"),
		expired(t, "2026-03-03", "004", "d")
	s.file(a, b)
	s.file(b, c) // the batch was delivered again from b on, and cut differently
	s.file(c, d)
	s.put(archive.ObjectName(a.Old), a.OldImage)
	s.put(archive.ObjectName(expired(t, "2026-03-01", "005", "e").Old), expired(t, "2026-03-01", "005", "e").OldImage)
	must.Equal(t, s.ids(Days{}), "[a b c d e] 0")
	must.Equal(t, s.ids(Days{From: "2026-03-02"}), "[c d] 0", "from a day")
	must.Equal(t, s.ids(Days{To: "2026-03-01"}), "[a b c] 0", "to a day")
	revised := *d // another event under the same key
	revised.OldImage = strings.Replace(d.OldImage, "AQEBAQEBAQ", "AQEBAQEBAg", 1)
	s.file(&revised)
	must.Equal(t, s.ids(Days{From: "2026-03-02"}), "[c d d] 0", "two events of one key")
	s.put("dt=2026-03-01/half.json.gz", "half")
	s.put("dt=2026-03-01/notes.txt", "foreign")
	s.put(archive.Prefix(a.Old.Key)+"foreign.json", "{}")
	must.Equal(t, s.ids(Days{}), "[a b c d d e] 3", "beside what is foreign")
	if list, files, err := s.Find(t.Context(), map[event.Key]bool{b.Old.Key: true}, Days{}); len(list) != 2 || files < 5 || err == nil {
		t.Errorf("%v, %d, %v", list, files, err)
	}
	if list, _, err := s.Find(t.Context(), map[event.Key]bool{b.Old.Key: true}, Days{From: "2026-03-02"}); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// An erased event goes from every file, also from one that changes meanwhile. Files stay, and the
// same batch does not bring it back.
func TestErase(t *testing.T) {
	s := newShelf(t)
	a, b := expired(t, "2026-03-01", "001", "a"), expired(t, "2026-03-01", "002", "b")
	both, one := s.file(a, b), s.file(b)
	busy := &changing{Client: s.S3}
	s.S3 = busy
	names, err := s.Erase(t.Context(), []event.Key{b.Old.Key}, Days{})
	slices.Sort(names)
	want := []string{both, one}
	slices.Sort(want)
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	must.Equal(t, s.ids(Days{}), "[a] 0")
	if again, err := s.Erase(t.Context(), []event.Key{b.Old.Key}, Days{}); err != nil || len(again) != 0 {
		t.Errorf("a second time: %v, %v", again, err)
	}
	must.Equal(t, busy.puts, 3)
	// A line of another version goes, and a broken file hides no other.
	newer, odd := expired(t, "2026-03-03", "003", "b"), expired(t, "2026-03-03", "004", "c")
	newer.OldImage, odd.OldImage = strings.Replace(newer.OldImage, `"data":{"S"`, `"data":{"X"`, 1), "{"
	s.put("dt=2026-03-02/half.json.gz", "half")
	mixed := s.file(newer, odd)
	names, err = s.Erase(t.Context(), []event.Key{b.Old.Key}, Days{})
	must.Fail(t, err, "half.json.gz is not a gzip file", mixed+": not strict")
	must.Match(t, names, []string{mixed})
	must.Equal(t, s.ids(Days{From: "2026-03-03"}), "[] 1", "a line is left that cannot be read")
}

// changing is a bucket in which the first file that is written anew has changed meanwhile.
type changing struct {
	Client

	puts int
}

func (c *changing) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if aws.ToString(in.IfMatch) != "" {
		if c.puts++; c.puts == 1 {
			in.IfMatch = aws.String(`"stale"`)
		}
	}
	return c.Client.PutObject(ctx, in, options...)
}
