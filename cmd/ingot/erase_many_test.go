package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table"
	tablearchive "github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/archive"
	"github.com/ingot-events/ingot/internal/tool/erase"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// peopleSpec has all that can hold something of a person: parts that are kept for longer than their
// whole, claims, hashed keys and payloads in the payload bucket.
const peopleSpec = `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: "ORDER"}
    indexes: {GSI1: {pk: "CUSTOMER#{customer | hmac}", sk: "{@at}"}}
    retain: 20000d
    offload: {over: 1KB, keep: [lines]}
  line:
    part: {of: order, each: lines, with: [id, customer]}
    id: "{id}#{n}"
    key: {pk: "LINES#{customer | hmac}", sk: "{id}#{n}"}
    retain: 30000d
    offload: {over: 1KB}
  account:
    atomic: true
    id: "{id}"
    at: "{at}"
    key: {pk: "ACCOUNT#{id}", sk: "ACCOUNT"}
    indexes: {GSI1: {pk: "CUSTOMER#{customer | hmac}", sk: "{@at}"}}
    retain: 20000d
  email:
    part: {of: account, with: [email]}
    id: "{email}"
    key: {pk: "EMAIL#{email}", sk: "CLAIM"}
    retain: 30000d
  place:
    part: {of: account, with: [place, id]}
    id: "{place}"
    key: {pk: "PLACE#{place}", sk: "CLAIM"}
    retain: 30000d
patterns:
  person: {read: [order, account], index: GSI1}
  order: {read: [order]}
  line: {read: [line]}
  orders: {total: orders}
aggregates:
  orders: {since: 1, from: {order: {values: {orders: count}}}}
`

var long = strings.Repeat("lorem ipsum ", 200)

func buys(id, customer string, lines ...string) string {
	var list []string
	for n, text := range lines {
		list = append(list, fmt.Sprintf(`{"n":%d,"text":%q}`, n+1, text))
	}
	return fmt.Sprintf(`{"type":"order","id":%q,"customer":%q,"at":"2026-03-01T10:00:0%sZ","lines":[%s],"note":%q}`, id, customer, id,
		strings.Join(list, ","), long)
}

func opens(id, customer, email string) string {
	return fmt.Sprintf(`{"type":"account","id":%q,"customer":%q,"email":%q,"place":%q,"at":"2026-03-01T10:00:00Z"}`, id, customer,
		email, email)
}

// people is an ingot dev that has stored events of people.
func people(t *testing.T, bodies ...string) *devWorld {
	t.Helper()
	w := newDevWorldOf(t, peopleSpec)
	w.send(0, bodies...)
	return w
}

// erases runs ingot erase and reads its JSON.
func (w *devWorld) erases(code int, line string) (r erase.Report) {
	w.t.Helper()
	w.run(code, "erase --local --output json "+line).reads(w.t, &r)
	return r
}

// kept returns the keys of what is stored, without those that are barred.
func (w *devWorld) kept() (list []string) {
	w.t.Helper()
	out, err := w.dev.Engine().DynamoDB().Scan(w.t.Context(),
		&dynamodb.ScanInput{TableName: aws.String(stack.Events), ConsistentRead: aws.Bool(true)})
	must.Succeed(w.t, err)
	for _, item := range out.Items {
		if item["i:barred"] == nil {
			list = append(list, item["PK"].(*types.AttributeValueMemberS).Value+"|"+item["SK"].(*types.AttributeValueMemberS).Value)
		}
	}
	slices.Sort(list)
	return list
}

// sets changes an attribute of the item with a key as kept returns it.
func (w *devWorld) sets(key, name string, v types.AttributeValue) {
	w.t.Helper()
	pk, sk, _ := strings.Cut(key, "|")
	_, err := w.dev.Engine().DynamoDB().UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(stack.Events),
		Key:              testworld.Key(pk, sk),
		UpdateExpression: aws.String("SET #n = :v"), ExpressionAttributeNames: map[string]string{"#n": name},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": v}})
	must.Succeed(w.t, err)
}

// expires lets time to live remove the items whose keys begin like this, and waits until they are
// in the archive.
func (w *devWorld) expires(begins ...string) {
	w.t.Helper()
	before, n := len(w.archived()), 0
	for _, key := range w.kept() {
		if !slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(key, b) }) {
			continue
		}
		n++
		w.sets(key, "expiresAt", &types.AttributeValueMemberN{Value: "1700000000"})
	}
	w.dev.Engine().Sweep(1000)
	until(w.t, "what has expired is archived", func() bool { return len(w.archived()) == before+n })
}

// archived returns the keys of what is in the archive.
func (w *devWorld) archived() (list []string) {
	w.t.Helper()
	for item, err := range (archive.Bucket{S3: w.dev.Engine().S3(), Name: stack.Bucket}).Read(w.t.Context(), archive.Days{}) {
		must.Succeed(w.t, err)
		list = append(list, item.Event.Key.PK)
	}
	return list
}

// bucket returns the names of what is in a bucket.
func (w *devWorld) bucket(name string) (names []string) {
	w.t.Helper()
	out, err := w.dev.Engine().S3().ListObjectsV2(w.t.Context(), &s3.ListObjectsV2Input{Bucket: &name})
	must.Succeed(w.t, err)
	for _, o := range out.Contents {
		names = append(names, *o.Key)
	}
	return names
}

// deploys makes a changed pipeline.yaml the deployed one, as somebody does who takes no advice of
// ingot check.
func (w *devWorld) deploys(changes ...string) {
	w.t.Helper()
	text := strings.NewReplacer(changes...).Replace(peopleSpec)
	plan, err := textfile.File{Name: "pipeline.yaml", Text: []byte(text)}.Load(pipeline.Secret([]byte(w.env["INGOT_PII_KEY"])))
	must.Succeed(w.t, err)
	in, err := table.Open(tables.Config{Client: w.dev.Engine().DynamoDB(), Pipeline: plan, Aggregates: stack.Aggregates})
	must.Succeed(w.t, err)
	must.Succeed(w.t, errors.Join(in.Heads.Start(w.t.Context()), in.Heads.KeepFile(w.t.Context(), false)))
}

// names returns the objects of an erasure that the archive has, without their versions.
func names(list []erase.Archive) (names []string) {
	for _, one := range list {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// All that a pattern finds is shown, and then erased: with parts, claims and payloads, and events
// that have expired. What is stopped in between is finished by the same command.
func TestEraseByPattern(t *testing.T) {
	w := people(t, buys("1", "ann", "a", long), buys("2", "ann"), buys("3", "bob", "b"), opens("7", "ann", "ann@example.com"),
		opens("8", "bob", "bob@example.com"))
	w.send(1, strings.Replace(buys("2", "ann"), "lorem", "LOREM", 1)) // a conflict, with a payload of its own
	letter := w.pull()[0]
	if n := len(w.objects()); n != 5 {
		t.Fatalf("%d payloads", n)
	}
	w.sets("ORDER#2|ORDER", "expiresAt", &types.AttributeValueMemberN{Value: "1700000000"})

	for want, line := range map[string]string{
		"write --yes to confirm":      "--pattern person customer=ann",
		"write --keys FILE":           "--pattern person customer=ann --yes",
		"orders reads totals":         "--pattern orders --dry-run",
		"customer":                    "--pattern person --dry-run",
		"pattern":                     "--pattern persons customer=ann --dry-run",
		"in one way":                  "--pattern person --pk a --sk b --dry-run",
		"belong to --pattern":         "order id=1 --from 2026 --dry-run",
		"leave out everything that":   "--payloads order --dry-run",
		"has written":                 "--keys none.ndjson --yes",
		"--keys is empty":             "--keys= --yes",
		"name what to erase in one w": "--keys k order id=1 --yes",
	} {
		must.Say(t, w.run(2, "erase --local "+line).errors, want)
	}

	all := w.kept()
	dry := w.run(0, "erase --pattern person customer=ann --keys ann.ndjson --dry-run --local --letters letters")
	sameText(t, "erase-pattern-dry.txt", dry.out, letter)
	if !slices.Equal(w.kept(), all) || len(w.objects()) != 5 {
		t.Fatalf("--dry-run has changed something: %v", w.kept())
	}
	planned := w.erases(0, "--keys ann.ndjson --dry-run --letters letters")
	if len(planned.Events) != 3 || len(planned.Events[0].Parts)+len(planned.Events[1].Parts)+len(planned.Events[2].Parts) != 4 {
		t.Errorf("%+v", planned)
	}

	// It was stopped after an event was barred, and before its payloads were deleted.
	_, err := w.dev.Engine().DynamoDB().PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String(stack.Events), Item: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "ORDER#2"}, "SK": &types.AttributeValueMemberS{Value: "ORDER"},
			"i:barred":  &types.AttributeValueMemberBOOL{Value: true},
			"expiresAt": &types.AttributeValueMemberN{Value: "1700000000"}}})
	must.Succeed(t, err)
	w.send(1, buys("4", "ann", "c")) // it came in the meantime
	got := w.run(0, "erase --pattern person customer=ann --keys ann.ndjson --yes --local --letters letters")
	sameText(t, "erase-pattern.txt", got.out, letter)
	must.Say(t, got.errors, "EVENTS\n")
	left := []string{"ACCOUNT#8|ACCOUNT", "EMAIL#bob@example.com|CLAIM", "ORDER#3|ORDER", "PLACE#bob@example.com|CLAIM"}
	must.Match(t, slices.DeleteFunc(w.kept(), func(key string) bool {
		return strings.HasPrefix(key, "LINES#") && strings.HasSuffix(key, "|3#1")
	}), left)
	must.Equal(t, len(w.objects()), 1)
	w.run(0, "erase --pattern person customer=ann --dry-run --local").prints(t, "no event is found\n")

	// After a restore, the same keys are erased again.
	again := w.erases(0, "--keys ann.ndjson --yes")
	for _, ev := range again.Events {
		if ev.Erased == nil || *ev.Erased || !ev.Barred {
			t.Errorf("%+v", ev)
		}
	}
	must.Equal(t, len(again.Events), 4)
	text := content(t, "ann.ndjson")
	must.Say(t, text, `{"type":"email","pk":"EMAIL#ann@example.com","sk":"CLAIM"}`)
	must.Equal(t, strings.Count(text, "\n"), 4)
	must.Equal(t, strings.Contains(text, "customer"), false)
	write(t, "bad.ndjson", "{\"pk\":\"A\",\"sk\":\"B\"}\n{\"pk\":\"A\"}\n")
	must.Say(t, w.run(2, "erase --keys bad.ndjson --yes --local").errors, "bad.ndjson:2 is not a key")
}

// A whole and its parts that a pattern finds are one event. A part alone is said to be one. An
// event that cannot be erased does not keep the others from it.
func TestEraseByPatternOfParts(t *testing.T) {
	w := people(t, buys("1", "ann", "a", "b"), buys("2", "ann", "a"))
	got := w.run(0, "erase --pattern line customer=ann --dry-run --local")
	must.Equal(t, strings.Count(got.out, "a part; its event is not erased"), 3)
	lines := `{"pk":"ORDER#1","sk":"ORDER"}` + "\n"
	for _, key := range w.kept() {
		if pk, sk, _ := strings.Cut(key, "|"); strings.HasPrefix(pk, "LINES#") {
			lines += fmt.Sprintf("{\"pk\":%q,\"sk\":%q}\n", pk, sk)
		}
	}
	write(t, "keys.ndjson", lines)
	if r := w.erases(0, "--keys keys.ndjson --dry-run"); len(r.Events) != 2 || len(r.Events[0].Parts) != 2 ||
		r.Events[1].Type != "line" {
		t.Errorf("%+v", r)
	}

	w.deploys(`key: {pk: "LINES#{customer | hmac}", sk: "{id}#{n}"}`, `key: {pk: "OTHER#{customer | hmac}", sk: "{id}#{n}"}`)
	write(t, "keys.ndjson", lines[:strings.Index(lines, "\n")+1]+`{"pk":"ORDER#9","sk":"ORDER"}`+"\n")
	r := w.erases(1, "--keys keys.ndjson --yes")
	if !strings.Contains(r.Events[0].Error, "its parts are not all found") || r.Events[0].Barred ||
		!strings.Contains(r.Events[1].Error, "the key is barred") {
		t.Errorf("%+v %+v", r.Events[0], r.Events[1])
	}
}

// The parts of an event that pipeline.yaml does not make any more are found in the table.
func TestEraseScans(t *testing.T) {
	w := people(t, buys("1", "ann", "a", long), buys("2", "ann", "c"), opens("7", "ann", "ann@example.com"))
	w.deploys(`key: {pk: "LINES#{customer | hmac}", sk: "{id}#{n}"}`, `key: {pk: "OTHER#{customer | hmac}", sk: "{id}#{n}"}`,
		`  email:
    part: {of: account, with: [email]}
    id: "{email}"
    key: {pk: "EMAIL#{email}", sk: "CLAIM"}
    retain: 30000d
  place:
    part: {of: account, with: [place, id]}
    id: "{place}"
    key: {pk: "PLACE#{place}", sk: "CLAIM"}
    retain: 30000d
`, "", "    atomic: true\n", "")
	for _, line := range []string{"order id=1", "account id=7"} {
		before := w.kept()
		for _, flag := range []string{"--dry-run", "--yes"} {
			must.Say(t, w.run(1, "erase --local "+line, flag).errors, "ingot erase with --scan")
		}
		must.Match(t, w.kept(), before)
	}
	dry := w.run(0, "erase order id=1 --scan --dry-run --local")
	must.Say(t, dry.errors, "scanning table events costs about ")
	must.Equal(t, strings.Count(dry.out, "\npart          line  LINES#"), 2)
	must.Equal(t, strings.Count(dry.out, "which erasing deletes"), 2)
	w.run(0, "erase order id=1 --scan --yes --local")
	w.run(0, "erase account id=7 --scan --yes --local")
	if kept := w.kept(); len(kept) != 2 || !strings.HasPrefix(kept[0], "LINES#") || kept[1] != "ORDER#2|ORDER" ||
		len(w.objects()) != 1 {
		t.Errorf("left are %v and %v", kept, w.objects())
	}
}

// Nothing is known of an event but its key: its parts show what they belong to.
func TestEraseScansForAKey(t *testing.T) {
	w := people(t, buys("1", "ann", "a", long), buys("2", "ann", "c"), opens("7", "ann", "ann@example.com"))
	for _, key := range []string{"ORDER#1", "ACCOUNT#7"} {
		_, sk, _ := strings.Cut(w.kept()[slices.IndexFunc(w.kept(), func(k string) bool { return strings.HasPrefix(k, key+"|") })], "|")
		_, err := w.dev.Engine().DynamoDB().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(stack.Events),
			Key: testworld.Key(key, sk)})
		must.Succeed(t, err)
	}
	must.Say(t, w.run(1, "erase order id=1 --yes --local").errors, "parts of it may still be stored")
	if got := w.erases(0, "order id=1 --scan --yes"); len(got.Events[0].Parts) != 2 {
		t.Errorf("%+v", got.Events[0])
	}
	if got := w.erases(6, "account id=7 --scan --yes"); len(got.Events[0].Parts) != 1 || got.Events[0].Parts[0].Type != "place" {
		t.Errorf("%+v", got.Events[0])
	}
	must.Say(t, w.run(6, "erase account id=7 --scan --yes --local").errors, "and 1 item of type email may be of that event")
	kept := w.kept() // the claim that does not show its whole is left
	if len(kept) != 3 || kept[0] != "EMAIL#ann@example.com|CLAIM" || !strings.HasSuffix(kept[1], "|2#1") || kept[2] != "ORDER#2|ORDER" {
		t.Errorf("left are %v", kept)
	}
}

// Of an event that has expired, the archive says which parts it had. Their objects are listed, and
// what is still stored of them is erased.
func TestEraseArchived(t *testing.T) {
	w := people(t, buys("1", "ann", "a", long, "c"), buys("2", "ann", "d"), opens("7", "ann", "ann@example.com"),
		opens("8", "bob", "bob@example.com"))
	var first string // the key of the lines
	for _, key := range w.kept() {
		if strings.HasPrefix(key, "LINES#") {
			first, _, _ = strings.Cut(key, "|")
		}
	}
	w.expires("ORDER#1", first+"|1#2", "ACCOUNT#7")
	kept := w.bucket(stack.Bucket)

	got := w.erases(0, "order id=1 --yes")
	ev := got.Events[0]
	if want := slices.DeleteFunc(kept, tablearchive.IsFile); !slices.Equal(names(ev.Archive), want) || len(want) != 2 ||
		len(ev.Parts) != 3 || *ev.Erased {
		t.Errorf("%+v, want %v", ev, want)
	}
	if kept := w.kept(); slices.ContainsFunc(kept, func(key string) bool {
		return strings.HasPrefix(key, first+"|1#")
	}) || !slices.Contains(kept, first+"|2#1") {
		t.Errorf("left are %v", kept)
	}

	// The account is in a file, because its payload is small. A claim that lives on is released,
	// and one that another event has got is not.
	w.run(0, "erase account id=7 --dry-run --local").prints(t, "its files were not read")
	must.Say(t, w.run(1, "erase account id=7 --yes --local").errors, "or with --archive")
	if got := w.erases(0, "account id=7 --archive --dry-run"); len(got.Events[0].Parts) != 2 || !got.Events[0].Parts[0].Claim ||
		len(got.Events[0].Archive) != 1 || got.FilesUnread {
		t.Errorf("%+v", got.Events[0])
	}
	told := w.run(0, "erase account id=7 --archive --yes --reveal --local").out
	_, line, _ := strings.Cut(told, "of these files: ingot ")
	line, _, _ = strings.Cut(line, "\n")
	w.send(0, opens("9", "cat", "ann@example.com"))
	w.erases(0, "account id=7 --archive --yes")
	if kept := w.kept(); !slices.Contains(kept, "EMAIL#ann@example.com|CLAIM") ||
		!slices.Contains(kept, "PLACE#ann@example.com|CLAIM") || !slices.Contains(kept, "EMAIL#bob@example.com|CLAIM") {
		t.Errorf("left are %v", kept)
	}
	w.run(0, strings.ReplaceAll(line, "'", ""), "--local")
	if left := w.archived(); slices.Contains(left, "ACCOUNT#7") || !slices.Contains(left, "ORDER#1") {
		t.Errorf("left in the archive are %v", left)
	}

	// An event with a large payload is an object, and its small parts are lines of a file.
	w.send(0, buys("3", "dan", long, "e"))
	gone := []string{"ORDER#3"}
	for _, key := range w.kept() {
		if strings.Contains(key, "|3#") {
			gone = append(gone, key)
		}
	}
	w.expires(gone...)
	must.Say(t, w.run(6, "erase order id=3 --dry-run --local").errors, "run this command with --archive")
	if ev := w.erases(0, "order id=3 --archive --dry-run").Events[0]; len(ev.Parts) != 2 ||
		!slices.ContainsFunc(names(ev.Archive), tablearchive.IsFile) {
		t.Errorf("%+v", ev)
	}

	// If pipeline.yaml has changed since, it is not known which parts they were.
	w.expires("ORDER#2")
	w.deploys("each: lines", "each: rows")
	must.Say(t, w.run(6, "erase order id=2 --dry-run --local").errors,
		"the archived event had 1 parts (i:parts), and 0 of them are found")
	must.Say(t, w.run(1, "erase order id=2 --yes --local").errors, "parts of it may still be stored")
	w.run(6, "erase order id=2 --scan --yes --local")
	if kept := w.kept(); slices.ContainsFunc(kept, func(key string) bool { return strings.HasPrefix(key, "LINES#") }) {
		t.Errorf("left are %v", kept)
	}
}
