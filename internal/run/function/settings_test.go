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
		"queue's name": {map[string]string{"INGOT_TABLE": "events", "INGOT_QUARANTINE_URL": "quarantine"}, tableVariable,
			[]string{`INGOT_QUARANTINE_URL is "quarantine"`}},
		"queue's ARN": {map[string]string{"INGOT_TABLE": "events",
			"INGOT_QUARANTINE_URL": "arn:aws:sqs:eu-central-1:123456789012:quarantine"}, tableVariable, []string{"not its name or ARN"}},
		"URL of no queue": {map[string]string{"INGOT_TABLE": "events",
			"INGOT_QUARANTINE_URL": "https://sqs.eu-central-1.amazonaws.com/"}, tableVariable, []string{"INGOT_QUARANTINE_URL"}},
		"not a URL": {map[string]string{"INGOT_TABLE": "events", "INGOT_QUARANTINE_URL": "https://%zz/queue"}, tableVariable,
			[]string{"INGOT_QUARANTINE_URL"}},
		"FIFO quarantine": {map[string]string{"INGOT_TABLE": "events", "INGOT_QUARANTINE_URL": queueURL + ".fifo"}, tableVariable,
			[]string{"standard queue"}},
		"endpoint's host": {map[string]string{"INGOT_TABLE": "events", "INGOT_ENDPOINT_URL": "localhost:4566"}, tableVariable,
			[]string{`INGOT_ENDPOINT_URL is "localhost:4566": set it to the URL`}},
		"bucket's ARN": {map[string]string{"INGOT_TABLE": "events", "INGOT_ARCHIVE_BUCKET": "arn:aws:s3:::archive"}, tableVariable,
			[]string{"INGOT_ARCHIVE_BUCKET"}},
		"bucket's URL": {map[string]string{"INGOT_TABLE": "events", "INGOT_ARCHIVE_BUCKET": "s3://archive"}, tableVariable,
			[]string{"without s3://"}},
		"payloads by ARN": {map[string]string{"INGOT_TABLE": "events", "INGOT_PAYLOAD_BUCKET": "arn:aws:s3:::payloads"}, tableVariable,
			[]string{"INGOT_PAYLOAD_BUCKET is"}},
		"pointers with ARNs": {map[string]string{"INGOT_TABLE": "events", "INGOT_POINTER_BUCKETS": "arn:aws:s3:::large"}, tableVariable,
			[]string{"INGOT_POINTER_BUCKETS"}},
		"pointers with blank": {map[string]string{"INGOT_TABLE": "events", "INGOT_POINTER_BUCKETS": "large-a, large-b"}, tableVariable,
			[]string{"separated by commas without spaces"}},
		"pointers to nothing": {map[string]string{"INGOT_TABLE": "events", "INGOT_POINTER_BUCKETS": "large-a,"}, tableVariable,
			[]string{`INGOT_POINTER_BUCKETS is "large-a,"`}},
		"counting": {map[string]string{"INGOT_TABLE": "events", "INGOT_COUNTING": "mark"}, tableVariable,
			[]string{`INGOT_COUNTING is "mark": set it to marks (the default) or receipts`}},
		"unresolved secret": {map[string]string{"INGOT_TABLE": "events", "INGOT_PII_KEY": "{{resolve:secretsmanager:arn}}"}, tableVariable,
			[]string{"INGOT_PII_KEY is a reference"}},
		"all at once": {map[string]string{"INGOT_COUNTING": "x", "INGOT_ARCHIVE_BUCKET": "a/b", "INGOT_QUARANTINE_URL": "q",
			"INGOT_AGGREGATES_TABLE": "t/t"}, tableVariable,
			[]string{"INGOT_TABLE", "INGOT_AGGREGATES_TABLE", "INGOT_QUARANTINE_URL", "INGOT_ARCHIVE_BUCKET", "INGOT_COUNTING"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSettings(environment(tt.env), tt.needs)
			var mistakes Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) != len(tt.says) {
				t.Fatalf("%d mistakes wanted, got: %v", len(tt.says), err)
			}
			for i, says := range tt.says {
				if !strings.Contains(mistakes[i], says) || !strings.Contains(err.Error(), mistakes[i]) {
					t.Errorf("%q does not say %q", mistakes[i], says)
				}
			}
		})
	}
}

// No message may carry the secret itself into a log.
func TestSecretIsNotTold(t *testing.T) {
	_, err := readSettings(environment(map[string]string{"INGOT_PII_KEY": "{{resolve:secretsmanager:hunter2"}), tableVariable)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
}
