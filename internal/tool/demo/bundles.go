package demo

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"regexp"
	"strconv"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/tool/demo/tally"
)

// Bundle is data that comes with the demo, and the pipeline that it goes through.
type Bundle struct {
	Name   string // for --example
	Kind   string // "real" or "synthetic"
	Data   Data
	Files  fs.FS
	File   string // the pipeline's name in Files
	Secret string // the key for keyed hashes; empty if the pipeline has none
}

//go:embed data/*.gz data/*.yaml
var bundled embed.FS

// shopSecret is the demo's key for hashing its invented customers. It is not secret.
const shopSecret = "a demo secret: never use it for real customers"

// Bundles returns all bundles. The first is the default of the demo.
func Bundles() []Bundle {
	return []Bundle{
		{"earthquakes", "real", Data{Name: "earthquakes", Events: 1707, Distinct: true, Lines: linesOf("earthquakes"),
			About: "real earthquakes of one week, listed by the US Geological Survey (public domain)",
			Alter: strengthen, Tally: tally.Earthquakes()}, bundled, "data/earthquakes.yaml", ""},
		invented("shop", shopSecret, Data{Name: "orders, payments and refunds", Alter: raise, Resend: retrace,
			Tally: tally.Orders([]byte(shopSecret))}),
		invented("leaderboard", "", Data{Name: "players and results of matches"}),
		invented("feed", "", Data{Name: "follows, posts and likes"}),
		invented("ledger", "", Data{Name: "transfers between accounts", Alter: misquote}),
		invented("sensors", "", Data{Name: "readings of the air", Resend: again}),
	}
}

// invented returns synthetic data, which goes through the example of the same name.
func invented(name, secret string, d Data) Bundle {
	d.About, d.Distinct, d.Lines = "SYNTHETIC, made once by a seeded generator", true, linesOf(name)
	return Bundle{name, "synthetic", d, examples.Files, name + "/pipeline.yaml", secret}
}

// linesOf returns the lines of a bundled file.
func linesOf(name string) func() iter.Seq2[Line, error] {
	return func() iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			packed, err := bundled.Open("data/" + name + ".ndjson.gz")
			if err != nil {
				yield(Line{}, err)
				return
			}
			unpacked, err := gzip.NewReader(packed)
			if err != nil {
				yield(Line{}, err)
				return
			}
			readLines(unpacked)(yield)
		}
	}
}

var (
	magnitude = regexp.MustCompile(`"mag":(-?[0-9.]+)`)
	cents     = regexp.MustCompile(`"(total|amount|refund)_cents":[0-9]+`)
	tracing   = regexp.MustCompile(`"trace_id":"[0-9a-f]{16}"`)
	lastCents = regexp.MustCompile(`"cents":(\d+)\}\]`)
	tries     = regexp.MustCompile(`"tries":[0-9]+`)
)

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

// raise raises the amount of an order, a payment or a refund, and keeps its id.
func raise(body string, die *rand.Rand) string {
	return cents.ReplaceAllStringFunc(body, func(found string) string { return found + strconv.Itoa(die.IntN(10)) })
}

// retrace returns what the shop sends in another try. Only the trace differs, which is not part of
// the content of the event.
func retrace(body string, die *rand.Rand) string {
	return tracing.ReplaceAllString(body, fmt.Sprintf(`"trace_id":"%016x"`, die.Uint64()))
}

// misquote makes a transfer pay out more than it takes. If its key is taken, it is a Conflict. If
// the key is free because the transfer was refused, this one is refused too, because its entries do
// not add up to 0.
func misquote(body string, die *rand.Rand) string {
	return lastCents.ReplaceAllStringFunc(body, func(text string) string {
		n, _ := strconv.Atoi(lastCents.FindStringSubmatch(text)[1]) // digits alone
		return fmt.Sprintf(`"cents":%d}]`, n+1+die.IntN(500))
	})
}

// again returns a reading in the form in which a sensor sends it a second time.
func again(body string, die *rand.Rand) string {
	return tries.ReplaceAllString(body, `"tries":`+strconv.Itoa(2+die.IntN(3)))
}
