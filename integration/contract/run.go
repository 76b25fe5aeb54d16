package contract

import (
	"slices"
	"testing"
)

// These are the services that the suite is about.
const (
	dynamo  = "DynamoDB"
	streams = "DynamoDB Streams"
	queues  = "SQS"
	objects = "S3"
)

// area is one part of the suite.
type area struct {
	name    string
	service string
	run     func(*testing.T, *Harness)
}

var areas = []area{
	{"put", dynamo, puts}, {"update", dynamo, updates}, {"mark", dynamo, marks}, {"statements", dynamo, statements},
	{"updating statements", dynamo, updatingStatements}, {"transaction", dynamo, transactions}, {"cancellation", dynamo, cancellations},
	{"together", dynamo, togethers}, {"copy", dynamo, copies},
	{"read", dynamo, reads}, {"range", dynamo, ranges}, {"pattern", dynamo, patterns}, {"rank", dynamo, ranks},
	{"expression", dynamo, expressions}, {"capacity", dynamo, capacities},
	{"ttl", dynamo, timeToLive}, {"stream", streams, records}, {"queue", queues, letters}, {"redrive", queues, redrives},
	{"object", objects, files},
}

// Case is one case of the suite, as it came up in a run.
type Case struct {
	Area, Service, Name string
	// Differences are the names of the differences that the case asks about, on any backend.
	Differences []string

	ran bool // false if the command line left it out
}

// Run compares one backend with the contract, and returns the cases that it ran. A case about a
// service that the backend does not have does not count.
func Run(t *testing.T, h *Harness) []*Case {
	t.Helper()
	for _, service := range BackendOf(h.Backend).Services {
		if !h.has(service) {
			t.Errorf("%s is listed to have %s and does not", h.Backend, service)
		}
	}
	for _, a := range areas {
		if h.has(a.service) {
			h.area = &a
			t.Run(a.name, func(t *testing.T) { a.run(t, h) })
		}
	}
	h.area = nil
	if !t.Failed() {
		h.allAsked(t)
	}
	return h.cases
}

// allAsked asserts that every difference of this backend was asserted.
func (h *Harness) allAsked(t *testing.T) {
	t.Helper()
	asked := map[string]bool{}
	for _, c := range h.cases {
		if !c.ran {
			return
		}
		for _, name := range c.Differences {
			asked[name] = true
		}
	}
	for _, d := range Differences {
		if d.Backend == h.Backend && !asked[d.Name] {
			t.Errorf("no case asks about the difference %q: have one assert it, or take it off the list", d.Name)
		}
	}
}

func (h *Harness) has(service string) bool {
	return service == dynamo || service == streams || service == queues && h.SQS != nil || service == objects && h.S3 != nil
}

// Running returns the name of the running case, with its area first. It returns an empty text
// between cases.
func (h *Harness) Running() string {
	if h.area == nil || len(h.cases) == 0 {
		return ""
	}
	c := h.cases[len(h.cases)-1]
	return c.Area + ": " + c.Name
}

// run runs one case.
func (h *Harness) run(t *testing.T, name string, do func(*testing.T)) {
	t.Helper()
	c := &Case{Area: h.area.name, Service: h.area.service, Name: name}
	h.cases = append(h.cases, c)
	t.Run(name, func(t *testing.T) {
		c.ran = true
		do(t)
	})
}

// asks notes that the running case asserts a difference.
func (h *Harness) asks(name string) {
	if len(h.cases) == 0 {
		return
	}
	c := h.cases[len(h.cases)-1]
	if !slices.Contains(c.Differences, name) {
		c.Differences = append(c.Differences, name)
	}
}
