package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/tool/console"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/target/targettest"
)

// readme returns a block of README: the pipeline that scripts work on, or its four messages.
func readme(name string) (string, error) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		return "", err
	}
	_, after, ok := strings.Cut(string(page), "```"+name+"\n")
	text, _, ended := strings.Cut(after, "```\n")
	if !ok || !ended {
		return "", fmt.Errorf("README has no block %q", name)
	}
	return text, nil
}

// writeShop writes the folder of somebody who follows README and has deployed the stack shop.
func writeShop(dir string) error {
	pipelineYAML, err := readme("yaml pipeline")
	if err != nil {
		return err
	}
	messages, err := readme("json messages")
	if err != nil {
		return err
	}
	template, err := os.ReadFile("../../" + sampleshop.Template)
	if err != nil {
		return err
	}
	return writeInto(dir, map[string]string{"pipeline.yaml": pipelineYAML, "shop/pipeline.yaml": pipelineYAML, "messages.ndjson": messages,
		"orders.ndjson": strings.Join(strings.SplitAfter(messages, "\n")[:3], ""), "template.yaml": string(template),
		"cmd/ingest/main.go": "package main\n", "cmd/streams/main.go": "package main\n",
		"samconfig.toml": "version = 0.1\n[default.global.parameters]\nstack_name = \"shop\"\n"})
}

func writeInto(dir string, files map[string]string) error {
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// living is a deployment that scripts work on: an ingot dev, and a stack of the name shop over the
// same tables, queues and functions.
type living struct {
	*dev.Dev
	roles
	cloud  *targettest.Cloud
	server *httptest.Server
	stop   func() // ends the console
}

// live starts a deployment of the pipeline.yaml in a folder.
func live(dir string) (*living, error) { return liveAt(dir, time.Now) }

// liveAt is live with a clock.
func liveAt(dir string, now func() time.Time) (*living, error) {
	cfg := dev.Config{File: filepath.Join(dir, "pipeline.yaml"), Now: now, Secret: []byte(show.StandIn)}
	ctx, stop := context.WithCancel(context.Background())
	console.InDev(ctx, &cfg, false)
	d, err := dev.Start(ctx, cfg)
	if err != nil {
		stop()
		return nil, err
	}
	l := d.Local()
	endpoint, err := url.Parse(l.Endpoint)
	if err == nil {
		err = stack.CreateArchive(ctx, d.Engine().S3(), "my-bucket") // for --work
	}
	switches := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(endpoint) }} // with the Host that dev wants
	w := &living{Dev: d, stop: stop}
	w.of = func() *target.Target {
		t := found(d)
		if !w.Pipeline().UsesOffload() { // the stack has none
			t.PayloadBucket = ""
		}
		return t
	}
	w.cloud = &targettest.Cloud{Engine: d.Engine(), Account: l.Account, Region: l.Region, Mappings: switches,
		Role: w.role, Secrets: map[string]string{secretARN: show.StandIn},
		Stacks: []targettest.KnownStack{{Name: "shop",
			Outputs: map[string]string{"EventsTableName": l.EventsTable, "AggregatesTableName": l.AggregatesTable,
				"QueueUrl": l.QueueURL, "QuarantineQueueUrl": l.QuarantineURL, "DeadLetterQueueUrl": l.DeadLetterURL,
				"ArchiveBucketName": l.ArchiveBucket, "PayloadBucketName": w.of().PayloadBucket,
				"IngestFunctionName": target.DevIngest, "StreamsFunctionName": target.DevStreams, "PiiKeySecret": secretARN,
				"IngestLogGroup": "ingest-logs", "StreamsLogGroup": "streams-logs"}}}}
	w.server = httptest.NewServer(w.cloud)
	if err != nil {
		w.close()
	}
	return w, err
}

func (w *living) close() {
	w.stop()
	w.server.Close()
	_ = w.Close() // it waits for its work
}

// end closes the deployment, and fails if a command was denied a call.
func (w *living) end(fail func(...any)) {
	w.close()
	w.fail(fail)
}

const secretARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:shop"

// sendMessages sends README's messages one after the other, and waits until they are counted.
func (w *living) sendMessages() error {
	messages, err := readme("json messages")
	if err != nil {
		return err
	}
	for line := range strings.Lines(messages) {
		if _, err := w.Engine().SQS().SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: aws.String(w.Local().QueueURL),
			MessageBody: aws.String(strings.TrimSpace(line))}); err != nil {
			return err
		}
	}
	return w.settle()
}

// settle waits until each of README's messages has its verdict and every stored event is counted.
// So it does for some more events, all of which are new.
func (w *living) settle(more ...string) error {
	limit := time.After(2 * time.Minute)
	judged, counted, events := 0, 0, 0
	for _, text := range more {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		events += n
	}
	for from := int64(0); ; {
		steps, next := w.Steps().After(from, 1000)
		for _, s := range steps {
			if from = s.Number; s.Message != nil {
				judged++
			}
			if s.Streams != nil {
				counted += s.Streams.Received
			}
		}
		if len(steps) > 0 {
			continue
		}
		if judged >= 4+events { // now all items are there, parts among them
			out, err := w.Engine().DynamoDB().DescribeTable(context.Background(),
				&dynamodb.DescribeTableInput{TableName: aws.String(w.Local().EventsTable)})
			if err != nil || counted >= int(*out.Table.ItemCount) {
				return err
			}
		}
		select {
		case <-next:
		case <-limit:
			return fmt.Errorf("%d messages are judged, and %d changes counted", judged, counted)
		}
	}
}

// archivesFile puts a file of one event into the archive.
func (w *living) archivesFile() error {
	image := `{"PK":{"S":"ORDER#o-1"},"SK":{"S":"PLACED"},"at":{"S":"2026-01-01T00:00:00.000000000Z"},"data":{"S":"{}"},` +
		`"digest":{"B":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="},"epoch":{"N":"1"},"expiresAt":{"N":"1"},"id":{"S":"o-1"},` +
		`"type":{"S":"order.placed"}}`
	sequence, err := event.ParseSequence("1000000000000000000001")
	if err != nil {
		return err
	}
	name, body, err := archive.File([]*event.Change{{OldImage: image, Sequence: sequence,
		Created: must.Time("2026-03-01T00:00:00Z")}})
	if err != nil {
		return err
	}
	_, err = w.Engine().S3().PutObject(context.Background(), &s3.PutObjectInput{Bucket: aws.String(w.Local().ArchiveBucket), Key: &name,
		Body: strings.NewReader(body)})
	return err
}

// environment is what a script finds in its environment.
func (w *living) environment() map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": w.server.URL, "AWS_REGION": w.Local().Region, "AWS_ACCESS_KEY_ID": "id",
		"AWS_SECRET_ACCESS_KEY":     "secret",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "absent", "AWS_SHARED_CREDENTIALS_FILE": "absent", "AWS_MAX_ATTEMPTS": "1",
		"AWS_CA_BUNDLE": ""} // no certificate is asked for, and a machine's own bundle takes long to read
}

// runScripts runs scripts. Each has a deployment of its own, with README's messages in it, unless
// its name says that it works in another place: NAME@PLACE.txt. In NAME@silent.txt nothing is sent
// yet.
func runScripts(t *testing.T, p testscript.Params) {
	t.Helper()
	own, err := os.Getwd()
	must.Succeed(t, err)
	p.Setup = func(env *testscript.Env) error {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"), ".")
		switch _, place, _ := strings.Cut(name, "@"); place {
		case "root":
			return writeRoot(env.WorkDir)
		case "readings":
			return writeReadings(env.WorkDir)
		case "nothing":
			return writeShop(env.WorkDir)
		}
		if err := writeShop(env.WorkDir); err != nil {
			return err
		}
		w, err := live(env.WorkDir)
		if err != nil {
			return err
		}
		env.Defer(func() { w.end(env.T().Fatal) })
		env.Values["living"] = w
		for name, value := range w.environment() {
			env.Setenv(name, value)
		}
		if strings.HasSuffix(name, "@silent") {
			return nil
		}
		return w.sendMessages()
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		// replace replaces a text in a file, which must be there.
		"replace": func(ts *testscript.TestScript, _ bool, args []string) {
			text := ts.ReadFile(args[0])
			if !strings.Contains(text, args[1]) {
				ts.Fatalf("%s has no %q", args[0], args[1])
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
		},
		// prints compares what the last command printed with a file of the script.
		"prints": func(ts *testscript.TestScript, _ bool, args []string) {
			got := steady(ts, ts.ReadFile("stdout"))
			if want := ts.ReadFile(args[0]); got != want {
				ts.Fatalf("want\n%s\nand it prints\n%s", want, got)
			}
		},
		// settle waits until README's messages, and so many more, are judged and counted.
		"settle": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(ts.Value("living").(*living).settle(args...))
		},
		// reloaded has the deployment take over pipeline.yaml as it is now.
		"reloaded": func(ts *testscript.TestScript, _ bool, _ []string) {
			ts.Value("living").(*living).Reload(context.Background())
		},
		// archived puts a file into the archive.
		"archived": func(ts *testscript.TestScript, _ bool, _ []string) {
			ts.Check(ts.Value("living").(*living).archivesFile())
		},
		// letter sets LETTER to the first characters of the id of the message in a folder.
		"letter": func(ts *testscript.TestScript, _ bool, args []string) {
			files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*-*.json"))
			if ts.Check(err); len(files) != 1 {
				ts.Fatalf("%d messages in %s", len(files), args[0])
			}
			ts.Setenv("LETTER", filepath.Base(files[0])[:8])
		},
		// serve runs a command until it has printed a text, and then ends it with Ctrl-C. What it
		// printed is in the file served.
		"serve": serve,
		"golden": func(ts *testscript.TestScript, _ bool, args []string) {
			compareGolden(ts, own, args[0], args[1], args[2:])
		},
	}
	testscript.Run(t, p)
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), os.Environ()
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_CONFIG_FILE",
		"AWS_SHARED_CREDENTIALS_FILE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var said, out strings.Builder
	cmd.Stderr = &said
	pipe, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	kill := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() }) // the failure below tells
	defer kill.Stop()
	interrupted := false
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
		if !interrupted && strings.Contains(lines.Text(), args[0]) {
			interrupted = true
			ts.Check(cmd.Process.Signal(os.Interrupt))
		}
	}
	if err := cmd.Wait(); err != nil || !interrupted {
		ts.Fatalf("%s: %v\n%s%s", strings.Join(args[1:], " "), err, out.String(), said.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("served"), []byte(out.String()), 0o600))
}

// compareGolden compares a file of a script with a golden file. On a terminal, its lines fit into
// 80 columns, and a golden file of its own is there only if the output is another.
func compareGolden(ts *testscript.TestScript, own, name, from string, how []string) {
	got := steady(ts, ts.ReadFile(from))
	file := filepath.Join(own, "testdata", "examples", name+".golden")
	if len(how) > 0 { // on a terminal
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && how[0] != "wide" {
				ts.Fatalf("%d columns: %s", n, line)
			}
		}
		terminal := strings.TrimSuffix(file, ".golden") + ".80.golden"
		if _, err := os.Stat(terminal); err == nil || *updateExamples {
			file = terminal
		}
	}
	if *updateExamples {
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	ts.Check(err)
	if got != string(want) {
		ts.Fatalf("%s says\n%s\nand it prints\n%s\n(go test ./cmd/ingot -run TestExamples -update-examples writes it anew)",
			file, want, got)
	}
}

// changing matches what is another with each run, and stands for it.
var changing = []struct {
	*regexp.Regexp
	steady string
}{
	{regexp.MustCompile(` in \d+\.\d s, [\d,]+ a second`), ""}, // what took a second or more
	{regexp.MustCompile(`/stream/[0-9T:.-]+`), "/stream/TIME"},
	{regexp.MustCompile(`"seconds": [\d.e-]+`), `"seconds": 0`},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "ENDPOINT"},
	{regexp.MustCompile(`token=\w+`), "token=TOKEN"},
	{regexp.MustCompile(`"id":"\w+","pid":\d+`), `"id":"ID","pid":1`},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`go1\.\d\S*, \w+/\w+`), "GO"},
	{regexp.MustCompile(`"go1\.\d\S*"`), `"GO"`},
	{regexp.MustCompile(`"(os|arch)": "\w+"`), `"$1": "ANY"`},
	{regexp.MustCompile(aboutNow() + `[T ]\d\d:\d\d(:\d\d(\.\d+)?Z)?`), "NOW"},
}

// aboutNow matches the days around this one.
func aboutNow() string {
	var days []string
	for n := -1; n <= 2; n++ {
		days = append(days, time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly))
	}
	return "(" + strings.Join(days, "|") + ")"
}

// steady replaces what is another with each run.
func steady(ts *testscript.TestScript, text string) string {
	for _, one := range changing {
		text = one.ReplaceAllString(text, one.steady)
	}
	if letter := ts.Getenv("LETTER"); letter != "" {
		text = strings.ReplaceAll(text, letter, "MESSAGE1")
	}
	return strings.ReplaceAll(text, ts.MkAbs(".")+"/", "")
}
