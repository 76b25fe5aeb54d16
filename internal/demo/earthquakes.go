package demo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"regexp"
	"strconv"

	"github.com/ingot-events/ingot/internal/demo/tally"
)

//go:embed data/earthquakes.ndjson.gz data/earthquakes.yaml data/orders.yaml
var bundled embed.FS

// Names of the bundled pipelines in Bundled.
const (
	EarthquakesPipeline = "earthquakes.yaml"
	OrdersPipeline      = "orders.yaml"
)

// Bundled holds the bundled pipelines.
func Bundled() fs.FS {
	sub, err := fs.Sub(bundled, "data")
	if err != nil {
		panic("demo: the embedded directory data is gone") // only a change of the embed line can do this
	}
	return sub
}

// Earthquakes is the bundled week of real earthquakes.
func Earthquakes() Data {
	return Data{
		Name:   "earthquakes",
		About:  "real earthquakes of one week, listed by the US Geological Survey (public domain)",
		Events: 1707,
		Lines: func() iter.Seq2[Line, error] {
			return func(yield func(Line, error) bool) {
				packed, err := bundled.ReadFile("data/earthquakes.ndjson.gz")
				if err != nil {
					yield(Line{}, err)
					return
				}
				unpacked, err := gzip.NewReader(bytes.NewReader(packed))
				if err != nil {
					yield(Line{}, err)
					return
				}
				readLines(unpacked)(yield)
			}
		},
		Alter:    strengthen,
		Distinct: true,
		Tally:    tally.Earthquakes(),
	}
}

// maxLine is the longest line that is read: more than a message can be.
const maxLine = 2 << 20

// byteOrderMark may stand before the first line, as some programs begin a file; it is no part of the event.
const byteOrderMark = "\ufeff"

// readLines gives the lines that are not blank. An error with a line's number is that line's; one without is of
// reading itself.
func readLines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		n := 0
		for lines.Scan() {
			text := lines.Bytes()
			if n++; n == 1 {
				text = bytes.TrimPrefix(text, []byte(byteOrderMark))
			}
			if body := bytes.TrimSpace(text); len(body) > 0 && !yield(Line{n, string(body)}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Line{Number: n + 1}, fmt.Errorf("it has more than %d bytes, and no message is so long", maxLine))
		case err != nil:
			yield(Line{}, err)
		}
	}
}

var magnitude = regexp.MustCompile(`"mag":(-?[0-9.]+)`)

// strengthen makes an earthquake one to three magnitudes stronger: a correction under the same id.
func strengthen(body string, die *rand.Rand) string {
	return magnitude.ReplaceAllStringFunc(body, func(found string) string {
		was, err := strconv.ParseFloat(found[len(`"mag":`):], 64)
		if err != nil {
			return found
		}
		return `"mag":` + strconv.FormatFloat(was+1+2*die.Float64(), 'f', 1, 64)
	})
}
