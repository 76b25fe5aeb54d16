package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"iter"
	"math/rand/v2"
	"regexp"
	"strconv"

	"github.com/ingot-events/ingot/internal/tool/demo/tally"
)

//go:embed data/earthquakes.ndjson.gz data/earthquakes.yaml
var bundled embed.FS

// Earthquakes returns the bundled week of real earthquakes.
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

var magnitude = regexp.MustCompile(`"mag":(-?[0-9.]+)`)

// strengthen makes an earthquake one to three magnitudes stronger, like a correction with the same
// id.
func strengthen(body string, die *rand.Rand) string {
	return magnitude.ReplaceAllStringFunc(body, func(found string) string {
		was, err := strconv.ParseFloat(found[len(`"mag":`):], 64)
		if err != nil {
			return found
		}
		return `"mag":` + strconv.FormatFloat(was+1+2*die.Float64(), 'f', 1, 64)
	})
}
