package publish

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/pipeline"
)

// Format is the version of publish.yaml that this build reads.
const Format = 1

// Spec is publish.yaml as Go values.
type Spec struct {
	// The version of this format: 1.
	Publish int `yaml:"publish" need:"yes" min:"1"`
	// What the events say they come from: the source of each CloudEvent, or ${VARIABLE} for that of
	// an environment variable. It is part of each id, so do not change it. Stages that share a
	// target need different ones.
	Source string `yaml:"source" need:"yes" like:"shop"`
	// What is sent where, by name. Metrics and quarantine use the name.
	Publications map[string]PublicationSpec `yaml:"publications" need:"yes"`
}

// PublicationSpec says what is sent to one target.
type PublicationSpec struct {
	// Event types of pipeline.yaml.
	From []string `yaml:"from" need:"yes" like:"[order.placed]"`
	// What happens to an event: stored, changed or removed. By default stored and changed.
	On []string `yaml:"on" like:"[stored, changed]"`
	// A condition over the payload and the one before it: only what meets it is sent. It is not
	// asked of what is removed. By default everything is sent.
	When string `yaml:"when" like:"changed(status)"`
	// Whether what is changed is sent with the payload before it.
	Before bool `yaml:"before"`
	// The ARN of an EventBridge bus, an SNS topic or an SQS queue, or ${VARIABLE} for that of an
	// environment variable.
	To string `yaml:"to" need:"yes" like:"${PUBLISH_TO}"`
}

// What can happen to an event.
const (
	// Stored means that there is an event under a key that had none.
	Stored = "stored"
	// Changed means that another version of the event is stored: its digest or its revision
	// differs.
	Changed = "changed"
	// Removed means that a person has removed the event before its time. Expiry is not a removal.
	Removed = "removed"
)

// Plan is a checked publish.yaml.
type Plan struct {
	// Publications are sorted by name. They have their On in full.
	Publications []Publication
	source       string
	pipeline     *pipeline.Pipeline
}

// Publication is what is sent to one target.
type Publication struct {
	Name string
	PublicationSpec
	when *where.When // nil: there is none
}

// Reads lists what the publications read of the payloads of an event type.
func (p *Plan) Reads(typ string) (list []event.Read) {
	for _, of := range p.Publications {
		if of.when != nil && slices.Contains(of.From, typ) {
			list = append(list, of.when.Reads("publication "+of.Name)...)
		}
	}
	return list
}

// AsksBefore reports whether When asks for the payload before.
func (p Publication) AsksBefore() bool { return p.when != nil && p.when.Asks }

const wholeFile = "publish: 1, source: and publications:"

var words = &declare.Words{
	Version: "publish", Format: Format, What: "publish", Whole: wholeFile,
	Owned: []declare.Owner{
		{Of: reflect.TypeFor[Spec](), Name: "the file itself"},
		{Of: reflect.TypeFor[PublicationSpec](), Name: "a publication"},
	},
	Example: func(t reflect.Type) string {
		switch t {
		case reflect.TypeFor[Spec]():
			return wholeFile
		case reflect.TypeFor[PublicationSpec]():
			return "{from: [order.placed], to: \"${PUBLISH_TO}\"}"
		case reflect.TypeFor[map[string]PublicationSpec]():
			return "{orders: {from: [order.placed], to: \"${PUBLISH_TO}\"}}"
		}
		return ""
	},
}

// Load reads and checks the named file for a pipeline. The error is [pipeline.Mistakes] or an
// [*fs.PathError].
func Load(fsys fs.FS, name string, p *pipeline.Pipeline) (*Plan, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	c := &compiler{Report: declare.NewReport(name), plan: &Plan{pipeline: p}}
	declare.Decode(text, c.Report, words, &c.spec)
	c.compile()
	if len(c.Mistakes) == 0 {
		return c.plan, nil
	}
	var list pipeline.Mistakes
	for _, m := range c.Mistakes.Sorted() {
		list = append(list, pipeline.Mistake(m))
	}
	return nil, list
}

type compiler struct {
	*declare.Report
	spec Spec
	plan *Plan
}

var (
	namePattern     = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	variablePattern = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)
	// An EventBridge source has these characters, and must not begin with aws. (API reference,
	// PutEventsRequestEntry and the schema of bus events).
	sourcePattern = regexp.MustCompile(`^[A-Za-z0-9_./:-]{1,200}$`)
	arnPattern    = regexp.MustCompile(`^arn:[a-z-]+:(events|sns|sqs):[a-z0-9-]+:[0-9]{12}:(event-bus/)?[A-Za-z0-9_./-]+$`)
)

func (c *compiler) compile() {
	s := &c.spec
	if s.Publish != Format {
		c.Mistake("publish", fmt.Sprintf("publish: %d is not a format that this build reads: it reads %d", s.Publish, Format),
			fmt.Sprintf("publish: %d", Format))
		return
	}
	if bad := badSource(s.Source); bad != "" && !variablePattern.MatchString(s.Source) {
		c.Mistake("source", bad, "another name, such as shop")
	}
	c.plan.source = s.Source
	known := slices.Sorted(maps.Keys(c.plan.pipeline.Describe().Spec.Events)) // every pipeline has one
	if len(s.Publications) == 0 {
		c.Mistake("publications", "nothing is published", "{orders: {from: ["+known[0]+"], to: \"${PUBLISH_TO}\"}}")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Publications)) {
		at, of := declare.Place("publications").In(name), s.Publications[name]
		if !namePattern.MatchString(name) {
			c.Misnamed(at, fmt.Sprintf("%q is not a name of at most 40 lower-case letters, digits and -", name),
				"another name, such as orders")
		}
		if len(of.From) == 0 {
			c.Mistake(at.In("from"), "the publication has no event type", "["+known[0]+"], or other event types of the pipeline")
		}
		for i, typ := range of.From {
			if !slices.Contains(known, typ) {
				c.Mistake(at.In("from").In(strconv.Itoa(i)), "the pipeline has no event type "+typ, declare.Suggest(typ, known))
			}
		}
		changes := []string{Stored, Changed, Removed}
		for i, change := range of.On {
			if !slices.Contains(changes, change) {
				c.Mistake(at.In("on").In(strconv.Itoa(i)), fmt.Sprintf("%q is nothing that happens to an event", change),
					"stored, changed or removed")
			}
		}
		if len(of.On) == 0 {
			of.On = []string{Stored, Changed}
		}
		if !variablePattern.MatchString(of.To) && !isTarget(of.To) {
			c.Mistake(at.In("to"), fmt.Sprintf("%q is not the ARN of an EventBridge bus, an SNS topic or an SQS queue", of.To),
				"${PUBLISH_TO}")
		}
		if typ := tooLong(of); typ != "" {
			c.Mistake(at.In("to"), typ, "the ARN of a topic or a queue")
		}
		if twice := takesOne(of, c.plan.Publications); twice != "" {
			c.Mistake(at.In("to"), twice, "another target, or the same before in both")
		}
		c.plan.Publications = append(c.plan.Publications, Publication{name, of, c.when(at, of)})
	}
}

// when compiles what a publication says of the payload and the one before it.
func (c *compiler) when(at declare.Place, of PublicationSpec) (w *where.When) {
	sent := func(what string) bool { return slices.Contains(of.On, what) }
	if of.When != "" {
		var bad *where.Mistake
		if w, bad = where.ParseWhen(of.When); bad != nil {
			c.MistakeAt(at.In("when"), of.When, bad.Offset, bad.What, bad.Instead)
		} else if !sent(Stored) && !sent(Changed) {
			c.Mistake(at.In("when"), "what is removed is sent whatever it was, because a receiver may know of it",
				"stored or changed into on, or leave when out")
		}
	}
	if of.Before && !sent(Changed) {
		c.Mistake(at.In("before"), "only what is changed had a payload before", "changed into on, or leave before out")
	}
	asks := "when"
	if w == nil || !w.Asks {
		if asks = "before"; !of.Before {
			return w
		}
	}
	events := c.plan.pipeline.Describe().Spec.Events
	for _, typ := range of.From {
		if spec, known := events[typ]; known && spec.Mode != "latest" && spec.Migrated == "" {
			c.Mistake(at.In(asks), "no version of "+typ+" takes the place of another, because its mode is not latest",
				"a publication of its own for "+typ+", without the payload before")
		}
	}
	return w
}

// isTarget reports whether a text is the ARN of a bus, a topic or a queue.
func isTarget(arn string) bool {
	m := arnPattern.FindStringSubmatch(arn)
	return m != nil && (m[1] == "events") == (m[2] != "")
}

// longest is how many characters a bus takes as a detail-type (API reference,
// PutEventsRequestEntry).
const longest = 128

// tooLong says which event type a bus would not take as a detail-type. It is empty if it takes all.
func tooLong(of PublicationSpec) string {
	if !strings.Contains(of.To, ":event-bus/") {
		return ""
	}
	for _, typ := range of.From {
		if slices.Contains(of.On, Removed) {
			typ += suffixRemoved
		}
		if n := utf8.RuneCountInString(typ); n > longest {
			return fmt.Sprintf("%s has %d characters, and EventBridge takes a type of at most %d", typ, n, longest)
		}
	}
	return ""
}

// takesOne says which other publication sends the same changes to the same FIFO target, one of the
// two with the payload before: the target would take the first message alone. It is empty if there
// is none.
func takesOne(of PublicationSpec, others []Publication) string {
	for _, other := range others {
		both := slices.IndexFunc(of.From, func(typ string) bool { return slices.Contains(other.From, typ) })
		if both >= 0 && fifo(of.To) && other.To == of.To && other.Before != of.Before {
			return fmt.Sprintf("%s sends %s to the same FIFO target, which takes one of the two messages", other.Name, of.From[both])
		}
	}
	return ""
}

// badSource says why a text cannot be the source of events. It is empty if it can.
func badSource(source string) string {
	switch {
	case !sourcePattern.MatchString(source):
		return fmt.Sprintf("%q is not a source of 1 to 200 letters, digits and . _ - / :", source)
	case strings.HasPrefix(source, "aws."):
		return "EventBridge keeps sources that begin with aws. for itself"
	}
	return ""
}

// Resolved returns the plan with the values of the variables that the file names. The error says
// which of them is missing or has no value that fits.
func (p *Plan) Resolved(getenv func(string) string) (*Plan, error) {
	out := *p
	out.Publications = slices.Clone(p.Publications)
	if variablePattern.MatchString(p.source) {
		out.source = getenv(variable(p.source))
		if bad := badSource(out.source); bad != "" {
			return nil, fmt.Errorf("publish.yaml takes its source from %s: %s", variable(p.source), bad)
		}
	}
	for i, of := range p.Publications {
		if !variablePattern.MatchString(of.To) {
			continue
		}
		to := getenv(variable(of.To))
		if !isTarget(to) {
			return nil, fmt.Errorf("publish.yaml sends %s to %s, which is %q: set it to the ARN of an EventBridge bus, an SNS topic "+
				"or an SQS queue", of.Name, variable(of.To), to)
		}
		out.Publications[i].To = to
		if typ := tooLong(out.Publications[i].PublicationSpec); typ != "" {
			return nil, fmt.Errorf("publish.yaml sends %s to the bus of %s: %s; set it to the ARN of a topic or a queue", of.Name,
				variable(of.To), typ)
		}
	}
	for i, of := range out.Publications {
		if twice := takesOne(of.PublicationSpec, out.Publications[:i]); twice != "" {
			return nil, fmt.Errorf("publish.yaml sends %s to %s: %s; set it to another target, or write the same before in both", of.Name,
				of.To, twice)
		}
	}
	return &out, nil
}

func variable(text string) string { return text[len("${") : len(text)-len("}")] }
