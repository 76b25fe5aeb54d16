package archive

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/archive"
)

func readAll(t *testing.T, name, body string) (list []string, last error) {
	t.Helper()
	for image, err := range Images(name, strings.NewReader(body)) {
		if last = err; err == nil {
			list = append(list, image)
		}
	}
	return list, last
}

// What was written is read, with and without some of its lines.
func TestImages(t *testing.T) {
	images := []string{`{"PK":{"S":"A#1"},"SK":{"S":"-"}}`, `{"PK":{"S":"A#2\nß"},"SK":{"S":"-"}}`}
	name, body, err := archive.File([]*event.Change{{OldImage: images[0]}, {OldImage: images[1]}})
	must.Succeed(t, err)
	if got, err := readAll(t, name, body); err != nil || strings.Join(got, "|") != strings.Join(images, "|") {
		t.Errorf("%q, %v", got, err)
	}
	rest, dropped, err := without(name, body, func(image string) bool { return image == images[0] })
	if got, _ := readAll(t, name, rest); err != nil || dropped != 1 || len(got) != 1 || got[0] != images[1] {
		t.Errorf("without one: %d, %q, %v", dropped, got, err)
	}
	if same, dropped, err := without(name, body, func(string) bool { return false }); same != body || dropped != 0 || err != nil {
		t.Errorf("without none: %d, %v", dropped, err)
	}
	rest, dropped, err = without(name, body, func(string) bool { return true })
	if got, bad := readAll(t, name, rest); err != nil || bad != nil || dropped != 2 || len(got) != 0 {
		t.Errorf("without all: %d, %q, %v, %v", dropped, got, err, bad)
	}
}

// Half a file has the lines that are whole, and says what is wrong. A foreign one says so.
func TestBrokenFiles(t *testing.T) {
	var expired []*event.Change
	for range 2000 {
		expired = append(expired, &event.Change{OldImage: `{"PK":{"S":"` + time.Now().Format(time.RFC3339Nano) + `"}}`})
	}
	name, body, err := archive.File(expired)
	must.Succeed(t, err)
	if got, err := readAll(t, name, body[:len(body)/2]); err == nil || len(got) == 0 || len(got) >= 2000 ||
		!strings.Contains(err.Error(), "ends in line") {
		t.Errorf("half a file: %d items, %v", len(got), err)
	}
	_, err = readAll(t, name, "no gzip")
	must.Fail(t, err, "is not a gzip file")
	foreign, err := archive.Compress("{\"a\":1}\n")
	must.Succeed(t, err)
	_, err = readAll(t, name, foreign)
	must.Fail(t, err, "line 1 is not an item")
	if _, _, err := without(name, body[:len(body)/2], func(string) bool { return true }); err == nil {
		t.Error("half a file is written anew")
	}
	if day := dayOf(name); day != "0001-01-01" || dayOf("expired/00/aa.json") != "" || dayOf("dt=2026-03-01/x.json") != "" {
		t.Errorf("the day is %s", day)
	}
}

// FuzzImages reads any bytes as a file.
func FuzzImages(f *testing.F) {
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for image, err := range Images("dt=2026-03-01/x.json.gz", strings.NewReader(string(text))) {
			if err == nil && strings.Contains(image, "\n") {
				t.Errorf("an item of two lines: %q", image)
			}
		}
	})
}
