package sample

import (
	"github.com/ingot-events/ingot/event"
)

// Report says what would become of the events of a file, if nothing were stored except the lines
// before each of them.
type Report struct {
	File     string    `json:"file"`
	Lines    int       `json:"lines"`    // lines that hold an event, or should hold one
	Verdicts []Verdict `json:"verdicts"` // by verdict, the most frequent first
	// Rehearsed is how many of the lines were rehearsed: the first ones. The others were planned,
	// and have a verdict only if they are Poison.
	Rehearsed int     `json:"rehearsed"`
	Paths     []Path  `json:"paths"` // those that some event lacks or has with another type
	Fine      int     `json:"fine"`  // number of paths that every event has as it should
	Keys      []Hot   `json:"keys"`  // for the table and for each index
	Totals    []Hot   `json:"hotTotals"`
	Lists     []Hot   `json:"hotLists,omitempty"` // of ranked totals: a window, and what the rank is within
	Items     Items   `json:"items"`
	Updates   Updates `json:"updates"`
	// Taking is how many of the events that are Inserted move a total towards a bound. They are
	// Rejected if it is too low, which depends on the order in which events arrive, and on what is
	// stored.
	Taking int `json:"boundsMayRefuse,omitempty"`
	// Compress says of each type with compress what it saves, by type.
	Compress []Compress `json:"compress,omitempty"`
	// Quoted lists fields that are text where a number is read. They are findings of a check.
	Quoted []Quoted `json:"-"`
	// Rivals are the first two lines with one key and different payloads, and RivalType is the type
	// of the second. They are 0 if no line is a Conflict.
	Rivals    [2]int `json:"-"`
	RivalType string `json:"-"`

	// Times says of each type how many times are hardly meant, by type.
	Times []Times `json:"-"`
	// Firsts lists arrays of which the first element alone is read, and that have more.
	Firsts []First `json:"-"`
	// Sorts lists fields of numbers and times whose text is in another order, by type and path.
	Sorts []Sorts `json:"-"`

	advice string // how to make a file of events of this one, judged by its first line
}

// Compress says how many items of a type take fewer write units compressed.
type Compress struct {
	Type  string `json:"type"`
	Of    int    `json:"of"`
	Saves int    `json:"saves"`
}

// Verdict is a verdict with its reason, and how many lines get it.
type Verdict struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Type    string `json:"type,omitempty"`
	Count   int    `json:"count"`
	Line    int    `json:"line"`             // the first of them
	Detail  string `json:"detail,omitempty"` // of the first line, without personal values
	// Next is the second of the lines, and NextDetail its detail, if a detail says why.
	Next       int    `json:"next,omitempty"`
	NextDetail string `json:"nextDetail,omitempty"`
}

// Path is a field that an event type reads, with the number of events in which it is not as it
// should be.
type Path struct {
	Type   string         `json:"type"`
	Path   string         `json:"path"`
	Uses   []string       `json:"uses"`
	Needed bool           `json:"needed"` // an event without it is Poison
	Of     int            `json:"of"`     // events of the type
	Absent int            `json:"absent"`
	Null   int            `json:"null"`
	Empty  int            `json:"empty"` // text without characters, which a template treats as missing
	Other  map[string]int `json:"other,omitempty"`
	Meant  string         `json:"meant,omitempty"` // of a path that no event has: a member that is there, with a name like its own
	Place  string         `json:"place,omitempty"` // likewise: where the pipeline names it first, as in pipeline.yaml:8
}

// Hot lists the most frequent keys of a table, an index or an aggregate.
type Hot struct {
	Of       string `json:"in"` // "table", "GSI1", "merchant_daily"
	Count    int    `json:"count"`
	Distinct int    `json:"distinct"`
	Exact    bool   `json:"exact"` // otherwise there were more distinct keys, and counts are bounds
	Top      []Key  `json:"top"`
}

// Key is one frequent key.
type Key struct {
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`      // for totals
	KeyHash string `json:"keyHash,omitempty"` // replaces the key if hmac hides it
	AtLeast int    `json:"atLeast"`
	AtMost  int    `json:"atMost"`
}

// Items describes the items that would be written, parts included.
type Items struct {
	Count   int     `json:"count"`
	Least   int     `json:"leastBytes"`
	Most    int     `json:"mostBytes"`
	Mean    float64 `json:"meanBytes"`
	Largest int     `json:"largestLine"`
	Parts   int     `json:"parts,omitempty"` // of Count, those that are parts of an event
	Units   int     `json:"writeUnits"`      // of table and indexes together
	Each    float64 `json:"unitsEach"`
	Bare    int     `json:"-"` // write units without those of the indexes
}

// Updates describes the totals that the items would change.
type Updates struct {
	Count int     `json:"count"` // one for each item and total
	Each  float64 `json:"each"`  // for each event, with its parts
	Most  int     `json:"most"`  // the most updates of one event
}

// Poison returns how many events would be Poison.
func (r *Report) Poison() int { return r.Count(event.Poison) }

// Count returns how many events would have a verdict.
func (r *Report) Count(verdict event.Verdict) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Verdict == verdict.String() {
			n += v.Count
		}
	}
	return n
}

// Advice says what to do about a file that does not have one event on each line. It is empty for
// every other file.
func (r *Report) Advice() string {
	if r.advice == "" || r.Poison() < r.Lines {
		return ""
	}
	return "; write each event as one JSON object on a line of its own" + r.advice
}
