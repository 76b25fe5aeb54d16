package cost

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
)

// spec is a file of prices as Go values.
type spec struct {
	Format int              `yaml:"ingotPrices" need:"yes"`
	Region string           `yaml:"region" need:"yes" like:"us-east-1"`
	Prices map[string]price `yaml:"prices"`
}

type price struct {
	Dollars event.Decimal `yaml:"dollars"` // absent: not known
	Per     event.Decimal `yaml:"per"`     // for this many of what is billed
	Page    string        `yaml:"page"`    // where AWS states it
	Read    string        `yaml:"read"`    // where and when it was read
}

// format is the version of a file of prices that this build reads.
const format = 1

const wholeFile = "ingotPrices: 1, region: and prices:"

var words = &declare.Words{Version: "ingotPrices", Format: format, What: "file of prices", Whole: wholeFile,
	Example: func(t reflect.Type) string {
		switch t {
		case reflect.TypeFor[spec]():
			return wholeFile
		case reflect.TypeFor[price]():
			return "{dollars: 0.125, per: 1000000}"
		}
		return "{" + ReadUnits + ": {dollars: 0.125, per: 1000000}}"
	}}

// ReadPrices reads a file of prices. name is the name of the file, for errors.
func ReadPrices(name string, text []byte) (*Prices, error) {
	p, r := &Prices{file: name, each: map[string]float64{}}, declare.NewReport(name)
	if declare.Decode(text, r, words, &p.said); len(r.Mistakes) == 0 && p.said.Format != format {
		r.Mistake("ingotPrices", fmt.Sprintf("ingotPrices: %d is not a format that this build reads", p.said.Format), "ingotPrices: 1")
	}
	for _, name := range slices.Sorted(maps.Keys(p.said.Prices)) {
		at, one := declare.Place("prices").In(name), p.said.Prices[name]
		_, known := r.Values[at.In("dollars")]
		switch {
		case !slices.Contains(Names(), name):
			r.Misnamed(at, "there is no price "+name, declare.Suggest(name, Names()))
		case r.IsBroken(at.In("dollars")) || r.IsBroken(at.In("per")):
		case known && one.Dollars.Sign() < 0:
			r.Mistake(at.In("dollars"), "dollars is below 0", "0 or more, or leave it out if the price is not known")
		case known && one.Per.Sign() <= 0:
			r.Mistake(at, name+" does not say for how many the price is", "per: 1 or per: 1000000, for example")
		case known:
			dollars, _ := one.Dollars.Rat().Float64()
			per, _ := one.Per.Rat().Float64()
			p.each[name] = dollars / per
		}
	}
	if len(r.Mistakes) == 0 {
		return p, nil
	}
	var lines []string
	for _, m := range r.Mistakes.Sorted() {
		lines = append(lines, m.String())
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}
