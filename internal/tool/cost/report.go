package cost

import "slices"

// Report says what a pipeline costs.
type Report struct {
	Pipeline     string  `json:"pipeline"`
	Rate         float64 `json:"rate"`       // messages a second
	Duplicates   float64 `json:"duplicates"` // repeated deliveries for each message
	Hours        int     `json:"hours"`      // of a month
	Messages     float64 `json:"messages"`   // in a month
	Partitions   int     `json:"partitions"`
	Memory       int     `json:"memory"`       // MB, of each function
	Architecture string  `json:"architecture"` // of both
	Events       Events  `json:"events"`       // what the figures assume
	Batches      Batches `json:"batches"`
	Partial      bool    `json:"partial"`    // the sample is shorter than a batch of each partition: totals fold better than it shows
	Grows        bool    `json:"grows"`      // some type is kept for ever: each month adds as much storage as is shown
	MovedByPut   bool    `json:"movedByPut"` // the puts of these events move totals
	Prices       About   `json:"prices"`
	Parts        []Part  `json:"parts"`
	// These are sums of the dollars.
	DollarsAMillion float64 `json:"dollarsAMillion"`
	DollarsAMonth   float64 `json:"dollarsAMonth"`
	// RestoreDollars is what it costs to restore the events table with its indexes after a loss,
	// once. It is absent if the price is not known.
	RestoreDollars *float64 `json:"restoreDollars,omitempty"`
	// Capacity compares provisioned capacity, if a peak was given.
	Capacity *Capacity `json:"capacity,omitempty"`
	// Beside is what the same events would cost with other functions.
	Beside []Beside `json:"beside"`
	// Unpriced lists the names of prices that are missing. What they bill is not in the sums.
	Unpriced []string `json:"unpriced,omitempty"`
}

// Events describes the events: those of a sample, or else those that were made up.
type Events struct {
	File     string  `json:"file,omitempty"`    // absent: the events were made up
	Messages int     `json:"lines"`             // that were rehearsed
	More     bool    `json:"more"`              // the file has more lines
	Type     string  `json:"type,omitempty"`    // without a sample: the type of all, the costliest
	Indexes  int     `json:"indexes,omitempty"` // without a sample: that the type's items are in
	Bytes    float64 `json:"bytes"`             // of an average message
	// InMessage is how many events a message has, if some are arrays.
	InMessage float64 `json:"inMessage,omitempty"`
	Parts     float64 `json:"parts,omitempty"`   // beside the item of an average event that is stored
	Updates   float64 `json:"updatesEachChange"` // of totals, after folding
}

// Batches is about how many messages and changes a function is given at once.
type Batches struct {
	Ingest  float64 `json:"ingest"`
	Streams float64 `json:"streams"`
	// Transaction is about how many items a transaction puts. It is absent if there are none.
	Transaction float64 `json:"transaction,omitempty"`
}

// Beside is what others would cost.
type Beside struct {
	Name            string  `json:"name"`
	DollarsAMillion float64 `json:"dollarsAMillion"`
	DollarsAMonth   float64 `json:"dollarsAMonth"`
}

// Part is one thing that is counted, for one part of the stack.
type Part struct {
	Name            string   `json:"name"`
	Counted         string   `json:"counted"`  // what is counted: "write units"
	AMillion        float64  `json:"aMillion"` // for a million messages
	AMonth          float64  `json:"aMonth"`
	Price           string   `json:"price,omitempty"` // the name of its price; absent: AWS does not bill it
	DollarsAMillion *float64 `json:"dollarsAMillion,omitempty"`
	DollarsAMonth   *float64 `json:"dollarsAMonth,omitempty"`
}

// add adds what a month takes of one thing. It adds nothing if that is zero.
func (r *Report) add(prices *Prices, part, counted, price string, aMonth float64) {
	if aMonth == 0 {
		return
	}
	millions := r.Messages / 1e6
	p := Part{Name: part, Counted: counted, AMillion: aMonth / millions, AMonth: aMonth, Price: price}
	if price != "" {
		if dollars, known := prices.each[price]; known {
			month := aMonth * dollars
			million := month / millions
			p.DollarsAMonth, p.DollarsAMillion = &month, &million
		} else {
			r.lacks(price)
		}
	}
	r.Parts = append(r.Parts, p)
}

func (r *Report) lacks(price string) {
	if !slices.Contains(r.Unpriced, price) {
		r.Unpriced = append(r.Unpriced, price)
	}
}

// finish adds up the dollars.
func (r *Report) finish() {
	for _, p := range r.Parts {
		if p.DollarsAMonth != nil {
			r.DollarsAMillion, r.DollarsAMonth = r.DollarsAMillion+*p.DollarsAMillion, r.DollarsAMonth+*p.DollarsAMonth
		}
	}
}
