package cost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// ReadPrices reads a file of prices. name is the name of the file, for errors.
func ReadPrices(name string, text []byte) (*Prices, error) {
	r := reader{name}
	parsed, fault := yamlfile.Parse(text)
	if fault == nil {
		fault = parsed.Repetition()
	}
	if fault != nil {
		what := fault.What
		if fault.Instead != "" {
			what += "; write " + fault.Instead
		}
		return nil, r.mistake(fault.Position, what)
	}
	if parsed.Second != nil {
		return nil, r.mistake(parsed.Second.Position, "a second YAML document begins here; write all prices into one, without this ---")
	}
	p := &Prices{file: name, prices: map[string]price{}}
	format := ""
	err := r.mapping(parsed.Root, "a file of prices", func(m yamlfile.Member) (err error) {
		switch m.Name {
		case "ingotPrices":
			format, err = r.text(m)
		case "region":
			p.region, err = r.text(m)
		case "prices":
			err = r.mapping(m.Value, "prices", func(m yamlfile.Member) (err error) {
				p.prices[m.Name], err = r.price(m)
				return err
			})
		default:
			err = r.mistake(m.Position, m.Name+" is not a member of a file of prices, which has ingotPrices, region and prices")
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case format != "1":
		return nil, fmt.Errorf("%s: it is not a file of prices that this version reads; write ingotPrices: 1 at its top", name)
	case p.region == "":
		return nil, fmt.Errorf("%s: it does not say for which Region its prices are; write region: us-east-1, for example", name)
	}
	return p, nil
}

// reader reads the parts of a file of prices. An error names the place in the file.
type reader struct{ file string }

func (r reader) mistake(at yamlfile.Position, what string) error {
	return fmt.Errorf("%s:%d:%d: %s", r.file, at.Line, at.Column, what)
}

// mapping reads each member of a mapping. what is the name of the mapping, for errors. A missing
// value has no members.
func (r reader) mapping(n *yamlfile.Node, what string, read func(yamlfile.Member) error) error {
	if n == nil || n.Kind == yamlfile.Null {
		return nil
	}
	if n.Kind != yamlfile.Map {
		return r.mistake(n.Position, what+" must be a mapping, such as "+ReadUnits+": {dollars: 0.125, per: 1000000} below prices:")
	}
	for _, m := range n.Members {
		if err := read(m); err != nil {
			return err
		}
	}
	return nil
}

// price reads one price.
func (r reader) price(m yamlfile.Member) (p price, err error) {
	at := "prices." + m.Name
	if !slices.Contains(Names(), m.Name) {
		return p, r.mistake(m.Position, at+": there is no such price; the names are "+strings.Join(Names(), ", "))
	}
	err = r.mapping(m.Value, at, func(m yamlfile.Member) (err error) {
		switch m.Name {
		case "dollars":
			if m.Value == nil || m.Value.Kind == yamlfile.Null {
				return nil
			}
			var dollars float64
			if dollars, err = r.number(m); err == nil && dollars < 0 {
				err = r.mistake(m.Value.Position,
					fmt.Sprintf("%s: dollars is %v; write 0 or more, or leave it out if the price is not known", at, dollars))
			}
			p.Dollars = &dollars
		case "per":
			p.Per, err = r.number(m)
		case "page":
			p.Page, err = r.text(m)
		case "read":
			p.Read, err = r.text(m)
		default:
			err = r.mistake(m.Position, at+": "+m.Name+" is not a member of a price, which has dollars, per, page and read")
		}
		return err
	})
	if err == nil && p.Dollars != nil && !(p.Per > 0) {
		err = r.mistake(m.Position, at+": per must say for how many the price is; write per: 1 or per: 1000000, for example")
	}
	return p, err
}

// number reads a value that must be a number.
func (r reader) number(m yamlfile.Member) (float64, error) {
	if m.Value != nil && (m.Value.Kind == yamlfile.Integer || m.Value.Kind == yamlfile.Float) {
		if n, err := strconv.ParseFloat(m.Value.Text, 64); err == nil {
			return n, nil
		}
	}
	return 0, r.mistake(m.Position, m.Name+" must be a number in decimal digits, such as 0.40 or 1000000")
}

// text reads a value that must be a scalar, as it is written.
func (r reader) text(m yamlfile.Member) (string, error) {
	switch {
	case m.Value == nil:
		return "", nil
	case m.Value.Kind >= yamlfile.List:
		return "", r.mistake(m.Position, m.Name+" must be a text or a number, written where it is used")
	}
	return m.Value.Text, nil
}
