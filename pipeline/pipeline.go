package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// Pipeline is a checked and compiled declaration. [Load] and [New] make one.
type Pipeline struct {
	plan        *planner.Planner
	definitions []*aggregate.Definition // by name
	indexes     []string                // in the order GSI1 … GSI20
	usesHMAC    bool
	usesLabel   bool // hmac:LABEL
	warnings    Mistakes
	patterns    []*pattern.Pattern // by name
	text        []byte             // of the file; nil: made in Go
}

// Option changes how a declaration is compiled.
type Option func(*options)

type options struct {
	secret    []byte
	checkOnly bool
}

// Secret sets the key of the hmac function, from INGOT_PII_KEY.
func Secret(key []byte) Option { return func(o *options) { o.secret = slices.Clone(key) } }

// CheckOnly compiles a declaration that uses hmac without its secret, so that the declaration can
// be checked and compared. Such a Pipeline must not plan events, and its [Pipeline.Ready] returns
// an error.
func CheckOnly() Option { return func(o *options) { o.checkOnly = true } }

// ErrNoSecret is returned if a template uses hmac and the secret is empty. If keys were made with
// an empty secret, the personal data in them could be guessed.
var ErrNoSecret = errors.New("the pipeline uses hmac and its secret is empty: set INGOT_PII_KEY, the same for both functions and for " +
	"every program that reads or rebuilds totals")

// MinSecret is how many bytes a secret of hmac needs so that keys may be derived from it by labels.
// A shorter one is also weak for plain hmac. There it is allowed only because stored keys cannot be
// made anew.
const MinSecret = 16

// ErrShortSecret is returned if a template uses hmac:LABEL and the secret is shorter than
// [MinSecret].
var ErrShortSecret = fmt.Errorf("the pipeline uses hmac with a label and its secret has less than %d bytes, which could be guessed: set "+
	"INGOT_PII_KEY to a longer one, such as the 64 characters that template.yaml generates", MinSecret)

// Load reads and compiles the named file. The error is [Mistakes], an [*fs.PathError],
// [ErrNoSecret] or [ErrShortSecret].
func Load(fsys fs.FS, name string, opts ...Option) (*Pipeline, error) {
	return load(fsys, name, (*compiler).forPeople, opts)
}

// LoadForIngest is [Load] for programs that store events and never read by pattern. It leaves out
// the patterns and the warnings. This makes the ingest function smaller and faster to start, and a
// mistake in a pattern does not stop it.
func LoadForIngest(fsys fs.FS, name string, opts ...Option) (*Pipeline, error) {
	return load(fsys, name, (*compiler).forPlanning, opts)
}

// LoadForStreams is [LoadForIngest] for programs that only count stored events. It also leaves out
// the schemas and the compression, so events that it plans are neither checked against a schema nor
// compressed.
func LoadForStreams(fsys fs.FS, name string, opts ...Option) (*Pipeline, error) {
	return load(fsys, name, nil, opts)
}

func load(fsys fs.FS, name string, more func(*compiler), opts []Option) (*Pipeline, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	r := declare.NewReport(name)
	spec := decode(text, r)
	text = withSchemas(r, fsys, &spec, text)
	p, err := compile(&spec, r, more, opts)
	if p != nil {
		p.text = text
	}
	return p, err
}

// New compiles a declaration made in Go. The error is [Mistakes], [ErrNoSecret] or
// [ErrShortSecret].
func New(spec Spec, opts ...Option) (*Pipeline, error) {
	return compile(&spec, declare.NewReport(""), (*compiler).forPeople, opts)
}

// Text returns the text of the file that p was loaded from, with the text of each schema in place
// of its path. So it needs no other files. It is nil if [New] made p. The caller must not change
// it.
func (p *Pipeline) Text() []byte { return p.text }

// Epoch returns the epoch that p stamps on the items that it plans.
func (p *Pipeline) Epoch() int64 { return p.plan.Epoch }

// MovesByPut reports whether the puts of events move any totals.
func (p *Pipeline) MovesByPut() bool {
	return slices.ContainsFunc(p.definitions, func(d *aggregate.Definition) bool { return d.MovedBy == aggregate.Put })
}

// HasBounds reports whether any total has a floor or a ceiling, so that an event may be Rejected
// because of what earlier events took or added.
func (p *Pipeline) HasBounds() bool {
	return slices.ContainsFunc(p.definitions, func(d *aggregate.Definition) bool { return d.Bounds != nil })
}

// Definitions lists the aggregates by name.
func (p *Pipeline) Definitions() []*aggregate.Definition { return slices.Clone(p.definitions) }

// Definition returns the named aggregate. It returns false if there is none.
func (p *Pipeline) Definition(name string) (*aggregate.Definition, bool) {
	i, ok := sort.Find(len(p.definitions), func(i int) int {
		switch d := p.definitions[i].Name; {
		case name < d:
			return -1
		case name > d:
			return 1
		}
		return 0
	})
	if !ok {
		return nil, false
	}
	return p.definitions[i], true
}

// Indexes lists the secondary indexes that any event type uses, GSI1 first.
func (p *Pipeline) Indexes() []string { return slices.Clone(p.indexes) }

// Batches lists the places where a message may hold several events.
func (p *Pipeline) Batches() []envelope.Batch { return p.plan.Batches }

// Drops reports whether events of some types are dropped.
func (p *Pipeline) Drops() bool { return len(p.plan.Drop) > 0 }

// UsesHMAC reports whether any template needs the secret.
func (p *Pipeline) UsesHMAC() bool { return p.usesHMAC }

// Ready returns nil if p can plan events and count them. It returns [ErrNoSecret] if p was compiled
// under [CheckOnly] and lacks the secret that its templates need.
func (p *Pipeline) Ready() error {
	if p.usesHMAC && len(p.plan.Secret) == 0 {
		return ErrNoSecret
	}
	return nil
}
