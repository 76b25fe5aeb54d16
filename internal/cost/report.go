package cost

// Report is what a pipeline costs.
type Report struct {
	Pipeline     string  `json:"pipeline"`
	Rate         float64 `json:"rate"`       // messages a second
	Duplicates   float64 `json:"duplicates"` // more deliveries for each message
	Hours        int     `json:"hours"`      // of a month
	Messages     float64 `json:"messages"`   // in a month
	Partitions   int     `json:"partitions"`
	Memory       int     `json:"memory"`       // MB, of each function
	Architecture string  `json:"architecture"` // of both
	Events       Events  `json:"events"`       // what they suppose
	Batches      Batches `json:"batches"`
	Partial      bool    `json:"partial"`          // the sample is shorter than a batch of each partition: totals fold better than it shows
	Grows        bool    `json:"grows"`            // some type is kept for ever: each month adds as much storage as is shown
	Prices       *About  `json:"prices,omitempty"` // absent: none were given
	Parts        []Part  `json:"parts"`
	// Sums of the dollars; absent without prices.
	DollarsAMillion *float64 `json:"dollarsAMillion,omitempty"`
	DollarsAMonth   *float64 `json:"dollarsAMonth,omitempty"`
	// Unpriced are the names of prices that are missing: what is billed by them is not in the sums.
	Unpriced []string `json:"unpriced,omitempty"`
}

// Events is what is known of the events: a sample's, or what is supposed.
type Events struct {
	File     string  `json:"file,omitempty"`    // the sample's
	Messages int     `json:"lines,omitempty"`   // of the sample
	Type     string  `json:"type,omitempty"`    // without a sample: all events are supposed to be of this type, the dearest
	Indexes  int     `json:"indexes,omitempty"` // that the type's items are in
	Bytes    float64 `json:"bytes"`             // of a message on average, or of the item that is supposed
	Updates  float64 `json:"updatesEachChange"` // of totals, after folding
}

// Batches is about how many messages and changes a function is given at once.
type Batches struct {
	Ingest  float64 `json:"ingest"`
	Streams float64 `json:"streams"`
}

// Part is one thing that is counted, of one part of the stack.
type Part struct {
	Name            string   `json:"name"`
	Counted         string   `json:"counted"`  // what is counted: "write units"
	AMillion        float64  `json:"aMillion"` // for a million messages
	AMonth          float64  `json:"aMonth"`
	Price           string   `json:"price,omitempty"` // the name of its price; absent: AWS does not bill it
	DollarsAMillion *float64 `json:"dollarsAMillion,omitempty"`
	DollarsAMonth   *float64 `json:"dollarsAMonth,omitempty"`
}

// add adds what a month takes of one thing; nothing if that is nothing.
func (r *Report) add(prices *Prices, part, counted, price string, aMonth float64) {
	if aMonth == 0 {
		return
	}
	millions := r.Messages / 1e6
	p := Part{Name: part, Counted: counted, AMillion: aMonth / millions, AMonth: aMonth, Price: price}
	if prices != nil && price != "" {
		if dollars, known := prices.of(price); known {
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
	for _, name := range r.Unpriced {
		if name == price {
			return
		}
	}
	r.Unpriced = append(r.Unpriced, price)
}

// finish adds up the dollars.
func (r *Report) finish() {
	if r.Prices == nil {
		return
	}
	var million, month float64
	for _, p := range r.Parts {
		if p.DollarsAMonth != nil {
			million, month = million+*p.DollarsAMillion, month+*p.DollarsAMonth
		}
	}
	r.DollarsAMillion, r.DollarsAMonth = &million, &month
}
