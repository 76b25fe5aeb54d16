package docs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

const patternsPage = "docs/patterns.md"

// TestPatternsOfThePage stores the events of each example, asks its question, and compares the
// requests and the answer with the page.
func TestPatternsOfThePage(t *testing.T) {
	var file, stored string
	examples := 0
	for _, b := range blocks(t, patternsPage) {
		switch b.info {
		case "yaml pattern":
			file, stored = b.text, ""
		case "json stored":
			stored = b.text
		case "text question":
			examples++
			question, want, _ := strings.Cut(b.text, "\n")
			must.Equal(t, answerOf(t, file, stored, question), want, question)
		}
	}
	must.Equal(t, examples, 27)
}

// answerOf stores events by a file and asks a question. It returns the requests and the answer as
// the page shows them.
func answerOf(t *testing.T, file, stored, question string) string {
	t.Helper()
	p := patternPipeline(t, file)
	now := func() time.Time { return must.Time("2026-03-04T00:00:00Z") }
	engine := embedded.New(embedded.Config{Now: now})
	_, err := stack.New(t.Context(), engine, stack.Config{Indexes: p.Indexes()})
	must.Succeed(t, err)
	st, err := store.New(tables.Config{Client: engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates,
		Env: env.Env{Now: now}})
	must.Succeed(t, err)
	var items []*event.Item
	for line := range strings.Lines(stored) {
		item, err := p.Plan(envelope.Message{Body: line})
		must.Succeed(t, err)
		items = append(items, item)
	}
	if results, _ := st.Put(t.Context(), items); slices.ContainsFunc(results, func(r tables.Result) bool {
		return r.Verdict != event.Inserted
	}) {
		t.Fatalf("%s: %+v", question, results)
	}
	name, ask := asked(question)
	var b strings.Builder
	requests, _, err := query.Of(st).Explain(name, ask)
	if err != nil {
		fmt.Fprintf(&b, "refused: %s\n", strings.TrimPrefix(err.Error(), "read: "))
		return b.String()
	}
	for _, in := range requests {
		b.WriteString(requestText(in) + "\n")
	}
	if pattern, _ := p.Pattern(name); pattern.Total() == "" {
		var ids []string
		for item, err := range query.Of(st).ReadAll(t.Context(), name, ask) {
			must.Succeed(t, err)
			ids = append(ids, item.ID)
		}
		fmt.Fprintf(&b, "answer: %s\n", strings.Join(ids, ", "))
	}
	return b.String()
}

// patternPipeline compiles a block of the page, which leaves out what all have in common.
func patternPipeline(t *testing.T, file string) *pipeline.Pipeline {
	t.Helper()
	return written.Pipeline(t, "ingot: 1\nepoch: 1\ntype: \"{type}\"\n"+file, pipeline.Secret([]byte("the secret of this page")))
}

// asked reads a question as ingot query takes it.
func asked(question string) (name string, ask query.Ask) {
	words := strings.Fields(question)
	ask.Values = map[string][]string{}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "--from":
			i++
			ask.From = words[i]
		case "--to":
			i++
			ask.To = words[i]
		case "--prefix":
			i++
			ask.Prefix = words[i]
		default:
			field, values, _ := strings.Cut(words[i], "=")
			ask.Values[field] = strings.Split(values, ",")
		}
	}
	return words[0], ask
}

// requestText returns a request as ingot query --explain prints it.
func requestText(in any) string {
	asks := func(api, table string, key rows.Image) string {
		return fmt.Sprintf("%s %s: PK = %q AND SK = %q", api, table, rows.TextOf(key["PK"]), rows.TextOf(key["SK"]))
	}
	if get, ok := in.(*dynamodb.GetItemInput); ok {
		return asks("GetItem", *get.TableName, get.Key)
	}
	if batch, ok := in.(*dynamodb.BatchGetItemInput); ok {
		var list []string
		for table, of := range batch.RequestItems {
			for _, key := range of.Keys {
				list = append(list, asks("BatchGetItem", table, key))
			}
		}
		return strings.Join(list, "\n")
	}
	q := in.(*dynamodb.QueryInput)
	text := *q.KeyConditionExpression
	for _, name := range slices.SortedFunc(maps.Keys(q.ExpressionAttributeValues), func(x, y string) int {
		return cmp.Compare(len(y), len(x))
	}) {
		text = strings.ReplaceAll(text, name, strconv.Quote(rows.TextOf(q.ExpressionAttributeValues[name])))
	}
	for placeholder, name := range q.ExpressionAttributeNames {
		text = strings.ReplaceAll(text, placeholder, name)
	}
	where := *q.TableName
	if q.IndexName != nil {
		where += " " + *q.IndexName
	}
	if q.ScanIndexForward != nil && !*q.ScanIndexForward {
		text += ", backward"
	}
	return "Query " + where + ": " + text
}
