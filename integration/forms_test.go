package integration

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// TestEveryFormIsInTheContract shows that the contract asks everything that the main path asks of
// the services, field by field and expression by expression. A new form in the store needs a case
// in the contract.
func TestEveryFormIsInTheContract(t *testing.T) {
	path, suite := &forms{}, &forms{}
	t.Run("embedded", func(t *testing.T) {
		for _, counting := range []aggregate.Counting{aggregate.Marks, aggregate.Receipts} {
			mainPath(newWorld(t, engineBackend(path.config()), counting))
			timeToLive(newWorld(t, engineBackend(path.config()), counting))
		}
		newAggregate(newWorld(t, engineBackend(path.config()), aggregate.Marks))
		ingestRequests(newWorld(t, engineBackend(path.config()), aggregate.Marks))
		atomicRequests(newWorld(t, engineBackend(path.config()), aggregate.Marks, accounts))
		e := embedded.New(suite.config())
		contract.Run(t, &contract.Harness{Backend: "embedded", DynamoDB: e.DynamoDB(), Streams: e.Streams(), SQS: e.SQS(), S3: e.S3(),
			Name: name, Pass: func() {}})
	})
	if len(path.all) < 60 || !path.all["UpdateItem if (attribute_not_exists(#) OR # < :)"] {
		t.Errorf("only %d forms were seen: %v", len(path.all), slices.Sorted(maps.Keys(path.all)))
	}
	for _, form := range slices.Sorted(maps.Keys(path.all)) {
		if !suite.all[form] {
			t.Errorf("not in the contract: %s", form)
		}
	}
}

// forms collects the forms of the requests that an engine gets.
type forms struct {
	mu  sync.Mutex
	all map[string]bool
}

func (f *forms) config() embedded.Config {
	return embedded.Config{Intercept: func(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
		f.note(api, input)
		return call()
	}}
}

func (f *forms) note(api string, input any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]bool{}
	}
	f.fields(api, input)
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		f.condition(api, in.ConditionExpression)
	case *dynamodb.UpdateItemInput:
		f.condition(api, in.ConditionExpression)
		f.update(api, in.UpdateExpression)
	case *dynamodb.QueryInput:
		f.add(api, in.KeyConditionExpression)
	case *dynamodb.BatchGetItemInput:
		for _, r := range in.RequestItems {
			f.fields(api+" keys", &r)
			f.add(api, r.ProjectionExpression)
		}
	case *dynamodb.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			f.fields(api+" statement", &s)
			text, _, _ := strings.Cut(aws.ToString(s.Statement), `"`)
			f.add(api, &text)
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			f.transacted(api, item)
		}
	}
}

func (f *forms) transacted(api string, item types.TransactWriteItem) {
	if p := item.Put; p != nil {
		f.fields(api+" put", p)
		f.condition(api+" put", p.ConditionExpression)
	}
	if c := item.ConditionCheck; c != nil {
		f.fields(api+" check", c)
		f.condition(api+" check", c.ConditionExpression)
	}
	if d := item.Delete; d != nil {
		f.fields(api+" delete", d)
		f.condition(api+" delete", d.ConditionExpression)
	}
	if u := item.Update; u != nil {
		f.fields(api+" update", u)
		f.condition(api+" update", u.ConditionExpression)
		f.update(api+" update", u.UpdateExpression)
	}
}

// fields records which members of an input are set.
func (f *forms) fields(api string, input any) {
	v := reflect.ValueOf(input).Elem()
	for i := range v.NumField() {
		if member := v.Type().Field(i); member.IsExported() && !v.Field(i).IsZero() {
			f.all[api+"."+member.Name] = true
		}
	}
}

var placeholder = regexp.MustCompile(`([#:])[A-Za-z0-9_]+`)

// add notes an expression without the names of its placeholders.
func (f *forms) add(api string, expression *string) {
	if expression != nil {
		f.all[api+" "+placeholder.ReplaceAllString(*expression, "$1")] = true
	}
}

// condition records each of the parts that AND joins.
func (f *forms) condition(api string, expression *string) {
	if expression == nil {
		return
	}
	for _, part := range split(*expression, " AND ") {
		f.add(api+" if", &part)
	}
}

var section = regexp.MustCompile(`(?:^| )(ADD|SET|REMOVE) `)

// update notes each action, with the word of its section.
func (f *forms) update(api string, expression *string) {
	text := aws.ToString(expression)
	at := section.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		for _, action := range split(text[m[1]:end], ", ") {
			action = text[m[2]:m[3]] + " " + action
			f.add(api, &action)
		}
	}
}

// split splits a text at separators outside parentheses.
func split(text, separator string) (parts []string) {
	depth, start := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[start:i])
			start = i + len(separator)
		}
	}
	return append(parts, text[start:])
}
