package target_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/target/targettest"
)

const account, region = "000000000000", "eu-central-1"

// outputs are those of a stack of this version.
func outputs() map[string]string {
	all := map[string]string{}
	for _, name := range target.Outputs() {
		all[name] = strings.ToLower(name)
	}
	all["EventsTableName"], all["AggregatesTableName"] = stack.Events, stack.Aggregates
	return all
}

// cloud is an account with the tables, and no stacks yet. The environment has credentials for it
// and nothing of the developer's own.
func cloud(t *testing.T) *targettest.Cloud {
	t.Helper()
	e := embedded.New(embedded.Config{Region: region})
	_, err := stack.New(context.Background(), e, stack.Config{})
	must.Succeed(t, err)
	c := &targettest.Cloud{Engine: e, Account: account, Region: region}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": "id",
		"AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_PROFILE":           "", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/absent",
		"AWS_SHARED_CREDENTIALS_FILE": "/absent", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
	return c
}

func find(t *testing.T, o target.Options, variables map[string]string) (*target.Target, error) {
	t.Helper()
	o.Env = func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	found, err := target.Find(context.Background(), o)
	if found != nil {
		t.Cleanup(found.Close)
	}
	return found, err
}

// reaches checks that the clients of a target reach the tables.
func reaches(t *testing.T, found *target.Target) {
	t.Helper()
	for _, table := range []string{found.EventsTable, found.AggregatesTable} {
		if _, err := found.DynamoDB().DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: &table}); err != nil {
			t.Error(err)
		}
	}
}

const samconfig = `version = 0.1
[default.global.parameters]
stack_name = "shop-dev"
[prod.global.parameters]
stack_name = "shop"
[prod.deploy.parameters]
region = "eu-west-1"
[half.global.parameters]
parallel = true
`

func TestStackByName(t *testing.T) {
	c := cloud(t)
	c.Stacks = []targettest.KnownStack{{Name: "shop", Outputs: outputs(), Parameters: map[string]string{"DeletionProtection": "true"}},
		{Name: "shop-dev", Outputs: outputs()}}
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "samconfig.toml"), samconfig)
	for name, tt := range map[string]struct {
		options          target.Options
		name, region     string
		named, protected bool
	}{
		"by name":               {target.Options{Stack: "shop"}, "shop", region, true, true},
		"default":               {target.Options{Dir: dir}, "shop-dev", region, false, false},
		"environment":           {target.Options{Dir: dir, ConfigEnv: "prod"}, "shop", "eu-west-1", true, true},
		"region above the file": {target.Options{Dir: dir, ConfigEnv: "prod", Region: "us-east-1"}, "shop", "us-east-1", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find(t, tt.options, nil)
			must.Succeed(t, err)
			if found.Kind != target.KindStack || found.Name != tt.name || found.Region != tt.region || found.Account != account ||
				found.Named != tt.named || found.Protected != tt.protected {
				t.Errorf("%+v", found)
			}
			if found.QueueURL != "queueurl" || found.QuarantineURL != "quarantinequeueurl" || found.DeadLetterURL != "deadletterqueueurl" ||
				found.ArchiveBucket != "archivebucketname" ||
				found.IngestFunction != "ingestfunctionname" || found.StreamsFunction != "streamsfunctionname" ||
				found.SecretARN != "piikeysecret" {
				t.Errorf("%+v", found)
			}
			must.Succeed(t, found.Needs(target.Queue, target.Archive))
			if want := "stack " + tt.name + ", account " + account + ", region " + tt.region; !strings.HasPrefix(found.String(), want) {
				t.Errorf("%s, want %s", found, want)
			}
			reaches(t, found)
		})
	}
}

// kinds of errors, as exit codes tell them apart.
const (
	plain = iota
	wrong
	credentials
)

func kind(err error) int {
	switch {
	case errors.As(err, new(*target.UsageError)):
		return wrong
	case target.Refused(err):
		return credentials
	}
	return plain
}

// fails reports a call that does not fail in the way that it has to.
func fails(t *testing.T, err error, way int, words ...string) {
	t.Helper()
	must.Equal(t, kind(err), way, err)
	must.Fail(t, err, words...)
}

func TestStacksThatCannotBeUsed(t *testing.T) {
	c := cloud(t)
	old := outputs()
	delete(old, "AggregatesTableName")
	delete(old, "IngestFunctionName")
	c.Stacks = []targettest.KnownStack{{Name: "bare"}, {Name: "old", Outputs: old}, {Name: "new", Status: "REVIEW_IN_PROGRESS"},
		{Name: "failed", Status: "ROLLBACK_COMPLETE"}}
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "samconfig.toml"), samconfig)
	broken := t.TempDir()
	must.Write(t, filepath.Join(broken, "samconfig.toml"), "version = \n")
	for name, tt := range map[string]struct {
		options target.Options
		kind    int
		says    string
	}{
		"none named": {target.Options{}, wrong, "which stack? No ingot dev runs for this folder, and there is no samconfig.toml " +
			"here; name a stack with --stack NAME, or start one with: ingot dev"},
		"absent":          {target.Options{Stack: "shpo"}, wrong, "; deploy it, or name another with --stack"},
		"absent, by file": {target.Options{Dir: dir}, wrong, "samconfig.toml:3:14 names it); deploy it"},
		"no outputs":      {target.Options{Stack: "bare"}, plain, "stack bare has no outputs, and its state is UPDATE_COMPLETE"},
		"not carried out": {target.Options{Stack: "new"}, wrong, "stack new in region eu-central-1 at http://127.0.0.1:"},
		"rolled back": {target.Options{Stack: "failed"}, wrong,
			"failed and left nothing behind; delete it (aws cloudformation delete-stack)"},
		"older": {target.Options{Stack: "old"}, plain, "stack old lacks the outputs AggregatesTableName, IngestFunctionName: " +
			"its template is of an older version, or not Ingot's; ingot init --diff"},
		"no file":           {target.Options{ConfigEnv: "prod"}, wrong, "--config-env prod: there is no samconfig.toml here"},
		"no environment":    {target.Options{Dir: dir, ConfigEnv: "pord"}, wrong, "has no environment pord; it has default, prod, half"},
		"no name":           {target.Options{Dir: dir, ConfigEnv: "half"}, wrong, "names no stack under half: write stack_name"},
		"no TOML":           {target.Options{Dir: broken}, wrong, "samconfig.toml:1:"},
		"two names":         {target.Options{Stack: "a", ConfigEnv: "b"}, wrong, "leave one of them out"},
		"local and a stack": {target.Options{Stack: "a", Local: true}, wrong, "leave one of them out"},
		"local and Region":  {target.Options{Region: "a", Local: true}, wrong, "--profile, --region and --endpoint-url out"},
		"bad endpoint": {target.Options{Stack: "a", EndpointURL: "localhost:4566"}, wrong,
			`--endpoint-url "localhost:4566": write a URL, such as http://127.0.0.1:4566`},
		"nobody there": {target.Options{Stack: "a", EndpointURL: "http://127.0.0.1:1"}, plain,
			"asking CloudFormation for stack a in region eu-central-1 at http://127.0.0.1:1: "},
		"no profile": {target.Options{Stack: "a", Profile: "nobody"}, credentials, "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := find(t, tt.options, nil)
			fails(t, err, tt.kind, tt.says)
			must.Equal(t, strings.Count(fmt.Sprint(err), "\n"), 0)
		})
	}
}

// check asks for the outputs that the tool reads.
func TestCheckKnowsTheOutputs(t *testing.T) {
	want, got := target.Outputs(), append(slices.Clone(rules.ToolOutputs), rules.SecretOutput)
	if slices.Sort(want); !slices.Equal(want, slices.Sorted(slices.Values(got))) {
		t.Errorf("the tool reads %q, and check asks for %q", want, got)
	}
}

// Wake calls the streams function with no changes. What keeps it from starting is told.
func TestWake(t *testing.T) {
	c := cloud(t)
	c.Stacks = []targettest.KnownStack{{Name: "shop", Outputs: outputs()}}
	found, err := find(t, target.Options{Stack: "shop"}, nil)
	must.Succeed(t, err)
	var got []string
	problem := ""
	c.Invoke = func(function string, payload []byte) (string, string) {
		got = append(got, function+" "+string(payload))
		return "null", problem
	}
	if err := found.Wake(t.Context()); err != nil || !slices.Equal(got, []string{`streamsfunctionname {"Records":[]}`}) {
		t.Errorf("%v: %q", err, got)
	}
	problem = `{"errorMessage":"INGOT_PII_KEY is not set"}`
	if err := found.Wake(t.Context()); err == nil || kind(err) == credentials ||
		err.Error() != "function streamsfunctionname does not start: "+problem {
		t.Errorf("%v", err)
	}
	c.Refuse = func(string) string { return "AccessDeniedException" }
	if err := found.Wake(t.Context()); kind(err) != credentials ||
		!strings.HasPrefix(err.Error(), "the credentials may not wake function streamsfunctionname: User: ") {
		t.Errorf("%v", err)
	}
}

// The secret comes from INGOT_PII_KEY, or else from the stack.
func TestSecret(t *testing.T) {
	c := cloud(t)
	c.Stacks = []targettest.KnownStack{{Name: "shop", Outputs: outputs()}}
	c.Secrets = map[string]string{"piikeysecret": "of the stack"}
	for _, tt := range []struct{ variable, want string }{{"", "of the stack"}, {"of the variable", "of the variable"}} {
		found, err := find(t, target.Options{Stack: "shop"}, map[string]string{"INGOT_PII_KEY": tt.variable})
		must.Succeed(t, err)
		if secret, err := found.Secret(t.Context()); err != nil || string(secret) != tt.want {
			t.Errorf("%q: %q, %v", tt.variable, secret, err)
		}
	}
	found, err := find(t, target.Options{Stack: "shop"}, nil)
	must.Succeed(t, err)
	c.Secrets = nil
	if _, err := found.Secret(t.Context()); err == nil ||
		!strings.HasPrefix(err.Error(), "reading the secret piikeysecret: Secrets Manager can't find") {
		t.Errorf("%v", err)
	}
	c.Refuse = func(string) string { return "AccessDeniedException" }
	if _, err := found.Secret(t.Context()); kind(err) != credentials ||
		!strings.HasSuffix(err.Error(), "; set INGOT_PII_KEY, or leave out what needs a hash") {
		t.Errorf("%v", err)
	}
}

// sdkSays returns what the SDK writes to stderr where the machine's own service has no credentials.
func sdkSays(t *testing.T) string {
	t.Helper()
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer machine.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine.URL)
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	must.Succeed(t, err)
	defer file.Close()
	stderr := os.Stderr
	os.Stderr = file
	_, err = find(t, target.Options{Stack: "shop"}, nil)
	os.Stderr = stderr
	must.Equal(t, kind(err), credentials, err)
	said := must.Read(t, file.Name())
	return string(said)
}

func TestCredentials(t *testing.T) {
	c := cloud(t)
	for _, code := range []string{"AccessDenied", "ExpiredToken", "InvalidClientTokenId", "SignatureDoesNotMatch"} {
		c.Refuse = func(string) string { return code }
		_, err := find(t, target.Options{Stack: "shop"}, nil)
		fails(t, err, credentials, "the credentials may not read stack shop in region eu-central-1 at ",
			": User: arn:aws:iam::"+account+":user/jo is not authorized")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err := find(t, target.Options{Stack: "shop"}, nil)
	fails(t, err, credentials, "there are no AWS credentials: ")
	must.Equal(t, sdkSays(t), "")
	t.Setenv("AWS_REGION", "")
	_, err = find(t, target.Options{Stack: "shop"}, nil)
	fails(t, err, wrong, "no region is known: write --region")
}

func TestVariables(t *testing.T) {
	cloud(t)
	two := map[string]string{"INGOT_TABLE": stack.Events, "INGOT_AGGREGATES_TABLE": stack.Aggregates}
	found, err := find(t, target.Options{}, two)
	must.Succeed(t, err)
	reaches(t, found)
	if found.Kind != target.KindEnvironment || !found.Named || found.Account != account ||
		!strings.HasPrefix(found.String(), "tables events and totals, account "+account+", region "+region) {
		t.Errorf("%s: %+v", found, found)
	}
	for part, variable := range map[target.Part]string{target.Queue: "INGOT_QUEUE_URL", target.Quarantine: "INGOT_QUARANTINE_URL",
		target.DeadLetters: "INGOT_DEAD_LETTER_URL",
		target.Archive:     "INGOT_ARCHIVE_BUCKET", target.IngestFunction: "INGOT_INGEST_FUNCTION",
		target.StreamsFunction: "INGOT_STREAMS_FUNCTION"} {
		if err := found.Needs(part); err == nil || !strings.HasSuffix(err.Error(), " is not known: set "+variable) {
			t.Errorf("%s: %v", variable, err)
		}
		with := maps.Clone(two)
		with[variable] = "something"
		full, err := find(t, target.Options{}, with)
		must.Succeed(t, err)
		if err := full.Needs(part); err != nil {
			t.Errorf("%s is set: %v", variable, err)
		}
	}
	for says, variables := range map[string]map[string]string{
		"INGOT_AGGREGATES_TABLE is not set: set INGOT_TABLE and INGOT_AGGREGATES_TABLE both": {"INGOT_TABLE": "events"},
		": INGOT_TABLE names it": {"INGOT_TABLE": "evnts", "INGOT_AGGREGATES_TABLE": "totals"},
	} {
		_, err := find(t, target.Options{}, variables)
		fails(t, err, wrong, says)
	}
	// The own variable for the endpoint wins, as it does in the functions.
	two["INGOT_ENDPOINT_URL"] = "http://127.0.0.1:1"
	_, err = find(t, target.Options{}, two)
	must.Fail(t, err, "127.0.0.1:1")
}

func TestLocal(t *testing.T) {
	c := cloud(t)
	server := run(t, "run 1", c)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"} {
		t.Setenv(name, "") // none of them is needed
	}
	dir := t.TempDir()
	below := filepath.Join(dir, "cmd", "ingest")
	must.Succeed(t, os.MkdirAll(below, 0o755))
	_, err := find(t, target.Options{Local: true, Dir: below}, nil)
	fails(t, err, plain, "no ingot dev runs for "+below+" or a folder above it; start one with: ingot dev")
	dev := target.Local{ID: "run 1", PID: 4711, Endpoint: server.URL, Region: region, Account: account, EventsTable: stack.Events,
		AggregatesTable: stack.Aggregates,
		QueueURL:        "q", QuarantineURL: "qq", DeadLetterURL: "d", ArchiveBucket: "a", Pipeline: filepath.Join(dir, "pipeline.yaml")}
	for range 2 { // a second start replaces the file
		must.Succeed(t, dev.Write(dir))
	}
	found, err := find(t, target.Options{Local: true, Dir: below}, nil)
	must.Succeed(t, err)
	reaches(t, found)
	if found.Kind != target.KindLocal || found.Name != dev.Pipeline || found.QueueURL != "q" || found.QuarantineURL != "qq" ||
		found.DeadLetterURL != "d" || found.ArchiveBucket != "a" ||
		found.Account != account || found.Region != region || found.Protected {
		t.Errorf("%+v", found)
	}
	must.Fail(t, found.Needs(target.Queue, target.StreamsFunction),
		"ingot dev has no such thing: this command needs the name of the streams function")
	if want := "ingot dev with " + dev.Pipeline; !strings.HasPrefix(found.String(), want) {
		t.Error(found)
	}
	files, err := os.ReadDir(filepath.Join(dir, ".ingot"))
	if names := slices.Collect(func(yield func(string) bool) {
		for _, f := range files {
			if !yield(f.Name()) {
				return
			}
		}
	}); err != nil || len(names) != 1 || names[0] != "dev.json" {
		t.Errorf("%v: %v", err, names)
	}

	without := dev
	without.EventsTable = "deleted"
	must.Succeed(t, without.Write(dir))
	_, err = find(t, target.Options{Local: true, Dir: dir}, nil) // it runs, and each command says what it lacks
	must.Succeed(t, err)
	must.Succeed(t, dev.Write(dir))

	server.Close()
	_, err = find(t, target.Options{Local: true, Dir: dir}, nil)
	fails(t, err, plain, "(process 4711) does not answer at "+server.URL+": ")
	for _, text := range []string{"", "{}", "[1]", `{"endpoint":"http://x"}`} {
		must.Write(t, target.LocalFile(dir), text)
		_, err = find(t, target.Options{Local: true, Dir: dir}, nil)
		must.Fail(t, err, "is not a file that ingot dev writes: delete it")
	}
}

// run serves an account as an ingot dev does that says this ID.
func run(t *testing.T, id string, c *targettest.Cloud) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == target.LocalID {
			_, _ = io.WriteString(w, id+"\n")
			return
		}
		c.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestLocalIsTheDefault shows which stack is meant in a folder with a samconfig.toml, if an ingot
// dev runs there, or has run there.
func TestLocalIsTheDefault(t *testing.T) {
	c := cloud(t)
	c.Stacks = []targettest.KnownStack{{Name: "shop", Outputs: outputs()}, {Name: "shop-dev", Outputs: outputs()}}
	folder := func(d target.Local, of string) string {
		dir := t.TempDir()
		if d.Pipeline = filepath.Join(cmp.Or(of, dir), "pipeline.yaml"); d.ID != "" {
			must.Succeed(t, d.Write(dir))
		}
		must.Write(t, filepath.Join(dir, "samconfig.toml"), samconfig)
		must.Succeed(t, os.Mkdir(filepath.Join(dir, "cmd"), 0o700))
		return dir
	}
	dev := target.Local{ID: "run 1", PID: 4711, Endpoint: run(t, "run 1", c).URL, Region: region, Account: account,
		EventsTable: stack.Events, AggregatesTable: stack.Aggregates}
	runs := folder(dev, "")
	killed, over := dev, dev
	killed.Endpoint, over.ID = "http://127.0.0.1:1", "run 0"
	const here, past = "no stack is named, so this is the ingot dev with ",
		" does not run any more, so this is the stack that samconfig.toml names"
	for name, tt := range map[string]struct {
		options     target.Options
		kind        target.Kind
		stack, note string
	}{
		"one runs":                {target.Options{Dir: runs}, target.KindLocal, "", here},
		"one runs above":          {target.Options{Dir: filepath.Join(runs, "cmd")}, target.KindLocal, "", here},
		"asked for":               {target.Options{Dir: runs, Local: true}, target.KindLocal, "", ""},
		"a stack is named":        {target.Options{Dir: runs, Stack: "shop"}, target.KindStack, "shop", ""},
		"an environment is named": {target.Options{Dir: runs, ConfigEnv: "default"}, target.KindStack, "shop-dev", ""},
		"a Region is named":       {target.Options{Dir: runs, Region: region}, target.KindStack, "shop-dev", ""},
		"an endpoint is named": {target.Options{Dir: runs, EndpointURL: os.Getenv("AWS_ENDPOINT_URL")}, target.KindStack,
			"shop-dev", ""},
		"none has run":         {target.Options{Dir: folder(target.Local{}, "")}, target.KindStack, "shop-dev", ""},
		"it was killed":        {target.Options{Dir: folder(killed, "")}, target.KindStack, "shop-dev", past},
		"its port has another": {target.Options{Dir: folder(over, "")}, target.KindStack, "shop-dev", past},
		"a copy of its folder": {target.Options{Dir: folder(dev, runs)}, target.KindStack, "shop-dev", past},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := find(t, tt.options, nil)
			must.Succeed(t, err)
			if found.Kind != tt.kind || tt.stack != "" && found.Name != tt.stack || !strings.Contains(found.Note, tt.note) ||
				(found.Note == "") != (tt.note == "") {
				t.Errorf("%s: %q", found, found.Note)
			}
			if tt.note != past {
				return
			}
			tt.options.Local = true
			if _, err := find(t, tt.options, nil); kind(err) != plain || !strings.HasSuffix(err.Error(), "with: ingot dev") {
				t.Errorf("if it is asked for: %v", err)
			}
		})
	}
	variables := map[string]string{"INGOT_TABLE": stack.Events, "INGOT_AGGREGATES_TABLE": stack.Aggregates}
	if found, err := find(t, target.Options{Dir: runs}, variables); err != nil || found.Kind != target.KindEnvironment || found.Note != "" {
		t.Errorf("the environment names tables: %v, %v", found, err)
	}
	// One that runs without its table is not passed over.
	gone := dev
	gone.EventsTable = "deleted"
	found, err := find(t, target.Options{Dir: folder(gone, "")}, nil)
	must.Succeed(t, err)
	must.Equal(t, found.Kind, target.KindLocal)
}

// TestLocalRemovesItsOwnFile shows that an `ingot dev` that ends leaves the file of another one.
func TestLocalRemovesItsOwnFile(t *testing.T) {
	dir := t.TempDir()
	first, second := target.Local{PID: 1, Endpoint: "http://127.0.0.1:1"}, target.Local{PID: 2, Endpoint: "http://127.0.0.1:2"}
	must.Succeed(t, errors.Join(first.Write(dir), second.Write(dir), first.Remove(dir)))
	if _, err := os.Stat(target.LocalFile(dir)); err != nil {
		t.Errorf("the first has removed the file of the second: %v", err)
	}
	for range 2 { // that it is gone already is no error
		must.Succeed(t, second.Remove(dir))
	}
	if _, err := os.Stat(target.LocalFile(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second has left its file: %v", err)
	}
}
