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

// unbilled has another value of each parameter that does not, and says why.
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
}

// costWith returns what a stack costs a month with parameters of samconfig.toml.
func costWith(t *testing.T, overrides ...string) float64 {
	t.Helper()
	tpl := textfile.File{Name: "template.yaml", Text: must.Read(t, filepath.Join(root, sampleshop.Template))}
	config := textfile.File{Name: "samconfig.toml", Text: []byte("version = 0.1\n[default.global.parameters]\nparameter_overrides = \"" +
		strings.Join(overrides, " ") + "\"\n")}
	stack, err := rules.BilledOf(tpl, &config, "default")
	must.Succeed(t, err)
	size, err := rules.FunctionsOf(tpl, &config, "default")
	must.Succeed(t, err)
	in := shopAt(t, 10)
	in.Stack, in.Memory, in.Architecture, in.Traced = &stack, size.Memory, size.Architecture, size.Traced
	return computed(t, in, placed(200)).DollarsAMonth
}

// Each parameter of template.yaml changes the cost, or there is a reason why it does not.
func TestParameters(t *testing.T) {
	tpl, err := template.Open(must.Read(t, filepath.Join(root, sampleshop.Template)), nil)
	must.Succeed(t, err)
	var declared []string
	for _, p := range tpl.Parameters() {
		declared = append(declared, p.Name)
	}
	known := append(slices.Collect(maps.Keys(billed)), slices.Collect(maps.Keys(unbilled))...)
	slices.Sort(known)
	slices.Sort(declared)
	must.Match(t, known, declared)
	usual := costWith(t)
	for name, value := range billed {
		if got := costWith(t, name+"="+value); got == usual {
			t.Errorf("%s=%s costs %v, as without it", name, value, got)
		}
	}
	for name, other := range unbilled {
		if got := costWith(t, name+"="+other[0]); got != usual || other[1] == "" {
			t.Errorf("%s=%s costs %v and not %v, or there is no reason for that: %q", name, other[0], got, usual, other[1])
		}
	}
	if none := costWith(t, "Archive=none"); none >= usual {
		t.Errorf("without an archive a month costs %v, and with one %v", none, usual)
	}
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

// What stands beside costs what its template has.
func TestStacksBeside(t *testing.T) {
	in := shopAt(t, 100)
	alone := computed(t, in, placed(500))
	for folder, name := range map[string]string{"publish": "publish", "migrate": "capture"} {
		text := must.Read(t, filepath.Join(root, "cmd", folder, "template.yaml"))
		stack, err := rules.BilledOf(textfile.File{Name: "template.yaml", Text: text}, nil, "")
		must.Succeed(t, err)
		i := slices.IndexFunc(besideStacks, func(s besideStack) bool { return s.name == name })
		must.Equal(t, besideStacks[i].alarms, stack.Alarms, name)
		for _, says := range []string{"BatchSize: 100\n", "MemorySize: {Type: Number, Default: 512,"} {
			must.Say(t, string(text), says)
		}
		in.Beside = []string{name}
		with := computed(t, in, placed(500))
		if with.DollarsAMonth <= alone.DollarsAMonth || of(with, name+" stack", "invocations") == 0 {
			t.Errorf("with %s it costs %v, and alone %v", name, with.DollarsAMonth, alone.DollarsAMonth)
		}
	}
}

// The schedule reads all events twice a week, as worker and its template have it.
func TestStackOfTheSchedule(t *testing.T) {
	text := must.Read(t, filepath.Join(root, "cmd/worker/template.yaml"))
	stack, err := rules.BilledOf(textfile.File{Name: "template.yaml", Text: text}, nil, "")
	must.Succeed(t, err)
	must.Equal(t, stack.Alarms, largeAlarms)
	must.Say(t, string(text), "Schedule: {Type: String, Default: rate(7 days),")
	must.Say(t, string(must.Read(t, filepath.Join(root, "worker/watch.go"))), "watchParts  = 64\n")
	in := shopAt(t, 100)
	in.Beside = []string{Large}
	r := computed(t, in, placed(500))
	month := func(name, counted string) float64 { return of(r, name, counted) * r.Messages / 1e6 }
	stored := month("storage", "GB-months of backup") * gigabyte
	if got, want := month("large stack", "read units"), stored/4096*2*730/168; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%v read units a month, want %v", got, want)
	}
	if got := month("large stack", "state transitions"); got < 6000 || got > 7000 {
		t.Errorf("%v state transitions a month", got)
	}
}
