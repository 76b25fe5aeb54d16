// Package pause stops and starts the event source mappings of a stack, and records who stopped
// them. [Read] returns the mappings of a function, and [Pauser.Pause] and [Pauser.Resume] switch
// them.
//
// A pause is marked with a tag on the mapping. A deployment that changes the mapping switches it on
// again and leaves the tag. So the tag counts only while the mapping is off.
package pause

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/env"
)

// Client is what the package needs of Lambda. A *lambda.Client is one.
type Client interface {
	ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
		...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error)
	GetEventSourceMapping(context.Context, *lambda.GetEventSourceMappingInput,
		...func(*lambda.Options)) (*lambda.GetEventSourceMappingOutput, error)
	UpdateEventSourceMapping(context.Context, *lambda.UpdateEventSourceMappingInput,
		...func(*lambda.Options)) (*lambda.UpdateEventSourceMappingOutput, error)
	ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error)
	TagResource(context.Context, *lambda.TagResourceInput, ...func(*lambda.Options)) (*lambda.TagResourceOutput, error)
	UntagResource(context.Context, *lambda.UntagResourceInput, ...func(*lambda.Options)) (*lambda.UntagResourceOutput, error)
}

// Tag is the key of the tag that marks a pause.
const Tag = "ingot:paused"

// Mapping is an event source mapping.
type Mapping struct {
	UUID     string `json:"uuid"`
	Function string `json:"function"` // its name
	Source   string `json:"source"`   // ARN of the queue or stream
	State    string `json:"state"`    // as Lambda says it: "Enabled", "Disabling" and so on
	// Last is what Lambda says of the last batch, such as "PROBLEM: Function call failed". It is
	// empty if Lambda says nothing, as of a queue.
	Last string `json:"last,omitempty"`
	// By and At say who paused the mapping and when. They are empty if it is not off, or if it has
	// no mark.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`

	// Factor is how many batches of a shard Lambda has in work at a time. It is 1 for a queue.
	Factor int `json:"-"`
	// Most is how many calls Lambda makes at a time. 0: the mapping does not say.
	Most int `json:"-"`

	arn string
	tag string // the mark as it is written, even if the mapping is on
}

// Off reports whether the mapping does not call its function, or soon will not.
func (m Mapping) Off() bool { return m.State == "Disabled" || m.State == "Disabling" }

// Read returns the mappings of a function, with their marks.
func Read(ctx context.Context, client Client, function string) ([]Mapping, error) {
	var list []Mapping
	in := &lambda.ListEventSourceMappingsInput{FunctionName: &function}
	for {
		out, err := client.ListEventSourceMappings(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("the event source mappings of %s: %w", function, err)
		}
		for _, c := range out.EventSourceMappings {
			m := Mapping{UUID: aws.ToString(c.UUID), Function: function, Source: aws.ToString(c.EventSourceArn),
				State: aws.ToString(c.State), Last: aws.ToString(c.LastProcessingResult),
				Factor: max(1, int(aws.ToInt32(c.ParallelizationFactor))),
				arn:    aws.ToString(c.EventSourceMappingArn)}
			if c.ScalingConfig != nil {
				m.Most = int(aws.ToInt32(c.ScalingConfig.MaximumConcurrency))
			}
			if err := m.readMark(ctx, client); err != nil {
				return nil, err
			}
			list = append(list, m)
		}
		if aws.ToString(out.NextMarker) == "" {
			break
		}
		in.Marker = out.NextMarker
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("function %s has no event source mapping: nothing calls it. Deploy the template as it is", function)
	}
	return list, nil
}

func (m *Mapping) readMark(ctx context.Context, client Client) error {
	if m.arn == "" {
		return nil // an emulator that does not return it has no tags either
	}
	out, err := client.ListTags(ctx, &lambda.ListTagsInput{Resource: &m.arn})
	if err != nil {
		return fmt.Errorf("the tags of the event source mapping %s: %w", m.UUID, err)
	}
	m.tag = out.Tags[Tag]
	m.show()
	return nil
}

// show fills in the mark if the mapping is off.
func (m *Mapping) show() {
	if m.By, m.At = "", (time.Time{}); !m.Off() || m.tag == "" {
		return
	}
	at, by, _ := strings.Cut(m.tag, " by ")
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		m.At = t
	}
	m.By = by
}

// mark returns the value of the tag. Lambda takes letters, numbers, spaces and few other
// characters.
func mark(by string, at time.Time) string {
	text := []rune(at.UTC().Format(time.RFC3339) + " by " + strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.N) || strings.ContainsRune(" _.:/=+-@", r) {
			return r
		}
		return '_'
	}, by))
	return string(text[:min(len(text), 256)])
}

// Pauser pauses and resumes.
type Pauser struct {
	Client Client
	Env    env.Env
	// Settle is how long a batch that is in work when the mapping is Disabled may still write. 0
	// means a minute, which is longer than the template's functions may run.
	Settle time.Duration
	// Tell is called for each step. It may be nil.
	Tell func(format string, args ...any)
}

func (p Pauser) tell(format string, args ...any) {
	if p.Tell != nil {
		p.Tell(format, args...)
	}
}

// These times decide how often Lambda is asked, and when to give up.
const (
	every   = 3 * time.Second
	patient = 15 * time.Minute
	settle  = time.Minute
)

// Pause switches the mappings of a function off and marks them, and waits until they are off. It
// then waits until no batch is in work any more. A mapping that is off keeps the mark that it has.
func (p Pauser) Pause(ctx context.Context, function, by string) ([]Mapping, error) {
	list, err := Read(ctx, p.Client, function)
	if err != nil {
		return nil, err
	}
	for i := range list {
		m := &list[i]
		if m.Off() {
			p.tell("%s is %s already%s", m.Function, strings.ToLower(m.State), m.Who())
			continue
		}
		if err := p.put(ctx, m, mark(by, p.Env.Real().Now())); err != nil {
			p.tell("the pause cannot be marked, so nobody will see who made it: %v", err)
		}
		if err := p.set(ctx, m, false); err != nil {
			return list, err
		}
	}
	for i := range list {
		if err := p.await(ctx, &list[i], "Disabled"); err != nil {
			return list, err
		}
	}
	wait := cmp.Or(p.Settle, settle)
	p.tell("%s is disabled; waiting %s for batches that are in work", function, wait)
	return list, p.Env.Real().Sleep(ctx, wait)
}

// Who says who has switched the mapping off, as the end of a sentence about it.
func (m Mapping) Who() string {
	if m.By == "" {
		return ", and nobody has said why"
	}
	return fmt.Sprintf(", by %s since %s", m.By, m.At.UTC().Format(time.RFC3339))
}

// Resume switches the mappings of a function on, waits until they are, and removes the marks.
func (p Pauser) Resume(ctx context.Context, function string) ([]Mapping, error) {
	list, err := Read(ctx, p.Client, function)
	if err != nil {
		return nil, err
	}
	for i := range list {
		m := &list[i]
		switch {
		case m.State == "Enabled" || m.State == "Enabling":
			p.tell("%s is %s already", m.Function, strings.ToLower(m.State))
			continue
		case m.Off():
			p.tell("%s was off%s", m.Function, m.Who())
		}
		if err := p.set(ctx, m, true); err != nil {
			return list, err
		}
	}
	for i := range list {
		if err := p.await(ctx, &list[i], "Enabled"); err != nil {
			return list, err
		}
		if err := p.take(ctx, &list[i]); err != nil {
			p.tell("the mark of the pause cannot be removed; it does no harm: %v", err)
		}
	}
	return list, nil
}

func (p Pauser) put(ctx context.Context, m *Mapping, tag string) error {
	if m.arn == "" {
		return errors.New("this endpoint does not name the mapping's ARN")
	}
	_, err := p.Client.TagResource(ctx, &lambda.TagResourceInput{Resource: &m.arn, Tags: map[string]string{Tag: tag}})
	if err == nil {
		m.tag = tag
	}
	return err
}

func (p Pauser) take(ctx context.Context, m *Mapping) error {
	if m.arn == "" || m.tag == "" {
		return nil
	}
	_, err := p.Client.UntagResource(ctx, &lambda.UntagResourceInput{Resource: &m.arn, TagKeys: []string{Tag}})
	if err == nil {
		m.tag = ""
		m.show()
	}
	return err
}

// set asks for a state. While a mapping changes, Lambda refuses that, and it is asked again.
func (p Pauser) set(ctx context.Context, m *Mapping, enabled bool) error {
	e := p.Env.Real()
	for until := e.Now().Add(patient); ; {
		out, err := p.Client.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{UUID: &m.UUID, Enabled: &enabled})
		if err == nil {
			m.State = aws.ToString(out.State)
			m.show()
			return nil
		}
		var busy *types.ResourceInUseException
		if !errors.As(err, &busy) || e.Now().After(until) {
			return fmt.Errorf("the event source mapping %s of %s: %w", m.UUID, m.Function, err)
		}
		if err := e.Sleep(ctx, every); err != nil {
			return err
		}
	}
}

// await waits until a mapping has a state.
func (p Pauser) await(ctx context.Context, m *Mapping, state string) error {
	e := p.Env.Real()
	for until := e.Now().Add(patient); m.State != state; {
		if err := e.Sleep(ctx, every); err != nil {
			return err
		}
		out, err := p.Client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &m.UUID})
		if err != nil {
			return fmt.Errorf("the event source mapping %s of %s: %w", m.UUID, m.Function, err)
		}
		m.State = aws.ToString(out.State)
		if m.State != state && e.Now().After(until) {
			return fmt.Errorf("the event source mapping %s of %s is %s after %s, and not %s: %s; run the command again to go on waiting",
				m.UUID, m.Function, m.State, patient, state, aws.ToString(out.StateTransitionReason))
		}
	}
	m.show()
	return nil
}
