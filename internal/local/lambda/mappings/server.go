// Package mappings serves the part of Lambda's API for event source mappings. It lists them, reads
// one, switches one on and off, and tags it. [New] returns a [Server], which is an http.Handler,
// for a few mappings. It does not run the mappings. [Server.Enabled] reports whether a mapping may
// call its function, for the program that runs them.
//
// Answers and errors follow the API reference of Lambda.
package mappings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Mapping is one event source mapping.
type Mapping struct {
	UUID     string
	Function string // its name
	Source   string // ARN of the queue or stream
	Most     int    // calls at a time, as ScalingConfig has it; 0: not set
	Pollers  int    // the least event pollers, as ProvisionedPollerConfig has it; 0: none
	// Made is when somebody made the mapping, which is Creating then. Zero: long ago.
	Made time.Time
}

// Server answers for mappings. Several goroutines may use it.
type Server struct {
	// Region and Account are those in the ARNs.
	Region, Account string
	// Now is the clock. nil means time.Now.
	Now func() time.Time
	// Takes is how long a mapping is Creating, Updating, Disabling or Enabling. 0 means that it
	// changes at once.
	Takes time.Duration
	// Refuse returns the error code with which a request is refused, or "" to allow it. nil allows
	// every request. The action is the name of the permission, such as "UpdateEventSourceMapping".
	Refuse func(action string) (code string)
	// Last returns what Lambda says of the last batch that a function was given, such as "PROBLEM:
	// Function call failed". nil says nothing.
	Last func(function string) string
	// Concurrency is how many calls the account allows at a time. 0 means 1,000.
	Concurrency int
	// Page is how many mappings one answer lists. 0 means all.
	Page int

	mu  sync.Mutex
	all []*state
}

// state is a mapping with the settings that can change.
type state struct {
	Mapping
	enabled bool
	change  string    // what began last: Creating, Updating, Disabling, Enabling
	at      time.Time // when it began
	tags    map[string]string
}

// New returns a server for mappings that are all enabled.
func New(list ...Mapping) *Server {
	s := &Server{Region: "us-east-1", Account: "000000000000"}
	for _, m := range list {
		s.all = append(s.all, &state{Mapping: m, enabled: true, change: "Creating", at: m.Made, tags: map[string]string{}})
	}
	return s
}

// Prefixes are the beginnings of the paths that a Server answers for.
var Prefixes = []string{"/2015-03-31/event-source-mappings", "/2017-03-31/tags/", "/2016-08-19/account-settings"}

// Map lets the mapping of a function read another source, as a deployment does that replaces it.
func (s *Server) Map(function, source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		if m.Function == function {
			m.Source = source
		}
	}
}

// Answers reports whether a request is for a Server.
func Answers(r *http.Request) bool {
	for _, prefix := range Prefixes {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return true
		}
	}
	return false
}

// Enabled reports whether the mapping of a function may call it. It returns true while the mapping
// is Disabling, as Lambda may call the function until the mapping is Disabled. While the mapping is
// Creating, Updating or Enabling, it may take minutes until Lambda begins to poll, or does so again
// (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html).
func (s *Server) Enabled(function string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		if state := s.stateOf(m); m.Function == function && state != "Enabled" && state != "Disabling" {
			return false
		}
	}
	return true
}

func (s *Server) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *Server) stateOf(m *state) string {
	switch {
	case !m.at.IsZero() && s.now().Before(m.at.Add(s.Takes)):
		return m.change
	case m.enabled:
		return "Enabled"
	}
	return "Disabled"
}

func (s *Server) arn(m *state) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:event-source-mapping:%s", s.Region, s.Account, m.UUID)
}

// configuration has the members of EventSourceMappingConfiguration that a client needs to know the
// state of a mapping.
type configuration struct {
	UUID                  string
	EventSourceArn        string
	EventSourceMappingArn string
	FunctionArn           string
	LastModified          float64
	State                 string
	StateTransitionReason string
	LastProcessingResult  string `json:",omitempty"`
	settings
}

// settings are what an update can change beside Enabled. What it leaves out is kept, and what it
// names without a number is removed.
type settings struct {
	ScalingConfig           *scaling `json:",omitempty"`
	ProvisionedPollerConfig *pollers `json:",omitempty"`
}

type scaling struct{ MaximumConcurrency int }

type pollers struct{ MinimumPollers int }

// refused returns why Lambda refuses an update of a queue's mapping, or nothing.
func (in *settings) refused(m *state) string {
	most, least := m.Most, m.Pollers
	if in.ScalingConfig != nil {
		most = in.ScalingConfig.MaximumConcurrency
	}
	if in.ProvisionedPollerConfig != nil {
		least = in.ProvisionedPollerConfig.MinimumPollers
	}
	switch {
	case most == 1: // https://docs.aws.amazon.com/lambda/latest/api/API_ScalingConfig.html
		return "MaximumConcurrency must be at least 2"
	case least == 1: // https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
		return "MinimumPollers must be at least 2"
	case most > 0 && least > 0: // as there
		return "MaximumConcurrency and ProvisionedPollerConfig cannot be used together"
	}
	return ""
}

func (s *Server) describe(m *state) configuration {
	c := configuration{UUID: m.UUID, EventSourceArn: m.Source, EventSourceMappingArn: s.arn(m), LastModified: float64(m.at.Unix()),
		FunctionArn: fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", s.Region, s.Account, m.Function), State: s.stateOf(m),
		StateTransitionReason: "USER_INITIATED"}
	if m.Most > 0 {
		c.ScalingConfig = &scaling{m.Most}
	}
	if m.Pollers > 0 {
		c.ProvisionedPollerConfig = &pollers{m.Pollers}
	}
	if s.Last != nil {
		c.LastProcessingResult = s.Last(m.Function)
	}
	return c
}

// ServeHTTP answers a request of the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if arn, is := strings.CutPrefix(r.URL.Path, Prefixes[1]); is {
		s.tags(w, r, arn)
		return
	}
	if strings.HasPrefix(r.URL.Path, Prefixes[2]) {
		s.settings(w)
		return
	}
	id := strings.Trim(strings.TrimPrefix(r.URL.Path, Prefixes[0]), "/")
	switch {
	case id == "" && r.Method == http.MethodGet:
		s.list(w, r)
	case id != "" && r.Method == http.MethodGet:
		if m := s.allowed(w, "GetEventSourceMapping", func(m *state) bool { return m.UUID == id }); m != nil {
			answer(w, http.StatusOK, s.describe(m))
		}
	case id != "" && r.Method == http.MethodPut:
		s.update(w, r, id)
	default:
		fault(w, http.StatusNotImplemented, "NotImplemented",
			"this endpoint can only list, read, switch on and off, and tag event source mappings")
	}
}

// allowed finds the mapping of a request. If there is none, or if the request is refused, it writes
// the error and returns nil.
func (s *Server) allowed(w http.ResponseWriter, action string, is func(*state) bool) *state {
	if s.refused(w, action) {
		return nil
	}
	for _, m := range s.all {
		if is(m) {
			return m
		}
	}
	fault(w, http.StatusNotFound, "ResourceNotFoundException", "The resource you requested does not exist.")
	return nil
}

func (s *Server) refused(w http.ResponseWriter, action string) bool {
	if s.Refuse == nil {
		return false
	}
	code := s.Refuse(action)
	if code == "" {
		return false
	}
	status := http.StatusBadRequest
	switch code {
	case "AccessDeniedException":
		status = http.StatusForbidden
	case "TooManyRequestsException":
		status = http.StatusTooManyRequests
	}
	fault(w, status, code, "User is not authorized to perform: lambda:"+action)
	return true
}

// settings answers GetAccountSettings.
func (s *Server) settings(w http.ResponseWriter) {
	if s.refused(w, "GetAccountSettings") {
		return
	}
	n := cmp.Or(s.Concurrency, 1000)
	answer(w, http.StatusOK,
		map[string]any{"AccountLimit": map[string]int{"ConcurrentExecutions": n, "UnreservedConcurrentExecutions": n}})
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, "ListEventSourceMappings") {
		return
	}
	function, source := r.URL.Query().Get("FunctionName"), r.URL.Query().Get("EventSourceArn")
	var out struct {
		EventSourceMappings []configuration
		NextMarker          string `json:",omitempty"`
	}
	out.EventSourceMappings = []configuration{}
	skip := r.URL.Query().Get("Marker")
	for _, m := range s.all {
		if function != "" && function != m.Function && !strings.HasSuffix(function, ":"+m.Function) ||
			source != "" && source != m.Source {
			continue
		}
		if skip != "" {
			if skip == m.UUID {
				skip = ""
			}
			continue
		}
		if s.Page > 0 && len(out.EventSourceMappings) == s.Page {
			out.NextMarker = out.EventSourceMappings[s.Page-1].UUID
			break
		}
		out.EventSourceMappings = append(out.EventSourceMappings, s.describe(m))
	}
	answer(w, http.StatusOK, out)
}

func (s *Server) update(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Enabled *bool
		settings
	}
	m := s.allowed(w, "UpdateEventSourceMapping", func(m *state) bool { return m.UUID == id })
	switch {
	case m == nil:
	case json.NewDecoder(r.Body).Decode(&in) != nil || in.Enabled == nil && in.settings == (settings{}):
		fault(w, http.StatusBadRequest, "InvalidParameterValueException", "this endpoint can change only Enabled, ScalingConfig and "+
			"ProvisionedPollerConfig")
	case in.refused(m) != "":
		fault(w, http.StatusBadRequest, "InvalidParameterValueException", in.refused(m))
	case strings.HasSuffix(s.stateOf(m), "ing"):
		fault(w, http.StatusBadRequest, "ResourceInUseException", "Cannot update the event source mapping because it is in use.")
	default:
		was := m.enabled
		if in.Enabled != nil {
			m.enabled = *in.Enabled
		}
		switch {
		case m.enabled == was:
			m.change = "Updating"
		case m.enabled:
			m.change = "Enabling"
		default:
			m.change = "Disabling"
		}
		if in.ScalingConfig != nil {
			m.Most = in.ScalingConfig.MaximumConcurrency
		}
		if in.ProvisionedPollerConfig != nil {
			m.Pollers = in.ProvisionedPollerConfig.MinimumPollers
		}
		if m.enabled != was || in.settings != (settings{}) {
			m.at = s.now()
		}
		answer(w, http.StatusAccepted, s.describe(m))
	}
}

func (s *Server) tags(w http.ResponseWriter, r *http.Request, arn string) {
	actions := map[string]string{http.MethodGet: "ListTags", http.MethodPost: "TagResource", http.MethodDelete: "UntagResource"}
	m := s.allowed(w, actions[r.Method], func(m *state) bool { return s.arn(m) == arn })
	if m == nil {
		return
	}
	switch r.Method {
	case http.MethodGet:
		answer(w, http.StatusOK, struct{ Tags map[string]string }{m.tags})
	case http.MethodPost:
		var in struct{ Tags map[string]string }
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			fault(w, http.StatusBadRequest, "InvalidParameterValueException", "the body is not JSON with Tags")
			return
		}
		for name, value := range in.Tags {
			if reason := unfit(name, value); reason != "" {
				fault(w, http.StatusBadRequest, "InvalidParameterValueException", reason)
				return
			}
		}
		maps.Copy(m.tags, in.Tags)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodDelete:
		for _, name := range r.URL.Query()["tagKeys"] {
			delete(m.tags, name)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // it fails only if the client has gone away
}

func fault(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	answer(w, status, map[string]string{"Type": "User", "Message": message})
}
