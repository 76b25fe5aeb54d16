package contract_test

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// record notes what an engine is asked and what it answers.
type record struct {
	mu           sync.Mutex
	forms        map[string]map[string]bool // by form: the names of its senders
	codes        map[string]map[string]bool // by error code: the names of those that met it
	senders      map[string]bool            // functions that sent something
	placeholders map[string]bool            // of expression values, with digits as %d
	who          func() string
	edit         func(api string, in, out any)
}

func newRecord() *record {
	return &record{forms: map[string]map[string]bool{}, codes: map[string]map[string]bool{}, senders: map[string]bool{},
		placeholders: map[string]bool{},
		who:          func() string { return "" }, edit: func(string, any, any) {}}
}

// engine returns a fresh engine whose requests are recorded.
func (r *record) engine(cfg embedded.Config) *embedded.Engine {
	cfg.Intercept = func(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
		out, err := call()
		r.mu.Lock()
		defer r.mu.Unlock()
		who := r.who()
		for _, form := range forms(api, in) {
			note(r.forms, form, who)
		}
		for _, code := range codes(out, err) {
			note(r.codes, code, who)
		}
		for name := range values(in) {
			r.placeholders[digits.ReplaceAllString(name, "%d")] = true
		}
		for _, name := range sender() {
			r.senders[name] = true
		}
		if err == nil {
			r.edit(api, in, out)
		}
		return out, err
	}
	return embedded.New(cfg)
}

func note(all map[string]map[string]bool, what, who string) {
	if all[what] == nil {
		all[what] = map[string]bool{}
	}
	all[what][who] = true
}

var digits = regexp.MustCompile(`[0-9]+$`)

// values returns the expression values of a request, or of the writes in a transaction.
func values(in any) map[string]types.AttributeValue {
	all := map[string]types.AttributeValue{}
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		maps.Copy(all, in.ExpressionAttributeValues)
	case *dynamodb.UpdateItemInput:
		maps.Copy(all, in.ExpressionAttributeValues)
	case *dynamodb.QueryInput:
		maps.Copy(all, in.ExpressionAttributeValues)
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			if item.Put != nil {
				maps.Copy(all, item.Put.ExpressionAttributeValues)
			}
			if item.Update != nil {
				maps.Copy(all, item.Update.ExpressionAttributeValues)
			}
			if item.Delete != nil {
				maps.Copy(all, item.Delete.ExpressionAttributeValues)
			}
			if item.ConditionCheck != nil {
				maps.Copy(all, item.ConditionCheck.ExpressionAttributeValues)
			}
		}
	}
	return all
}

// codes returns the error codes of an answer: its own, those of its statements, and those of a
// cancelled transaction.
func codes(out any, err error) []string {
	var all []string
	var api smithy.APIError
	if errors.As(err, &api) {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(api.ErrorCode(), "AWS.SimpleQueueService."), "Exception"))
	}
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		for _, reason := range cancel.CancellationReasons {
			if code := aws.ToString(reason.Code); code != "None" {
				all = append(all, code)
			}
		}
	}
	if batch, ok := out.(*dynamodb.BatchExecuteStatementOutput); ok && err == nil {
		for _, r := range batch.Responses {
			if r.Error != nil {
				all = append(all, string(r.Error.Code))
			}
		}
	}
	return all
}

var word = regexp.MustCompile(`\w+`)

// ofTables matches the functions of the packages that send requests to the tables.
var ofTables = regexp.MustCompile(`/ingot/(?:internal/table/\w+|migrate|store|store/query|store/repair)\.(.*)`)

// inBetween matches the functions that send the requests of others with retries.
var inBetween = regexp.MustCompile(`^(Asked|\(\*Tables\)\.(Ask|Retry))\b`)

// sender returns the words of the function whose request is on its way.
func sender() []string {
	var pcs [40]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if name := ofTables.FindStringSubmatch(f.Function); name != nil && !inBetween.MatchString(name[1]) {
			return word.FindAllString(name[1], -1)
		}
		if !more {
			return nil
		}
	}
}
