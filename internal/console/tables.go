package console

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/lanes"
	"github.com/ingot-events/ingot/internal/lifetime"
	"github.com/ingot-events/ingot/internal/quarantine"
	"github.com/ingot-events/ingot/internal/show"
	"github.com/ingot-events/ingot/internal/tables"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// DynamoDB is what the console needs of the tables.
type DynamoDB interface {
	store.Client
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// SQS is what the console needs of the queues.
type SQS interface {
	quarantine.Client
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Tables says where the data of a pipeline is. Both sources read it in the same way.
type Tables struct {
	Name  string // what is shown, such as the name of the stack
	Place string // account, region and endpoint, for people

	DynamoDB                                DynamoDB
	SQS                                     SQS
	Events, Aggregates                      string // names of the tables
	QueueURL, QuarantineURL, DeadLettersURL string // empty: not known

	// Pipeline returns the pipeline that runs now.
	Pipeline func() *pipeline.Pipeline
	Counting aggregate.Counting
	Now      func() time.Time // nil: time.Now
	// Reveal shows personal values: those on paths that feed hmac.
	Reveal bool

	letters letters
}

// personal returns what must be masked.
func (t *Tables) personal() show.Personal {
	if t.Reveal {
		return show.Personal{}
	}
	return show.PersonalOf(t.Pipeline())
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// detail masks what a refusal quotes of a payload, if anything in payloads is personal. Nobody knows
// where a quoted value comes from.
func (t *Tables) detail(text string) string {
	if t.personal().None() {
		return text
	}
	return quoted.ReplaceAllString(text, `"`+show.Mask+`"`)
}

// masked returns what stands in place of a value, if there is one.
func masked(value string) string {
	if value == "" {
		return ""
	}
	return `"` + show.Mask + `"`
}

func (t *Tables) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// store opens the tables for reading with the pipeline that runs now.
func (t *Tables) store() (*store.Store, *pipeline.Pipeline, error) {
	p := t.Pipeline()
	st, err := store.New(store.Config{Client: t.DynamoDB, Pipeline: p, Events: t.Events, Aggregates: t.Aggregates, Counting: t.Counting, Env: env.Env{Now: t.now}})
	return st, p, err
}

// about describes what is shown.
func (t *Tables) about(live bool) *About {
	p := t.Pipeline()
	out := &About{Name: t.Name, Place: t.Place, Live: live, Aggregates: []Aggregate{}}
	spec := p.Describe().Spec
	out.Types = slices.Sorted(maps.Keys(spec.Events))
	for _, def := range p.Definitions() {
		a := Aggregate{Name: def.Name, Since: def.Since, By: append([]string{}, def.By...)}
		if def.Window > 0 {
			a.Window = lifetime.Format(def.Window)
		}
		for _, v := range def.Values {
			a.Values = append(a.Values, Value{v.Name, v.Op.String()})
		}
		out.Aggregates = append(out.Aggregates, a)
	}
	return out
}

// queues reads how full the queues are. What cannot be read is left out, with its reason.
func (t *Tables) queues(ctx context.Context) (list []Queue, missing string) {
	list = []Queue{}
	for _, q := range [][2]string{{"queue", t.QueueURL}, {"quarantine", t.QuarantineURL}, {"dead letters", t.DeadLettersURL}} {
		if q[1] == "" {
			continue
		}
		out, err := t.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q[1], AttributeNames: []sqstypes.QueueAttributeName{
			"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}})
		if err != nil {
			missing = fmt.Sprintf("the %s cannot be read: %v", q[0], err)
			continue
		}
		ready, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
		hidden, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
		list = append(list, Queue{q[0], ready, hidden})
	}
	return list, missing
}

// maxGroups bounds a list of groups. scanned bounds how many groups a scan keeps in memory.
const (
	maxGroups = 50
	scanned   = 100_000
)

// totals reads the totals of one aggregate: those of one group by its key, or all of them by a scan.
func (t *Tables) totals(ctx context.Context, c Choice) (*Totals, error) {
	st, p, err := t.store()
	if err != nil {
		return nil, err
	}
	def, there := p.Definition(c.Aggregate)
	if !there {
		return nil, &mistake{fmt.Sprintf("there is no aggregate %q in pipeline.yaml", c.Aggregate)}
	}
	if len(c.By) == 0 && len(def.By) > 0 {
		if !c.Scan {
			price, err := t.price(ctx)
			return &Totals{Price: price}, err
		}
		return t.groups(ctx, st, def, c.Value)
	}
	found, err := st.Total(ctx, c.Aggregate, c.By, time.Time{}, time.Time{})
	if err != nil {
		return nil, &mistake{err.Error()}
	}
	out := &Totals{Windows: []Window{}}
	for _, one := range found {
		out.Building = out.Building || one.Building
		if one.Missing {
			out.Flags = append(out.Flags, one.Flags...)
			continue
		}
		w := Window{Values: texts(one.Values), N: one.N, Flags: one.Flags}
		if def.Window > 0 {
			w.Start = &one.Window
		}
		out.Windows = append(out.Windows, w)
	}
	return out, nil
}

// price says what a scan of the aggregates table costs.
func (t *Tables) price(ctx context.Context) (string, error) {
	out, err := t.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Aggregates})
	if err != nil {
		return "", fmt.Errorf("the table of the totals cannot be described: %w", err)
	}
	bytes, items := aws.ToInt64(out.Table.TableSizeBytes), aws.ToInt64(out.Table.ItemCount)
	return fmt.Sprintf("A list of all groups reads the whole table of totals: about %s read units for %s items. The service counts both every six hours.",
		show.Comma(int((bytes+4095)/4096)), show.Comma(int(items))), nil
}

// groups scans the totals of one aggregate, and lists its groups with the largest of one value first.
func (t *Tables) groups(ctx context.Context, st *store.Store, def *aggregate.Definition, by string) (*Totals, error) {
	type sum struct {
		by      []string
		windows map[int64]bool
		values  map[string]event.Decimal
	}
	sums, out, now := map[string]*sum{}, &Totals{Groups: []Group{}}, t.now().Unix()
	for one, err := range st.Totals(ctx) {
		if err != nil {
			return nil, fmt.Errorf("the totals cannot be read: %w", err)
		}
		if one.Address.Name != def.Name || one.Address.Since != def.Since || one.ExpiresAt != 0 && one.ExpiresAt <= now {
			continue
		}
		id := strings.Join(one.Address.By, "#")
		s := sums[id]
		if s == nil {
			if len(sums) == scanned {
				return nil, &mistake{fmt.Sprintf("%s has more than %s groups; name one above", def.Name, show.Comma(scanned))}
			}
			s = &sum{by: one.Address.By, windows: map[int64]bool{}, values: map[string]event.Decimal{}}
			sums[id] = s
		}
		s.windows[one.Address.Window] = true
		for _, v := range def.Values {
			add, has := one.Values[v.Name]
			if !has {
				continue
			}
			had, there := s.values[v.Name]
			s.values[v.Name] = lanes.Merge(v.Op, aggregate.Amount{Set: there, Number: had}, aggregate.Amount{Set: true, Number: add}).Number
		}
	}
	list := slices.SortedFunc(maps.Values(sums), func(a, b *sum) int {
		return cmp.Or(b.values[by].Cmp(a.values[by]), slices.Compare(a.by, b.by))
	})
	out.More = max(0, len(list)-maxGroups)
	personal := t.personal()
	for _, s := range list[:min(len(list), maxGroups)] {
		g := Group{Windows: len(s.windows), Values: texts(s.values), By: make([]string, len(s.by))}
		named := map[string]string{}
		for i, v := range s.by {
			g.By[i] = unescape(v)
			named[def.By[i]] = g.By[i]
		}
		named = personal.By(def.Name, named)
		for i, name := range def.By {
			g.Hidden = g.Hidden || g.By[i] != named[name]
			g.By[i] = named[name]
		}
		out.Groups = append(out.Groups, g)
	}
	head, err := st.Head(ctx, def)
	if err == nil && head != nil {
		out.Building, out.Flags = head.Building, head.Flags()
	}
	return out, err
}

func texts(values map[string]event.Decimal) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.String()
	}
	return out
}

// unescape is the inverse of keys.Escape.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// judge says what an event would become if it were delivered now.
func (t *Tables) judge(ctx context.Context, item *event.Item) (store.Result, error) {
	st, _, err := t.store()
	if err != nil {
		return store.Result{}, err
	}
	result, _, err := tables.Of(st).Judge(ctx, item)
	return result, err
}
