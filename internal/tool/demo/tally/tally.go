// Package tally adds up a producer's list by hand, as it is before any trouble. It uses plain maps
// and exact fractions, and is written for the bundled data. [Earthquakes] and [Orders] return the
// tallies. The package shares no code with what it judges. A test checks its imports for that.
package tally

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// Total names one total: the aggregate, the values it is by, joined by #, and the start of its
// window as 2018-02-01T00:00:00Z, or "-" if it has none.
type Total struct {
	Aggregate, By, Window string
}

// Tally holds the sums so far. It has one entry for each total, and nothing for each event.
type Tally struct {
	Events int
	Totals map[Total]map[string]*big.Rat
	// Subtracted holds the aggregates that fall to nothing when everything has expired.
	Subtracted map[string]bool
	read       func(t *Tally, body []byte) error
}

func newTally(read func(*Tally, []byte) error, subtracted ...string) *Tally {
	t := &Tally{Totals: map[Total]map[string]*big.Rat{}, Subtracted: map[string]bool{}, read: read}
	for _, name := range subtracted {
		t.Subtracted[name] = true
	}
	return t
}

// Add counts one event of the producer's list.
func (t *Tally) Add(body string) error {
	t.Events++
	return t.read(t, []byte(body))
}

func (t *Tally) values(total Total) map[string]*big.Rat {
	values := t.Totals[total]
	if values == nil {
		values = map[string]*big.Rat{}
		t.Totals[total] = values
	}
	return values
}

// sum adds to a value.
func (t *Tally) sum(total Total, name string, n *big.Rat) {
	values := t.values(total)
	if values[name] == nil {
		values[name] = new(big.Rat)
	}
	values[name].Add(values[name], n)
}

// largest raises the value of that name.
func (t *Tally) largest(total Total, n *big.Rat) {
	values := t.values(total)
	if old := values["largest"]; old == nil || old.Cmp(n) < 0 {
		values["largest"] = new(big.Rat).Set(n)
	}
}

func one() *big.Rat { return big.NewRat(1, 1) }

func number(n json.Number) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil, fmt.Errorf("%q is not a number", n)
	}
	return r, nil
}

func day(at time.Time) string { return at.UTC().Format("2006-01-02") + "T00:00:00Z" }
