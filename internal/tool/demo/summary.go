package demo

// SummaryVersion is the version of the summary's JSON form. It is raised when a member changes its
// meaning or is removed.
const SummaryVersion = 1

// Summary is what a run of the demo found. It depends only on data, pipeline, seed, counting and
// repeat. The same values give the same summary to the byte. docs/demo.md describes its JSON form.
type Summary struct {
	Summary    int        `json:"summary"`    // SummaryVersion
	Data       DataPart   `json:"data"`       // what was sent
	Seed       uint64     `json:"seed"`       // of all chance in the run
	Counting   string     `json:"counting"`   // "marks" or "receipts"
	Trouble    []Trouble  `json:"trouble"`    // one for each kind, in a fixed order
	Deliveries Deliveries `json:"deliveries"` // of messages to the ingest function
	Changes    Changes    `json:"changes"`    // deliveries of the table's changes to the streams function
	Kept       Kept       `json:"kept"`       // where the messages are now
	Totals     []Total    `json:"totals"`     // all stored totals, by aggregate and the largest first
	Cost       Cost       `json:"cost"`       // before anything expired
	Flags      []string   `json:"flags"`      // what totals and aggregates said of themselves before anything expired
	Checks     []Check    `json:"checks"`     // before anything expired
	Expiry     *Expiry    `json:"expiry"`     // null: nothing expires under this pipeline
	Same       bool       `json:"same"`       // no check found a difference
}

// DataPart describes what was sent.
type DataPart struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Events int    `json:"events"` // distinct events, copies included
	Copies int    `json:"copies"` // 1: as it is
	From   string `json:"from"`   // event time of the first, RFC 3339
	To     string `json:"to"`     // event time of the last
}

// Trouble is one kind of trouble and what became of it.
type Trouble struct {
	Kind     string         `json:"kind"`     // stable name
	Title    string         `json:"title"`    // for people
	Injected int            `json:"injected"` // how often
	Touched  int            `json:"touched"`  // messages or changes that it hit; 0 where it hit requests
	Verdicts map[string]int `json:"verdicts"` // what the messages it hit came to in the end; they add up to touched
	Became   string         `json:"became"`   // for people
}

// Deliveries adds up: Received is the sum of Unjudged and all Verdicts.
type Deliveries struct {
	Sent     int            `json:"sent"`     // messages, trouble included
	Arrays   int            `json:"arrays"`   // of them, messages that are arrays of several events
	Received int            `json:"received"` // deliveries of messages to the ingest function
	Unjudged int            `json:"unjudged"` // deliveries to invocations that were killed before their answer
	Verdicts map[string]int `json:"verdicts"`
}

// Changes is what the streams function was given in the whole run, including expiry.
type Changes struct {
	Received int `json:"received"` // deliveries of stream records
	Repeated int `json:"repeated"` // of them, of records that had been delivered before
	Updates  int `json:"updates"`  // aggregate items written
	Dropped  int `json:"dropped"`  // steps found counted already and dropped by mark or receipt
}

// Kept says where the messages are after the run. If no event has parts and no message is an array,
// Items is the sum of Unheard and the verdicts Inserted.
type Kept struct {
	Items       int `json:"items"`       // in the events table
	Unheard     int `json:"unheard"`     // of them, stored by a killed invocation or by a request whose answer was lost
	Quarantine  int `json:"quarantine"`  // messages in the quarantine queue
	DeadLetters int `json:"deadLetters"` // messages in the dead-letter queue
}

// Total is one total. Beside it is what plain ADDs under the same faults would have made of it.
type Total struct {
	Aggregate string       `json:"aggregate"`
	By        []ByValue    `json:"by"`
	Window    string       `json:"window"` // its start, RFC 3339; empty: no windows
	Values    []TotalValue `json:"values"`
	label     string       // its window for people; empty: no windows
}

// ByValue is one of the values that a total is by.
type ByValue struct {
	Name string `json:"name"`
	Text string `json:"text"` // as it stands in the key
}

// TotalValue is one value of a total. Numbers are decimal text, because they are exact. Other
// values are texts for people.
type TotalValue struct {
	Name       string `json:"name"`
	Stored     string `json:"stored"`
	PerMessage string `json:"addPerMessage"` // one plain ADD for every delivery of a message
	PerChange  string `json:"addPerChange"`  // one plain ADD for every delivery of a stream record
}

// Cost is the cost for each distinct event, including trouble.
type Cost struct {
	Counted string    `json:"counted"` // by whom and how
	Events  TableCost `json:"events"`  // storing
	Totals  TableCost `json:"totals"`  // counting
}

// TableCost is what one function asked of DynamoDB for each event.
type TableCost struct {
	Requests   float64 `json:"requests"`
	WriteUnits float64 `json:"writeUnits"`
	ReadUnits  float64 `json:"readUnits"`
}

// Check is one comparison of what is stored with what it should be.
type Check struct {
	Name        string   `json:"name"`
	About       string   `json:"about"`
	Compared    int      `json:"compared"`
	Partly      int      `json:"partly"`      // those of which only the fingerprint could be compared
	Expired     int      `json:"expired"`     // those of which only n could be compared
	Differences []string `json:"differences"` // empty: none
}

// Expiry is what happened when the clock jumped past retain.
type Expiry struct {
	Clock    string   `json:"clock"`    // where the clock jumped to, RFC 3339
	Swept    int      `json:"swept"`    // items removed by time to live
	Archived int      `json:"archived"` // items in the archive
	Objects  int      `json:"objects"`  // that they are in
	Flags    []string `json:"flags"`    // as above, after everything expired
	Checks   []Check  `json:"checks"`
}

// OK reports whether no check found a difference.
func (s *Summary) OK() bool {
	checks := s.Checks
	if s.Expiry != nil {
		checks = append(checks[:len(checks):len(checks)], s.Expiry.Checks...)
	}
	for _, c := range checks {
		if len(c.Differences) > 0 {
			return false
		}
	}
	return true
}
