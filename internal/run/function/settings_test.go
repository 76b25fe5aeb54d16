package function

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func environment(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

const queueURL = "https://sqs.eu-central-1.amazonaws.com/123456789012/quarantine"

func TestReadSettings(t *testing.T) {
	s, err := readSettings(environment(map[string]string{
		"INGOT_PIPELINE": "p.yaml", "INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "totals", "INGOT_QUARANTINE_URL": queueURL,
		"INGOT_ARCHIVE_BUCKET": "archive", "INGOT_PAYLOAD_BUCKET": "payloads", "INGOT_POINTER_BUCKETS": "large-a,large.b",
		"INGOT_COUNTING": "receipts", "INGOT_PII_KEY": "k",
		"AWS_LAMBDA_FUNCTION_NAME": "prod-ingest", "AWS_LAMBDA_LOG_LEVEL": "WARN",
	}), tableVariable)
	must.Succeed(t, err)
	if s.pipeline != "p.yaml" || s.events != "events" || s.aggregates != "totals" || s.quarantine != queueURL || s.archive != "archive" ||
		s.payloads != "payloads" || !slices.Equal(s.pointers, []string{"large-a", "large.b"}) ||
		s.counting != aggregate.Receipts || string(s.secret) != "k" || s.function != "prod-ingest" || s.level != "WARN" {
		t.Errorf("read %+v", s)
	}
}

// A function only requires its own table. Every other variable has a meaning when it is not set.
func TestReadSettingsLeast(t *testing.T) {
	for _, variable := range []string{tableVariable, aggregatesVariable} {
		s, err := readSettings(environment(map[string]string{variable: "table"}), variable)
		if err != nil || s.counting != aggregate.Marks || s.quarantine != "" || s.archive != "" || s.pointers != nil || len(s.secret) != 0 {
			t.Errorf("with %s alone: %+v, %v", variable, s, err)
		}
	}
}

func TestReadSettingsMistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		env   map[string]string
		needs string
		says  []string // one for each mistake, in order
	}{
		"no events table": {nil, tableVariable, []string{"INGOT_TABLE is not set: set it to the name of the events table"}},
		"no aggregates table": {map[string]string{"INGOT_TABLE": "events"}, aggregatesVariable,
			[]string{"INGOT_AGGREGATES_TABLE is not set: set it to the name of the aggregates table"}},
		"empty is not set": {map[string]string{"INGOT_TABLE": ""}, tableVariable, []string{"INGOT_TABLE is not set"}},
		"table's ARN": {map[string]string{"INGOT_TABLE": "arn:aws:dynamodb:eu-central-1:123456789012:table/events"}, tableVariable,
			[]string{"not its ARN"}},
		"table name short": {map[string]string{"INGOT_TABLE": "ev"}, tableVariable, []string{`INGOT_TABLE is "ev"`}},
		"table name long":  {map[string]string{"INGOT_TABLE": strings.Repeat("e", 256)}, tableVariable, []string{"3 to 255"}},
		"one table for both": {map[string]string{"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "events"}, tableVariable,
			[]string{"use two tables"}},
		"all at once": {map[string]string{"INGOT_COUNTING": "x", "INGOT_ARCHIVE_BUCKET": "a/b", "INGOT_QUARANTINE_URL": "q",
			"INGOT_AGGREGATES_TABLE": "t/t"}, tableVariable,
			[]string{"INGOT_TABLE", "INGOT_AGGREGATES_TABLE", "INGOT_QUARANTINE_URL", "INGOT_ARCHIVE_BUCKET", "INGOT_COUNTING"}},
	} {
		t.Run(name, func(t *testing.T) { mistaken(t, tt.env, tt.needs, tt.says...) })
	}
	for name, tt := range map[string]struct{ variable, value, says string }{
		"queue's name":        {"INGOT_QUARANTINE_URL", "quarantine", `INGOT_QUARANTINE_URL is "quarantine"`},
		"queue's ARN":         {"INGOT_QUARANTINE_URL", "arn:aws:sqs:eu-central-1:123456789012:quarantine", "not its name or ARN"},
		"URL of no queue":     {"INGOT_QUARANTINE_URL", "https://sqs.eu-central-1.amazonaws.com/", "INGOT_QUARANTINE_URL"},
		"not a URL":           {"INGOT_QUARANTINE_URL", "https://%zz/queue", "INGOT_QUARANTINE_URL"},
		"FIFO quarantine":     {"INGOT_QUARANTINE_URL", queueURL + ".fifo", "standard queue"},
		"endpoint's host":     {"INGOT_ENDPOINT_URL", "localhost:4566", `INGOT_ENDPOINT_URL is "localhost:4566": set it to the URL`},
		"bucket's ARN":        {"INGOT_ARCHIVE_BUCKET", "arn:aws:s3:::archive", "INGOT_ARCHIVE_BUCKET"},
		"bucket's URL":        {"INGOT_ARCHIVE_BUCKET", "s3://archive", "without s3://"},
		"payloads by ARN":     {"INGOT_PAYLOAD_BUCKET", "arn:aws:s3:::payloads", "INGOT_PAYLOAD_BUCKET is"},
		"pointers with ARNs":  {"INGOT_POINTER_BUCKETS", "arn:aws:s3:::large", "INGOT_POINTER_BUCKETS"},
		"pointers with blank": {"INGOT_POINTER_BUCKETS", "large-a, large-b", "separated by commas without spaces"},
		"pointers to nothing": {"INGOT_POINTER_BUCKETS", "large-a,", `INGOT_POINTER_BUCKETS is "large-a,"`},
		"counting":            {"INGOT_COUNTING", "mark", `INGOT_COUNTING is "mark": set it to marks (the default) or receipts`},
		"unresolved secret":   {"INGOT_PII_KEY", "{{resolve:secretsmanager:arn}}", "INGOT_PII_KEY is a reference"},
	} {
		t.Run(name, func(t *testing.T) {
			mistaken(t, map[string]string{"INGOT_TABLE": "events", tt.variable: tt.value}, tableVariable, tt.says)
		})
	}
}

// mistaken checks that settings have so many mistakes, and what is said of each.
func mistaken(t *testing.T, env map[string]string, needs string, says ...string) {
	t.Helper()
	_, err := readSettings(environment(env), needs)
	var mistakes Mistakes
	if !errors.As(err, &mistakes) || len(mistakes) != len(says) {
		t.Fatalf("%d mistakes wanted, got: %v", len(says), err)
	}
	for i, text := range says {
		must.Say(t, mistakes[i], text)
		must.Fail(t, err, mistakes[i])
	}
}

// No message may carry the secret itself into a log.
func TestSecretIsNotTold(t *testing.T) {
	_, err := readSettings(environment(map[string]string{"INGOT_PII_KEY": "{{resolve:secretsmanager:hunter2"}), tableVariable)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
}
