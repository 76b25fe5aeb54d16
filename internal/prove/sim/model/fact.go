package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group returns the FIFO group of an event.
func (f Fact) Group() string { return f.Key()[len(f.Key())-1:] }

// Fact is what an event says, however its text spells it.
type Fact struct {
	Type, ID, Merchant string
	Cents, Rev         int64
	At                 string // RFC 3339, whole seconds
	Customer           string // empty: the payload has none
	Gift               bool
	// Lines are the lines of an order, such as "1=250,2=-30": number and cents. It is empty in
	// worlds without parts.
	Lines string
	// Coupons are the coupons that an order claims, such as "3,7". It is empty in worlds without
	// claims.
	Coupons string
	// Shelves are the shelves of which an order is a version, such as "3=2,7=0": shelf and version.
	// It is empty in worlds without states.
	Shelves string
	Owner   string // of a coupon or a state: the id of its order
	After   string // of a payment: the id of the order that it requires
	Ends    string // of a payment: when it expires, as RFC 3339; empty: when its type says
	Note    int    // how long the note of an order is; 0: it has none
}

func (f Fact) Key() string { return f.Type + "/" + f.ID }

// Newer reports whether a parcel, or a state, is a later version than another. Of parcels it
// compares revisions first, then cents.
func (f Fact) Newer(other Fact) bool {
	if f.Type == "shelf" {
		return f.newerState(other)
	}
	return f.Rev > other.Rev || f.Rev == other.Rev && f.Cents > other.Cents
}

// tie returns what is stored beside the revision of a parcel to break ties.
func (f Fact) tie() string { return ordered(f.Cents) }

// ordered returns a number as text. Texts have the order of the numbers.
func ordered(n int64) string {
	if n == 0 {
		return "2"
	}
	digits := strconv.FormatInt(max(n, -n), 10)
	size, digits := len(digits)-1, strings.TrimRight(digits, "0")
	if n > 0 {
		return fmt.Sprintf("3%03d%s", 500+size, digits)
	}
	complement := strings.Map(func(r rune) rune { return '0' + '9' - r }, digits)
	return fmt.Sprintf("1%03d%s~", 500-size, complement)
}

func (f Fact) Time() time.Time {
	at, _ := time.Parse(time.RFC3339, f.At)
	return at
}

// Spell writes the fact as JSON, in another way each time. The order of members, the spaces and the
// spelling of numbers are not part of what the fact says.
func (f Fact) Spell(rng *rand.Rand) string {
	members := []string{
		fmt.Sprintf(`"type":%q`, f.Type), fmt.Sprintf(`"id":%q`, f.ID), fmt.Sprintf(`"merchant":%q`, f.Merchant),
		`"cents":` + SpellNumber(rng, f.Cents), fmt.Sprintf(`"at":%q`, f.At), fmt.Sprintf(`"gift":%t`, f.Gift),
	}
	if f.Customer != "" {
		members = append(members, fmt.Sprintf(`"customer":%q`, f.Customer))
	}
	if f.Type == "parcel" {
		members = append(members, `"rev":`+SpellNumber(rng, f.Rev))
	}
	if f.Note > 0 {
		members = append(members, fmt.Sprintf(`"note":%q`, f.note()))
	}
	if f.Type == "payment" {
		members = append(members, fmt.Sprintf(`"order":%q`, f.After))
	}
	if f.Ends != "" {
		members = append(members, fmt.Sprintf(`"ends":%q`, f.Ends))
	}
	id := members[1]
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	between := []string{",", ", "}[rng.IntN(2)]
	if f.Type == "parcel" && between == ", " { // its id folds spelling
		members[slices.Index(members, id)] = fmt.Sprintf(`"id":%q`, strings.ToUpper(f.ID)+"\u00a0")
	}
	return "{" + strings.Join(members, between) + "}"
}

func SpellNumber(rng *rand.Rand, n int64) string {
	switch rng.IntN(3) {
	case 0:
		return strconv.FormatInt(n, 10) + ".0"
	case 1:
		return strconv.FormatInt(n, 10) + "e0"
	}
	return strconv.FormatInt(n, 10)
}

// Read reads a payload with the standard library alone.
func Read(data string) (Fact, error) {
	var raw struct {
		Type, ID, Merchant, At, Customer string
		Order, Ends                      string
		Cents, Rev                       float64
		Gift                             bool
		Lines                            []struct{ Line, Cents float64 }
		Coupons                          []struct{ Coupon string }
		Shelves                          []shelf
		Note                             string
	}
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return Fact{}, err
	}
	if raw.Type == "parcel" {
		raw.ID = strings.ToLower(strings.TrimSpace(raw.ID))
	}
	return Fact{Type: raw.Type, ID: raw.ID, Merchant: raw.Merchant, At: raw.At, Customer: raw.Customer, Gift: raw.Gift,
		Cents: int64(raw.Cents), Rev: int64(raw.Rev), Lines: readLines(raw.Lines), Coupons: readCoupons(raw.Coupons),
		Note: strings.Count(raw.Note, ";"), After: raw.Order, Ends: raw.Ends, Shelves: readShelves(raw.Shelves)}, nil
}
