package handler_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// lambdas are the actions of a function's role that Lambda uses in the function's name: to read the
// source, to log and to trace.
var lambdas = []string{
	"dynamodb:DescribeStream EventsTable", "dynamodb:GetRecords EventsTable", "dynamodb:GetShardIterator EventsTable",
	"dynamodb:ListStreams EventsTable",
	"sqs:ReceiveMessage IngestQueue", "sqs:DeleteMessage IngestQueue", "sqs:GetQueueAttributes IngestQueue",
	"logs:CreateLogStream IngestLogs", "logs:PutLogEvents IngestLogs", "logs:CreateLogStream StreamsLogs", "logs:PutLogEvents StreamsLogs",
	"xray:PutTraceSegments *", "xray:PutTelemetryRecords *",
}

// The roles of template.yaml allow exactly what the functions do, no more and no less. The test
// runs every sample event, as it is and under each kind of fault, in both ways of counting.
func TestRolesAllowWhatIsCalled(t *testing.T) {
	all := readExpectations(t)
	used := map[string]map[string]bool{"ingest": {}, "streams": {}}
	for _, s := range all.Files {
		for _, c := range bothWays {
			if len(s.Counting) > 0 && !slices.Contains(s.Counting, c.String()) {
				continue
			}
			for i, faults := range faultsOfEachKind() {
				w := newWorld(t, counting(c), func(u *setup) {
					u.store.Region = "us-east-1"
					u.store.OneByOne = i % 2 // every other kind meets totals that are written by statements
					u.load = func() (*pipeline.Pipeline, error) {
						return pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte(all.Key)))
					}
				})
				w.seen = func(api string, input any) {
					for _, action := range actions(t, api, input) {
						used[s.Function][action] = true
					}
				}
				if s.Function == "streams" {
					w.started()
				}
				w.faults = faults
				for _, file := range append(slices.Clone(s.After), s.File) {
					_, _ = w.runFile(t, s.Function, file) // its outcome does not matter
				}
			}
		}
	}
	for function, role := range map[string]string{"ingest": "IngestRole", "streams": "StreamsRole"} {
		allowed := allowedTo(t, role)
		for _, action := range slices.Sorted(maps.Keys(used[function])) {
			if !slices.Contains(allowed, action) {
				t.Errorf("the %s function needs %s, and %s does not allow it", function, action, role)
			}
		}
		for _, action := range allowed {
			if !used[function][action] && !slices.Contains(lambdas, action) {
				t.Errorf("%s allows %s, which the %s function never calls", role, action, function)
			}
		}
	}
}

// A file with an atomic type needs one permission more, and ingot check asks for it.
func TestAtomicNeedsOnePermissionMore(t *testing.T) {
	used := map[string]bool{}
	for _, faults := range faultsOfEachKind() {
		w := newWorld(t, accounts)
		w.seen = func(api string, input any) {
			for _, action := range actions(t, api, input) {
				used[action] = true
			}
		}
		old, err := w.plan.Plan(envelope.Message{Body: account("a", "x@y")})
		must.Succeed(t, err)
		old.Parts = nil // as an older function put it
		w.store.Put(t.Context(), []*event.Item{old})
		w.faults = faults
		for range 2 {
			w.receive(messages(account("a", "x@y"), account("b", "x@y"), order("1", 1)))
		}
	}
	allowed := append(allowedTo(t, "IngestRole"), "dynamodb:ConditionCheckItem EventsTable")
	for action := range used {
		if !slices.Contains(allowed, action) {
			t.Errorf("the ingest function needs %s", action)
		}
	}
	if !used["dynamodb:ConditionCheckItem EventsTable"] {
		t.Error("it never needs dynamodb:ConditionCheckItem")
	}
}

// With a bucket for large payloads, the ingest function needs one permission more, and its role has
// it for the objects of that bucket alone.
func TestPointersNeedOnePermissionMore(t *testing.T) {
	used := map[string]bool{}
	for _, faults := range append(faultsOfEachKind(), []fault{{API: "GetObject", Always: true, Before: errLost}}) {
		w := newWorld(t)
		w.withObjects(map[string]string{"1": order("1", 1)})
		w.seen = func(api string, input any) {
			for _, action := range actions(t, api, input) {
				used[action] = true
			}
		}
		w.faults = faults
		w.receive(messages(pointer("1"), pointer("2"), "poison"))
	}
	text := must.Read(t, "../"+sampleshop.Template)
	with, err := template.Open(text, map[string]string{"PointerBucket": large})
	must.Succeed(t, err)
	var more []string
	without := allowedTo(t, "IngestRole")
	for _, action := range allowedIn(t, with, "IngestRole") {
		if !slices.Contains(without, action) {
			more = append(more, action)
		}
	}
	if len(more) != 1 || more[0] != "s3:GetObject arn:${AWS::Partition}:s3:::${PointerBucket}/*" || !used["s3:GetObject "+large] {
		t.Errorf("the role allows %q more, and the function used %v", more, used)
	}
}

// With a payload bucket, each function needs what its role then allows more. To list is what it
// takes to be told that an object is missing.
func TestOffloadNeedsMorePermissions(t *testing.T) {
	used := map[string]map[string]bool{"ingest": {"s3:ListBucket": true}, "streams": {"s3:ListBucket": true}}
	w := newWorld(t, offloading).started()
	function := "ingest"
	w.seen = func(api string, input any) {
		switch in := input.(type) {
		case *s3.GetObjectInput, *s3.DeleteObjectInput:
			used[function]["s3:"+api] = true
		case *s3.PutObjectInput:
			if *in.Bucket == stack.Payloads {
				used[function]["s3:"+api] = true
			}
		}
	}
	w.receive(messages(long("1", 1), long("2", 1)))
	w.receive(messages(long("1", 2))) // the stored payload is read
	item, err := w.plan.Plan(envelope.Message{Body: long("2", 1)})
	must.Succeed(t, err)
	function = "nobody"
	used[function] = map[string]bool{}
	_, err = repair.Of(w.store).Erase(t.Context(), item.Key)
	must.Succeed(t, err)
	expired := batch(expiry(1, w.image(long("1", 1))))
	function = "ingest"
	w.receive(messages(long("2", 1)))
	function = "streams"
	w.expect(expired, done)
	text := must.Read(t, "../"+sampleshop.Template)
	with, err := template.Open(text, map[string]string{"Payloads": "keep"})
	must.Succeed(t, err)
	for function, role := range map[string]string{"ingest": "IngestRole", "streams": "StreamsRole"} {
		without, more := allowedTo(t, role), map[string]bool{}
		for _, action := range allowedIn(t, with, role) {
			if name, on, _ := strings.Cut(action, " "); !slices.Contains(without, action) {
				more[name] = true
				must.Equal(t, on, "PayloadBucket ${PayloadBucket.Arn}/*", role, action)
			}
		}
		must.Match(t, more, used[function], role, function)
	}
}

// In the aggregates table, the ingest function reads and puts only the check value of its secret,
// and reads the control items of migrations. Its role allows these keys alone.
func TestIngestSeesTwoKeysOfTheTotals(t *testing.T) {
	w := newWorld(t, secretive, func(s *setup) {
		plain := s.spec.Events["plain"]
		plain.Migrated = "old"
		s.spec.Events["plain"] = plain
	})
	var keys []string
	w.seen = func(_ string, input any) {
		var table *string
		var key types.AttributeValue
		switch in := input.(type) {
		case *dynamodb.GetItemInput:
			table, key = in.TableName, in.Key["PK"]
		case *dynamodb.PutItemInput:
			table, key = in.TableName, in.Item["PK"]
		}
		if aws.ToString(table) == "totals" {
			keys = append(keys, key.(*types.AttributeValueMemberS).Value)
		}
	}
	w.receive(messages(body(person()), "poison"))
	w.receive(messages(body(person())))
	w.receive(messages(body(plainEvent()), body(plainEvent())))
	must.Match(t, keys, []string{"K#", "K#", "M#old"})
	var allowed []string
	tpl := openTemplate(t)
	for _, policy := range tpl.Property(tpl.Resource("IngestRole"), "Policies").Items {
		for _, statement := range tpl.Get(policy, "PolicyDocument", "Statement").Items {
			if statement = tpl.Resolve(statement); statement == nil {
				continue // under other parameters
			}
			if resourceText(statement.Member("Resource").Value) != "AggregatesTable" {
				continue
			}
			for operator, action := range map[string]string{"StringEquals": "GetItem PutItem", "StringLike": "GetItem"} {
				on := tpl.Get(statement, "Condition", "ForAllValues:"+operator, "dynamodb:LeadingKeys")
				if on == nil {
					continue
				}
				allowed = append(allowed, texts(on)...)
				if got := strings.ReplaceAll(strings.Join(texts(tpl.Get(statement, "Action")), " "), "dynamodb:", ""); got != action {
					t.Errorf("the role allows %s on %q", got, texts(on))
				}
			}
		}
	}
	must.Match(t, allowed, []string{"K#", "M#*"})
}

// faultsOfEachKind returns the faults of each run. One run has none. The others have one fault of
// each kind, at the first call of every API.
func faultsOfEachKind() [][]fault {
	runs := [][]fault{nil}
	for _, kind := range []fault{{Before: errLost}, {After: errLost}, {Before: &types.ProvisionedThroughputExceededException{}},
		{Before: &types.ConditionalCheckFailedException{}}, // without the item, as if it did not exist
		{Before: &smithy.GenericAPIError{Code: "ValidationException"}}, {Before: &smithy.GenericAPIError{Code: "AccessDenied"}}} {
		var run []fault
		for _, api := range []string{"PutItem", "UpdateItem", "GetItem", "BatchGetItem", "BatchExecuteStatement", "TransactWriteItems",
			"SendMessageBatch", "PutObject"} {
			one := kind
			one.API = api
			run = append(run, one)
		}
		runs = append(runs, run)
	}
	return runs
}

// actions returns what IAM asks of a caller: the action and the logical id of the resource. A
// transaction and a batch of statements need the actions of their parts (Service Authorization
// Reference, Amazon DynamoDB).
func actions(t *testing.T, api string, input any) (list []string) {
	t.Helper()
	add := func(action string, table *string) {
		list = append(list, "dynamodb:"+action+" "+
			map[string]string{"events": "EventsTable", "totals": "AggregatesTable"}[aws.ToString(table)])
	}
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		add(api, in.TableName)
	case *dynamodb.UpdateItemInput:
		add(api, in.TableName)
	case *dynamodb.GetItemInput:
		add(api, in.TableName)
	case *dynamodb.BatchGetItemInput:
		for table := range in.RequestItems {
			add(api, &table)
		}
	case *dynamodb.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			before, rest, _ := strings.Cut(*s.Statement, `"`)
			table, _, _ := strings.Cut(rest, `"`)
			action, known := map[string]string{"INSERT INTO ": "PartiQLInsert", "UPDATE ": "PartiQLUpdate"}[before]
			if !known {
				t.Errorf("which action allows %s?", *s.Statement)
			}
			add(action, &table)
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			switch {
			case item.Put != nil:
				add("PutItem", item.Put.TableName)
			case item.Update != nil:
				add("UpdateItem", item.Update.TableName)
			case item.ConditionCheck != nil:
				add("ConditionCheckItem", item.ConditionCheck.TableName)
			default:
				t.Errorf("which action allows %+v?", item)
			}
		}
	case *sqs.SendMessageBatchInput:
		list = append(list, "sqs:SendMessage QuarantineQueue")
	case *s3.PutObjectInput:
		if !archive.IsFile(*in.Key) && !strings.HasPrefix(*in.Key, "expired/") {
			t.Errorf("the role allows files and objects under expired/, and %s is neither", *in.Key)
		}
		list = append(list, "s3:PutObject ${ArchiveBucket.Arn}/dt=* ${ArchiveBucket.Arn}/expired/*")
	case *s3.GetObjectInput:
		list = append(list, "s3:GetObject "+*in.Bucket)
	default:
		t.Errorf("which action allows %s?", api)
	}
	return list
}

func openTemplate(t *testing.T) *template.Template {
	t.Helper()
	text := must.Read(t, "../"+sampleshop.Template)
	tpl, err := template.Open(text, nil)
	must.Succeed(t, err)
	return tpl
}

// allowedTo lists the actions of a role, each with the resources on which it is allowed.
func allowedTo(t *testing.T, role string) (list []string) {
	t.Helper()
	return allowedIn(t, openTemplate(t), role)
}

func allowedIn(t *testing.T, tpl *template.Template, role string) (list []string) {
	t.Helper()
	policies := tpl.Property(tpl.Resource(role), "Policies")
	for _, policy := range policies.Items {
		for _, statement := range tpl.Get(policy, "PolicyDocument", "Statement").Items {
			if statement = tpl.Resolve(statement); statement == nil {
				continue // under other parameters
			}
			on := resourceText(statement.Member("Resource").Value)
			for _, action := range texts(statement.Member("Action").Value) {
				list = append(list, action+" "+on)
			}
		}
	}
	if len(list) < 5 || len(policies.Items) != 1 {
		t.Fatalf("%s allows %v", role, list)
	}
	return list
}

// resourceText returns the logical id that a GetAtt names, or the text itself. Of a list it returns
// all.
func resourceText(n *template.Node) string {
	if n.Kind == template.List {
		var list []string
		for _, item := range n.Items {
			list = append(list, resourceText(item))
		}
		return strings.Join(list, " ")
	}
	if n.Kind != template.Call {
		return n.Text
	}
	id := strings.Join(texts(n.Argument), ".")
	if n.Name == "Fn::GetAtt" {
		id, _, _ = strings.Cut(id, ".")
	}
	return id
}

func texts(n *template.Node) []string {
	if n.Kind != template.List {
		return []string{n.Text}
	}
	var list []string
	for _, item := range n.Items {
		list = append(list, item.Text)
	}
	return list
}
