package sample

// Report is what would become of the events of a file, if nothing were stored but the lines before each.
type Report struct {
	File     string    `json:"file"`
	Lines    int       `json:"lines"`    // that hold an event, or should
	Verdicts []Verdict `json:"verdicts"` // by verdict, the most frequent first
	// Judged is how many different keys were kept to judge repetitions by. Where there were more, a repetition of a later
	// one is not noticed, and "Inserted" is a bound from above.
	Judged  int     `json:"judgedKeys"`
	Bounded bool    `json:"bounded"` // there were more keys than that
	Paths   []Path  `json:"paths"`   // those that some event lacks, or has of another type
	Fine    int     `json:"fine"`    // paths that every event has as it should
	Keys    []Hot   `json:"keys"`    // of the table and of each index
	Totals  []Hot   `json:"hotTotals"`
	Items   Items   `json:"items"`
	Updates Updates `json:"updates"`
}

// Verdict is a verdict with its reason, and how many lines get it.
type Verdict struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Type    string `json:"type,omitempty"`
	Count   int    `json:"count"`
	Line    int    `json:"line"`             // the first of them
	Detail  string `json:"detail,omitempty"` // of the first; absent where hmac hides the type's keys
}

// Path is a field that an event type reads, and how often it is not what is read.
type Path struct {
	Type   string         `json:"type"`
	Path   string         `json:"path"`
	Uses   []string       `json:"uses"`
	Needed bool           `json:"needed"` // an event without it is Poison
	Of     int            `json:"of"`     // events of the type
	Absent int            `json:"absent"`
	Null   int            `json:"null"`
	Empty  int            `json:"empty"` // text of no length, which a template takes for missing
	Other  map[string]int `json:"other,omitempty"`
}

// Hot is the most frequent keys of a table, an index or an aggregate.
type Hot struct {
	Of       string `json:"in"` // "table", "GSI1", "merchant_daily"
	Count    int    `json:"count"`
	Distinct int    `json:"distinct"`
	Exact    bool   `json:"exact"` // else there were more distinct ones, and counts are bounds
	Top      []Key  `json:"top"`
}

// Key is one frequent key.
type Key struct {
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`      // of totals
	KeyHash string `json:"keyHash,omitempty"` // in place of the key where hmac hides it
	AtLeast int    `json:"atLeast"`
	AtMost  int    `json:"atMost"`
}

// Items is about the items that would be written.
type Items struct {
	Count   int     `json:"count"`
	Least   int     `json:"leastBytes"`
	Most    int     `json:"mostBytes"`
	Mean    float64 `json:"meanBytes"`
	Largest int     `json:"largestLine"`
	Units   int     `json:"writeUnits"` // of table and indexes together
	Each    float64 `json:"unitsEach"`
}

// Updates is about the totals that the items would move.
type Updates struct {
	Count int     `json:"count"` // one for each item and total
	Each  float64 `json:"each"`  // for each item
	Most  int     `json:"most"`  // of one item
}

// Poison reports whether a line would be Poison.
func (r *Report) Poison() bool {
	for _, v := range r.Verdicts {
		if v.Verdict == "Poison" {
			return true
		}
	}
	return false
}
