// Package migrate is what `ingot migrate` does around package migrate: it reads a sample of rows,
// and writes what people read.
package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// ReadOnly is a client that cannot write.
type ReadOnly struct{ tables.Client }

var errReadOnly = errors.New("this command must not write")

func (ReadOnly) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return nil, errReadOnly
}

func (ReadOnly) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, errReadOnly
}

func (ReadOnly) BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput,
	...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return nil, errReadOnly
}

func (ReadOnly) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
	...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return nil, errReadOnly
}

// Load reads the file that says what rows become.
func Load(file string, p *pipeline.Pipeline) (*rowmap.Mapping, error) {
	m, err := rowmap.Load(os.DirFS(filepath.Dir(file)), filepath.Base(file), p)
	if errors.Is(err, os.ErrNotExist) {
		return nil, cli.Usagef("there is no %s: write what the rows of the old table become; %s has one to copy", file,
			excerpt.Page("migrating.md"))
	}
	if err != nil {
		return nil, cli.Usagef("%s has mistakes:\n%w", file, err)
	}
	return m, nil
}

// ReadRow reads a row in DynamoDB's own JSON, as `aws dynamodb get-item` prints it.
func ReadRow(text []byte) (migrate.Row, error) {
	var whole struct {
		Item map[string]events.DynamoDBAttributeValue
	}
	if err := json.Unmarshal(text, &whole); err == nil && len(whole.Item) > 0 {
		return migrate.RowOf(whole.Item), nil
	}
	var item map[string]events.DynamoDBAttributeValue
	if err := json.Unmarshal(text, &item); err != nil || len(item) == 0 {
		return nil, errors.New(`a row is written as DynamoDB writes it, as in {"userId": {"S": "u-1"}, "age": {"N": "42"}}`)
	}
	return migrate.RowOf(item), nil
}

// Explained is what one row becomes.
type Explained struct {
	Entry   int             `json:"entry"`
	Type    string          `json:"type,omitempty"`
	Skip    string          `json:"skip,omitempty"`
	Refused string          `json:"refused,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Items   []Item          `json:"items,omitempty"`
}

// Item is one item that a row becomes.
type Item struct {
	Type    string            `json:"type"`
	ID      string            `json:"id"`
	At      string            `json:"at"`
	PK      string            `json:"pk"`
	SK      string            `json:"sk"`
	Indexes map[string]string `json:"indexes,omitempty"`
	Expires int64             `json:"expiresAt,omitempty"`
	Bytes   int               `json:"bytes"`
}

// Explain says what a row becomes, and why.
func Explain(mapped rowmap.Mapped) *Explained {
	e := &Explained{Entry: mapped.Entry, Type: mapped.Type, Skip: mapped.Skip, Payload: mapped.Payload}
	if mapped.Refusal != nil {
		e.Refused = mapped.Refusal.Error()
	}
	for _, item := range mapped.Items {
		of := Item{Type: item.Type, ID: item.ID, At: item.At.Format(time.RFC3339Nano), PK: item.Key.PK, SK: item.Key.SK,
			Expires: item.ExpiresAt, Bytes: item.Size(), Indexes: map[string]string{}}
		for _, index := range item.Indexes {
			of.Indexes[index.Name] = index.Key.String()
		}
		e.Items = append(e.Items, of)
	}
	return e
}

// Write writes it for people.
func (e *Explained) Write(w *strings.Builder) {
	if e.Entry >= 0 {
		fmt.Fprintf(w, "entry    rows[%d] takes the row\n", e.Entry)
	}
	if e.Payload != nil {
		fmt.Fprintf(w, "payload  %s\n", e.Payload)
	}
	switch {
	case e.Skip != "":
		fmt.Fprintf(w, "skipped  %s\n", e.Skip)
	case e.Refused != "":
		fmt.Fprintf(w, "refused  %s\n", e.Refused)
	}
	for _, item := range e.Items {
		fmt.Fprintf(w, "item     %s %s, at %s, %d bytes\n", item.Type, item.ID, item.At, item.Bytes)
		fmt.Fprintf(w, "  PK     %s\n  SK     %s\n", item.PK, item.SK)
		for _, name := range slices.Sorted(maps.Keys(item.Indexes)) {
			fmt.Fprintf(w, "  %-6s %s\n", name, item.Indexes[name])
		}
	}
}

// Sample is what some rows of the old table become.
type Sample struct {
	Rows       int            `json:"rows"`
	Moved      map[string]int `json:"moved"`   // rows, by type
	Skipped    map[string]int `json:"skipped"` // by why
	Refused    map[string]int `json:"refused"` // by why
	Untaken    map[string]int `json:"untaken"` // rows, by an attribute that they have and no template takes
	Collisions int            `json:"collisions"`
	// Named are the rows that are refused, and those that meet another one, up to 100,000 of them.
	Named    []migrate.Named `json:"named,omitempty"`
	Units    int             `json:"writeUnits"` // to insert what they become, with its indexes
	RowBytes int64           `json:"rowBytes"`
	all      bool
	keys     map[event.Key]string // the first row of each key
}

// Read reads rows of the old table until there are most, or all of them if most is 0.
func Read(ctx context.Context, m *rowmap.Mapping, old *migrate.Table, most int, now time.Time) (*Sample, error) {
	s := &Sample{Moved: map[string]int{}, Skipped: map[string]int{}, Refused: map[string]int{}, Untaken: map[string]int{},
		keys: map[event.Key]string{}}
	in := &dynamodb.ScanInput{TableName: &old.Table}
	for {
		out, err := old.Client.Scan(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("reading table %s: %w", old.Table, err)
		}
		for _, row := range out.Items {
			s.add(migrate.Copies(m, row, old.Keys, now), row, rowmap.NameOf(row, old.Keys))
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			s.all = true
			return s, nil
		}
		if most > 0 && s.Rows >= most {
			return s, nil
		}
	}
}

// mostUntaken bounds the different attributes that are listed.
const mostUntaken = 100

// mostNamed bounds the rows that are named.
const mostNamed = 100_000

func (s *Sample) name(kind, name, why string) {
	if len(s.Named) < mostNamed {
		s.Named = append(s.Named, migrate.Named{Kind: kind, Name: name, Why: why})
	}
}

func (s *Sample) add(mapped rowmap.Mapped, row migrate.Row, name string) {
	s.Rows++
	s.RowBytes += int64(sizeOf(row))
	switch {
	case mapped.Skip != "":
		s.Skipped[mapped.Skip]++
	case mapped.Refusal != nil:
		s.Refused[mapped.Refusal.Error()]++
		s.name(migrate.NamedRefused, name, mapped.Refusal.Error())
	default:
		s.Moved[mapped.Type]++
		for _, attribute := range mapped.Untaken {
			if s.Untaken[attribute] == 0 && len(s.Untaken) >= mostUntaken {
				attribute = "other attributes"
			}
			s.Untaken[attribute]++
		}
	}
	for _, item := range mapped.Items {
		if first, taken := s.keys[item.Key]; taken {
			s.Collisions++
			s.name(migrate.NamedCollision, item.Key.String(), first+", "+name)
		} else {
			s.keys[item.Key] = name
		}
		s.Units += itemform.WriteUnits(item.Size()) * (1 + len(item.Indexes))
	}
}

func sizeOf(row migrate.Row) (bytes int) {
	text, _ := rowmap.JSON(row)
	return len(text)
}
