package quarantine

import (
	"regexp"

	"github.com/ingot-events/ingot/envelope"
)

// Traceparent is the name of the attribute that holds the trace in W3C Trace Context.
const Traceparent = "traceparent"

// These are the forms of a trace that are let into a log: traceparent of W3C Trace Context, and the
// header of X-Ray ("AWS X-Ray concepts", AWS). Anything else is a value of the producer's own.
var (
	traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	xray        = regexp.MustCompile(`^Root=1-[0-9a-f]{8}-[0-9a-f]{24}(;(Parent|Self|Sampled|Lineage)=[0-9a-zA-Z:.|-]{1,100}){0,4}$`)
)

// TraceOf returns the trace that a message belongs to, or nothing. It is traceparent, as a message
// attribute or as an extension attribute of a CloudEvent, or else header, which SQS hands over as
// the system attribute AWSTraceHeader.
func TraceOf(m envelope.Message, header string) string {
	trace := m.Attributes[Traceparent]
	if trace == "" {
		if opened, err := envelope.Open(m); err == nil {
			trace = opened.Attributes[Traceparent]
		}
	}
	switch {
	case traceparent.MatchString(trace):
		return trace
	case xray.MatchString(header):
		return header
	}
	return ""
}
