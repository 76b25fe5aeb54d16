package cost

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// billed has another value of each parameter that changes the cost.
var billed = map[string]string{
	"Counting":        "receipts",
	"MinimumPollers":  "2",
	"Architecture":    "x86_64",
	"MemorySize":      "1024",
	"PiiKeySecretArn": "arn:aws:secretsmanager:us-east-1:111122223333:secret:s",
	"Archive":         "objects",
	"ArchiveDays":     "365",
	"Payloads":        "keep", // an alarm watches them; what they cost themselves is in pipeline.yaml
	"KmsKeyArn":       "arn:aws:kms:us-east-1:111122223333:key/k",
	"Tracing":         "Active",
	"EndpointUrl":     "http://emulator", // which has no dashboard
}

// unbilled has another value of each parameter that does not, in any template, and says why.
var unbilled = map[string][2]string{
	"MaximumConcurrency":     {"50", "what is billed is how long functions run, not how many at once"},
	"MaximumPollers":         {"300", "at an average rate, as many run as MinimumPollers says"},
	"LogLevel":               {"ERROR", "where nothing goes wrong, functions log metrics and one line, at any level that matters"},
	"LogRetentionDays":       {"365", "to keep a log costs little beside taking it in"},
	"ExistingPayloadBucket":  {"payloads", "the objects are the same, in another bucket"},
	"PointerBucket":          {"pointers", "which messages point to S3 is not known: one GET request for each"},
	"DeletionProtection":     {"true", "AWS does not bill it"},
	"PermissionsBoundaryArn": {"arn:aws:iam::111122223333:policy/p", "AWS does not bill it"},
	"MaxReadUnits":           {"100000", "what is billed is what is taken, not what may be taken"},
	"MaxWriteUnits":          {"100000", "what is billed is what is taken, not what may be taken"},
	"ThrottledKeys":          {"shown", "DynamoDB bills the requests that are throttled, and none is"},
	"AlarmTopicArn":          {"arn:aws:sns:us-east-1:111122223333:t", "it is told of alarms alone"},

	// Those of the other templates. Some of them are billed in template.yaml.
	"EventsTable":        {"events", "it is the main stack's"},
	"EventsStreamArn":    {"arn:aws:dynamodb:us-east-1:1:table/events/stream/1", "it is the main stack's"},
	"AggregatesTable":    {"totals", "it is the main stack's"},
	"QuarantineQueueUrl": {"https://sqs/1/q", "it is the main stack's, and nothing goes wrong"},
	"StreamsFunction":    {"streams", "it is the main stack's"},
	"PublishTo":          {"arn:aws:sns:us-east-1:1:t", "what a target bills for messages is not known"},
	"TargetKmsKeyArn":    {"arn:aws:kms:us-east-1:1:key/k", "what a target bills for messages is not known"},
	"PiiKeySecret":       {"arn:aws:secretsmanager:us-east-1:1:secret:s", "it is the main stack's"},
	"PayloadBucket":      {"payloads", "where pipeline.yaml offloads, there must be one"},
	"KmsKeyArn":          {"arn:aws:kms:us-east-1:1:key/k", "it is the main stack's, whose parameter says whether there is one"},
	"OldTable":           {"old", "a command compares it, and says what that costs"},
	"OldStreamArn":       {"arn:aws:dynamodb:us-east-1:1:table/old/stream/1", "each change of it is a change of the events table"},
	"Patience":           {"1h", "nothing goes wrong"},
	"MemorySize":         {"2048", "a worker with more memory is faster, at the same price"},
	"EndpointUrl":        {"http://emulator", "an emulator bills nothing"},
}

// apart are the templates of the stacks beside, by their folder: what changes their cost.
var apart = map[string]struct {
	name   string
	billed map[string]string
}{
	"publish": {"publish", map[string]string{"Architecture": "x86_64", "MemorySize": "1024"}},
	"migrate": {"capture", map[string]string{"Architecture": "x86_64", "MemorySize": "1024",
		"EventsStreamArn": "arn:aws:dynamodb:us-east-1:1:table/events/stream/1"}}, // what goes back has alarms
	"worker": {Large, map[string]string{"Architecture": "x86_64", "Schedule": `"rate(1 day)"`}},
}

// configured returns a template, and a samconfig.toml with parameters.
func configured(t *testing.T, name string, overrides []string) (tpl, config textfile.File) {
	t.Helper()
	return textfile.File{Name: name, Text: must.Read(t, filepath.Join(root, name))},
		textfile.File{Name: "samconfig.toml", Text: []byte("version = 0.1\n[default.global.parameters]\nparameter_overrides = '" +
			strings.Join(overrides, " ") + "'\n")}
}

// costWith returns what a stack costs a month with parameters of samconfig.toml.
func costWith(t *testing.T, overrides ...string) float64 {
	t.Helper()
	tpl, config := configured(t, sampleshop.Template, overrides)
	c, err := rules.Open(tpl, &config, "default")
	must.Succeed(t, err)
	stack := c.Billed()
	size, err := c.Both()
	must.Succeed(t, err)
	return priced(t, [2]any{stack, size}, func(in *Input) {
		in.Stack, in.Memory, in.Architecture, in.Traced = &stack, size.Memory, size.Architecture, size.Traced
	})
}

var monthly = map[any]float64{}

// priced returns what a month costs with this about the stacks, which is computed once.
func priced(t *testing.T, about any, with func(*Input)) float64 {
	t.Helper()
	if _, there := monthly[about]; !there {
		in := shopAt(t, 10)
		with(&in)
		monthly[about] = computed(t, in, placed(200)).DollarsAMonth
	}
	return monthly[about]
}

// Each parameter of each template changes the cost, or there is a reason why it does not.
func TestParameters(t *testing.T) {
	seen := parameters(t, sampleshop.Template, costWith, billed)
	if none, usual := costWith(t, "Archive=none"), costWith(t); none >= usual {
		t.Errorf("without an archive a month costs %v, and with one %v", none, usual)
	}
	for folder, of := range apart {
		name := filepath.Join("cmd", folder, "template.yaml")
		seen = append(seen, parameters(t, name, func(t *testing.T, overrides ...string) float64 {
			tpl, config := configured(t, name, overrides)
			stack, err := StackOf(of.name)
			must.Succeed(t, err)
			if len(overrides) > 0 {
				stack, err = stack.As(tpl, &config, "default")
				must.Succeed(t, err)
			}
			return priced(t, stack, func(in *Input) { in.Beside = []Stack{stack} })
		}, of.billed)...)
	}
	slices.Sort(seen)
	must.Match(t, slices.Compact(seen), slices.Sorted(maps.Keys(unbilled)))
}

// parameters gives each parameter of a template another value, and returns those that cost nothing.
// A template with its defaults costs what the tool supposes without it.
func parameters(t *testing.T, name string, costs func(*testing.T, ...string) float64, billed map[string]string) (free []string) {
	t.Helper()
	tpl, err := template.Open(must.Read(t, filepath.Join(root, name)), nil)
	must.Succeed(t, err)
	usual := costs(t)
	for _, p := range tpl.Parameters() {
		if value := billed[p.Name]; value != "" {
			if got := costs(t, p.Name+"="+value); got == usual {
				t.Errorf("%s: %s=%s costs %v, as without it", name, p.Name, value, got)
			}
			continue
		}
		free = append(free, p.Name)
		other := unbilled[p.Name]
		if got := costs(t, p.Name+"="+other[0]); got != usual || other[1] == "" {
			t.Errorf("%s: %s=%s costs %v and not %v, or there is no reason for that: %q", name, p.Name, other[0], got, usual, other[1])
		}
	}
	must.Equal(t, len(free)+len(billed), len(tpl.Parameters()))
	return free
}

// Pollers, keys and idle polls cost what AWS's pages say.
func TestBilledByTheHour(t *testing.T) {
	in := shopAt(t, 0.001)
	with := func(change func(*rules.Billed)) *Report {
		stack := *usual(in.Pipeline)
		change(&stack)
		in := in
		in.Stack = &stack
		return computed(t, in, placed(10))
	}
	requests := func(r *Report) float64 { return of(r, "queue", "SQS requests") * r.Messages / 1e6 }
	bounded, free := with(func(*rules.Billed) {}), with(func(s *rules.Billed) { s.Idle = 2 })
	if more := requests(bounded) - requests(free); more < 3*hours*3600/20-1 || more > 3*hours*3600/20+1 {
		t.Errorf("three pollers more ask %v times more in a month", more)
	}
	polled := with(func(s *rules.Billed) { s.Idle, s.Pollers = 10, 10 })
	if got := of(polled, "queue", "poller-hours") * polled.Messages / 1e6; math.Abs(got-10*hours) > 0.01 {
		t.Errorf("ten pollers are there for %v hours of a month", got)
	}
	keyed := with(func(s *rules.Billed) { s.OwnKey = true })
	// One dollar is for the key, and the rest for 61,320 requests, of which 10,000 cost 0.03.
	if more := keyed.DollarsAMonth - bounded.DollarsAMonth; more < 1.18 || more > 1.19 {
		t.Errorf("a key of one's own costs %v dollars a month", more)
	}
}

// Stacks beside take what AWS's pages say, and only rate(…) has a price.
func TestStacksBeside(t *testing.T) {
	in := shopAt(t, 100)
	own := *usual(in.Pipeline)
	own.OwnKey = true
	in.Stack = &own
	month := func(r *Report, part, counted string) float64 { return of(r, part, counted) * r.Messages / 1e6 }
	alone := computed(t, in, placed(500))
	for folder, about := range apart {
		text := must.Read(t, filepath.Join(root, "cmd", folder, "template.yaml"))
		stack, err := StackOf(about.name)
		must.Succeed(t, err)
		if about.name != Large {
			must.Say(t, string(text), "BatchSize: 100\n")
		}
		in.Beside = []Stack{stack}
		with := computed(t, in, placed(500))
		if with.DollarsAMonth <= alone.DollarsAMonth || of(with, about.name+" stack", "invocations") == 0 {
			t.Errorf("with %s it costs %v, and alone %v", about.name, with.DollarsAMonth, alone.DollarsAMonth)
		}
		got, want := month(with, about.name+" stack", "KMS requests"), float64(stack.tables)*hours*12
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s asks KMS %v times a month, want %v", about.name, got, want)
		}
		if about.name == Large { // it reads all events twice a week, as package worker does
			must.Say(t, string(must.Read(t, filepath.Join(root, "worker/watch.go"))), "watchParts  = 64\n")
			stored := month(with, "storage", "GB-months of backup") * gigabyte
			if got, want := month(with, "large stack", "read units"), stored/4096*2*730/168; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%v read units a month, want %v", got, want)
			}
			if got := month(with, "large stack", "state transitions"); got < 6000 || got > 7000 {
				t.Errorf("%v state transitions a month", got)
			}
		}
	}
	for schedule, want := range map[string]float64{"rate(7 days)": 730 / 168.0, "rate(1 day)": 730 / 24.0, "rate(12 hours)": 730 / 12.0,
		"rate(30 minutes)": 1460} {
		got, err := runsOf(schedule)
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", schedule, got, err, want)
		}
	}
	for _, schedule := range []string{"cron(0 3 ? * MON *)", "rate(0 days)", "rate(1 week)", "rate(1)"} {
		_, err := runsOf(schedule)
		must.Fail(t, err, "the price of "+schedule+" is not known")
	}
}
