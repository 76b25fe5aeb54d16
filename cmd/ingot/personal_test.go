package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/console"
	"github.com/ingot-events/ingot/internal/tool/dev"
)

// hiddenSpec is a pipeline that hashes values in one place and shows them in all others: as a key,
// an id, an index, an attribute, a claim, the by of totals with and without a floor, and as values
// of totals. It also hashes an id, and a message attribute.
const hiddenSpec = `ingot: 1
epoch: 1
batches: true
type: "{type}"
events:
  account:
    atomic: true
    id: "{id}"
    at: "{at}"
    key: {pk: "ACCOUNT#{id}", sk: "-"}
    indexes: {GSI1: {pk: "MAIL#{mail | hmac}", sk: "{@at}"}, GSI2: {pk: "PHONE#{phone | hmac}", sk: "{@at}"}, GSI3: {pk: "BOTH#{mail}", sk: "{phone}"}}
    attributes: {mail: mail, phone: phone}
  claim:
    part: {of: account, with: [mail, at]}
    id: "{mail}"
    key: {pk: "CLAIM#{mail}", sk: "-"}
  login:
    id: "{name}"
    at: "{at}"
    key: {pk: "LOGIN#{@id | hmac}", sk: "-"}
    indexes: {GSI1: {pk: "ID#{@id}", sk: "{@at}"}}
  visit:
    id: "{id}#{@attribute.user}"
    at: "{at}"
    key: {pk: "VISIT#{id}", sk: "{@attribute.user | hmac}"}
    indexes: {GSI1: {pk: "USER#{@attribute.user}", sk: "{@at}"}}
  birth: {id: "{id}", at: "{born}", key: {pk: "BIRTH#{id}", sk: "{born | hmac}"}}
  received: {id: "{id}", at: "{at}", key: {pk: "STOCK#{id}", sk: "-"}}
  reserved: {id: "{id}", at: "{at}", key: {pk: "STOCK#{id}", sk: "-"}}
aggregates:
  accounts:
    since: 1
    by: {mail: "{mail}"}
    from: {account: {values: {accounts: count, phone: newest phone, first: oldest mail, least: min phone, most: max phone}}}
  logins: {since: 1, by: {name: "{@id}"}, from: {login: {values: {logins: count}}}}
  stock:
    since: 1
    movedBy: put
    by: {mail: "{mail}"}
    atLeast: {available: 0}
    from: {received: {values: {available: sum pieces}}, reserved: {values: {available: sum -pieces}}}
patterns:
  claims: {read: [claim]}
  totals: {total: accounts}
`

// The personal values. None of them may be printed, nor the value of a floor in a detail.
const (
	secretMail, secretPhone, secretName, secretUser = "ann@secret.example", "49170555123", "ann-secret-name", "ann-secret-user"
	otherMail                                       = "eve@secret.example"
)

var secrets = regexp.MustCompile(`secret|49170555\d+|(is|be) -?(77777|100000)`)

func account(id, mail string, more ...string) string {
	return fmt.Sprintf(`{"type":"account","id":%q,"at":"2026-03-01T09:00:00Z","mail":%q,"phone":%s%s}`, id, mail, secretPhone,
		strings.Join(more, ""))
}

// hiddenWorld is an ingot dev with a console, in which personal values are stored, counted, and in
// quarantine for each reason that quotes something.
type hiddenWorld struct {
	*devWorld
	ask func(path, body string) string
}

func newHiddenWorld(t *testing.T) *hiddenWorld {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "pipeline.yaml", hiddenSpec)
	cfg := dev.Config{File: "pipeline.yaml", Now: time.Now, Secret: []byte("a key of sixteen bytes")}
	console.InDev(t.Context(), &cfg, false)
	d := startDev(t, cfg)
	w := &hiddenWorld{devWorld: &devWorld{t, d, map[string]string{"INGOT_PII_KEY": "a key of sixteen bytes"}}}
	w.ask = w.session()
	user := map[string]types.MessageAttributeValue{"user": {DataType: aws.String("String"), StringValue: aws.String(secretUser)}}
	w.send(0, account("1", secretMail), fmt.Sprintf(`{"type":"login","name":%q,"at":"2026-03-01T09:00:00Z"}`, secretName),
		fmt.Sprintf(`{"type":"received","id":"1","at":"2026-03-01T09:00:00Z","mail":%q,"pieces":77777}`, secretMail))
	w.post(d.Stack().Queue, `{"type":"visit","id":"1","at":"2026-03-01T09:00:00Z"}`, user)
	w.post(d.Stack().Queue, `{"type":"visit","id":"1"}`, user) // no time
	w.send(8,
		account("1", otherMail),            // another payload
		account("2", secretMail, `,"x":1`), // the claim is taken
		fmt.Sprintf(`{"type":"reserved","id":"2","at":"2026-03-01T09:00:00Z","mail":%q,"pieces":177777}`, secretMail), // below the floor
		fmt.Sprintf(`{"type":"login","name":{"a":%q},"at":"x"}`, secretName),
		fmt.Sprintf(`{"type":"account","id":"3","at":"2026-03-01T09:00:00Z","mail":%q,"phone":%[1]q}`, secretMail), // not a number
		account("4", otherMail)+`"`+
			secretMail, // not JSON: a quote is in the detail
		"["+account("5", secretMail)+","+fmt.Sprintf(`{"type":"account","id":"6","mail":%q,"phone":7}`, secretMail)+"]")
	until(t, "the events are counted", func() bool { return len(w.totalsWith("phone")) == 1 && len(w.totalsWith("logins")) == 1 })
	return w
}

// totalsWith returns the totals that are stored and have this value.
func (w *hiddenWorld) totalsWith(name string) (list []map[string]ddb.AttributeValue) {
	w.t.Helper()
	out, err := w.dev.Engine().DynamoDB().Scan(w.t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.Aggregates)})
	must.Succeed(w.t, err)
	for _, item := range out.Items {
		if _, has := item[name]; has {
			list = append(list, item)
		}
	}
	return list
}

// session opens the console, and returns a function that asks it.
func (w *hiddenWorld) session() func(path, body string) string {
	page, token, _ := strings.Cut(w.dev.Local().Console, "/#token=")
	jar, err := cookiejar.New(nil)
	must.Succeed(w.t, err)
	client := http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(path, body string) string {
		w.t.Helper()
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		r, err := http.NewRequestWithContext(w.t.Context(), method, page+path, strings.NewReader(body))
		must.Succeed(w.t, err)
		r.Header.Set("Origin", page)
		answer, err := client.Do(r)
		must.Succeed(w.t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must.Succeed(w.t, err)
		return string(text)
	}
	ask("/api/session", `{"token":"`+token+`"}`)
	return ask
}

// hides fails if a text has a personal value.
func (w *hiddenWorld) hides(what, text string) {
	w.t.Helper()
	must.Equal(w.t, secrets.FindString(text), "", what, text)
}

// runs runs a command, whatever its exit code is, and checks what it prints as text and as JSON.
func (w *hiddenWorld) runs(stdin, line string, more ...string) string {
	w.t.Helper()
	all := ""
	for _, form := range []string{"", " --output json"} {
		got := pipedWith(w.t, w.env, stdin, line+form, more...)
		w.hides(line, got.out+got.errors)
		all += got.out + got.errors
	}
	return all
}

// Nothing that is personal is printed by any command, in whatever part of its output.
func TestNothingPersonalIsPrinted(t *testing.T) {
	w := newHiddenWorld(t)
	w.runs("", "get account id=1 --local")
	w.runs(secretMail, "get claim mail=@- --local")
	w.runs(otherMail, "get claim mail=@- --local") // nothing is stored there
	w.runs(secretName, "get login name=@- --local")
	w.runs(secretMail, "query claims mail=@- --local")
	w.runs(secretMail, "query claims mail=@- --local --explain")
	w.runs(secretMail, "query totals mail=@- --local")
	w.runs("", "totals accounts --scan --local")
	w.runs("", "totals stock --scan --local")
	w.runs("", "totals logins --scan --local")
	w.runs(secretMail, "totals accounts mail=@- --local")
	w.runs("", "status --local")
	w.runs("", "verify --local")
	w.runs(secretMail, "erase claim mail=@- --dry-run --local")
	w.runs(secretName, "erase login name=@- --dry-run --local")

	w.runs("", "quarantine pull letters --once --local")
	w.runs("", "quarantine list letters")
	files, err := filepath.Glob("letters/*.json")
	if err != nil || len(files) != 8 {
		t.Fatal(files, err)
	}
	reasons := ""
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		reasons += w.runs("", "quarantine show letters --local", id)
		w.runs("", "quarantine resend letters --replace --yes --local", id)
		w.runs("", "quarantine edit letters --set name.x=y --dry-run", id)
	}
	must.Say(t, reasons, "digest-differs", "claimed", "below-floor", "missing-field", "wrong-type", "undecodable")
	w.runs("", "quarantine resend letters --local")
	var events strings.Builder
	for i, file := range files {
		text := must.Read(t, file)
		var letter struct{ Body string }
		must.Succeed(t, json.Unmarshal(text, &letter))
		events.WriteString(letter.Body + "\n")
		write(t, "one.json", letter.Body)
		w.runs("", "explain one.json --pipeline pipeline.yaml --attribute", "user="+secretUser)
		write(t, fmt.Sprint(i), letter.Body)
	}
	events.WriteString(account("1", secretMail) + "\n")
	write(t, "events.ndjson", events.String())
	w.runs("", "explain events.ndjson --pipeline pipeline.yaml")
	w.runs("", "check --pipeline pipeline.yaml --events events.ndjson")
	w.runs("", "send events.ndjson --local --wait --wait-limit 1ms")
	w.runs("", "demo events.ndjson --pipeline pipeline.yaml")
	write(t, "wrong.ndjson", fmt.Sprintf(`{"type":"birth","id":"1","born":%q}`, secretMail)+"\n") // the refusal quotes it
	w.runs("", "demo wrong.ndjson --pipeline pipeline.yaml")
	w.runs("", "explain wrong.ndjson --pipeline pipeline.yaml")
	w.runs("", "send wrong.ndjson --local --wait")
	w.runs("", "rebuild --all --local")
	w.runs("", "rebuild parts --local")
	w.runs(secretMail, "erase --pattern claims mail=@- --dry-run --local")

	w.env = nil // the stand-in for the secret finds nothing
	must.Say(t, w.runs(secretName, "get login name=@- --local"), "were filled with another INGOT_PII_KEY")
}

// The console's page shows what its answers hold.
func TestTheConsoleShowsNothingPersonal(t *testing.T) {
	w := newHiddenWorld(t)
	w.hides("about", w.ask("/api/about", ""))
	flow := w.ask("/api/flow", "")
	w.hides("flow", flow)
	list := w.ask("/api/quarantine", "")
	w.hides("quarantine", list)
	var letters struct{ Letters []struct{ ID string } }
	if err := json.Unmarshal([]byte(list), &letters); err != nil || len(letters.Letters) != 8 {
		t.Fatalf("%v: %s", err, list)
	}
	for _, l := range letters.Letters {
		w.hides("letter", w.ask("/api/letter", `{"id":"`+l.ID+`"}`))
	}
	for _, message := range []string{account("1", secretMail), account("1", otherMail), account("2", secretMail, `,"x":1`),
		account("9", secretMail) + `"` + secretMail,
		fmt.Sprintf(`{"type":"login","name":%q,"at":"2026-03-01T09:00:00Z"}`, secretName),
		fmt.Sprintf(`{"type":"reserved","id":"2","at":"2026-03-01T09:00:00Z","mail":%q,"pieces":177777}`, secretMail),
		fmt.Sprintf(`{"type":"account","id":"3","mail":%q,"phone":%[1]q}`, secretMail)} {
		text, err := json.Marshal(message)
		must.Succeed(t, err)
		w.hides("journey", w.ask("/api/journey", `{"message":`+string(text)+`}`))
	}
	for _, key := range []string{`"pk":"ACCOUNT#1","sk":"-"`, `"pk":"CLAIM#` + secretMail + `","sk":"-"`,
		`"type":"login","fields":{"name":"` + secretName + `"}`, `"type":"account","fields":{"name":"` + secretName + `"}`} {
		w.hides("journey "+key, w.ask("/api/journey", `{`+key+`}`))
	}
	for _, name := range []string{"accounts", "stock", "logins"} {
		w.hides("totals", w.ask("/api/totals", `{"aggregate":"`+name+`"}`))
	}
	w.damage()
	must.Say(t, w.runs("", "verify --local"), "phone is ***", "least is ***", "unreadable item")
	w.runs("", "verify --local --twice")
	w.runs("", "totals accounts --scan --local")
	w.flag(event.Key{PK: "A#accounts#1#0#" + secretMail, SK: "-"}, `2026-03-01T09:00:00Z "`+secretMail+`" is gone`)
	w.runs("", "status --local")
	w.runs("", "totals accounts --scan --local")
	must.Say(t, w.runs("", "rebuild --accept --local"), `mail=***: 2026-03-01T09:00:00Z "***" is gone`)
	must.Say(t, w.runs("", "rebuild mend --local"), "mended: accounts since 1 mail=***")
}

// damage changes each total of accounts, as nobody should, and damages an item.
func (w *hiddenWorld) damage() {
	w.t.Helper()
	db := w.dev.Engine().DynamoDB()
	for _, item := range w.totalsWith("phone") {
		item["least"], item["accounts"] = &ddb.AttributeValueMemberN{Value: "491705550"}, &ddb.AttributeValueMemberN{Value: "5"}
		item["phone"] = &ddb.AttributeValueMemberS{Value: strings.Replace(item["phone"].(*ddb.AttributeValueMemberS).Value, secretPhone,
			"491705559", 1)}
		_, err := db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Aggregates), Item: item})
		must.Succeed(w.t, err)
	}
	_, err := db.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(stack.Events),
		Key: map[string]ddb.AttributeValue{"PK": &ddb.AttributeValueMemberS{Value: "CLAIM#" + secretMail},
			"SK": &ddb.AttributeValueMemberS{Value: "-"}},
		UpdateExpression: aws.String("REMOVE digest")})
	must.Succeed(w.t, err)
}
