package function

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
)

// These environment variables configure the functions. The AWS SDK reads its own variables (Region,
// credentials, endpoint).
const (
	pipelineVariable   = "INGOT_PIPELINE"         // a file in place of the one in the binary
	tableVariable      = "INGOT_TABLE"            // the events table; ingest needs it
	aggregatesVariable = "INGOT_AGGREGATES_TABLE" // streams needs it; ingest, if a key uses hmac or a put moves totals
	quarantineVariable = "INGOT_QUARANTINE_URL"   // URL of a standard queue; empty: no quarantine
	archiveVariable    = "INGOT_ARCHIVE_BUCKET"   // empty: expired items are not archived
	formVariable       = "INGOT_ARCHIVE"          // batches (default) or objects: what the archive bucket gets
	payloadsVariable   = "INGOT_PAYLOAD_BUCKET"   // where large payloads are; both functions need it if the pipeline has offload
	pointersVariable   = "INGOT_POINTER_BUCKETS"  // names of buckets, with commas between, to which messages may point; empty: none
	countingVariable   = "INGOT_COUNTING"         // marks (default) or receipts
	secretVariable     = "INGOT_PII_KEY"          // needed if the pipeline uses hmac
	endpointVariable   = "INGOT_ENDPOINT_URL"     // an emulator in place of every service; empty: the SDK's own, as in AWS_ENDPOINT_URL
	nameVariable       = "AWS_LAMBDA_FUNCTION_NAME"
	levelVariable      = "AWS_LAMBDA_LOG_LEVEL"
	memoryVariable     = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" // MB
)

// settings are the checked values of the environment.
type settings struct {
	pipeline   string
	events     string
	aggregates string
	quarantine string
	archive    string
	objects    bool // the archive gets an object for each item
	payloads   string
	pointers   []string
	counting   aggregate.Counting
	secret     []byte
	endpoint   string
	function   string
	level      string
}

// Mistakes lists all variables that are missing or wrong.
type Mistakes []string

func (m Mistakes) Error() string {
	if len(m) == 1 {
		return "environment: " + m[0]
	}
	return "environment:\n  " + strings.Join(m, "\n  ")
}

// readSettings reads the environment. needs is the variable of the table that the function cannot
// do without. An empty variable counts as not set, because template.yaml cannot leave a variable
// out.
func readSettings(getenv func(string) string, needs ...string) (settings, error) {
	s := settings{pipeline: getenv(pipelineVariable), events: getenv(tableVariable), aggregates: getenv(aggregatesVariable),
		quarantine: getenv(quarantineVariable), archive: getenv(archiveVariable), payloads: getenv(payloadsVariable),
		secret: []byte(getenv(secretVariable)), endpoint: getenv(endpointVariable),
		function: getenv(nameVariable), level: getenv(levelVariable)}
	var m Mistakes
	for _, variable := range needs {
		if getenv(variable) == "" {
			m.add("%s is not set: set it to the name of the %s table", variable, tableRole(variable))
		}
	}
	m.checkTable(tableVariable, s.events)
	m.checkTable(aggregatesVariable, s.aggregates)
	if s.events != "" && s.events == s.aggregates {
		m.add("%s and %s are both %q: use two tables, because changes of totals must not be in the stream of the events table",
			tableVariable, aggregatesVariable, s.events)
	}
	m.checkQueue(s.quarantine)
	m.checkBucket(archiveVariable, s.archive)
	m.checkBucket(payloadsVariable, s.payloads)
	if list := getenv(pointersVariable); list != "" {
		s.pointers = strings.Split(list, ",")
		m.checkPointers(list, s.pointers)
	}
	m.checkEndpoint(s.endpoint)
	m.checkSecret(s.secret)
	counting, err := aggregate.ParseCounting(getenv(countingVariable))
	if err != nil {
		m.add("%s is %q: set it to marks (the default) or receipts", countingVariable, getenv(countingVariable))
	}
	s.counting = counting
	switch form := getenv(formVariable); form {
	case "", "batches":
	case "objects":
		s.objects = true
	default:
		m.add("%s is %q: set it to batches (the default) or objects", formVariable, form)
	}
	if len(m) > 0 {
		return settings{}, m
	}
	return s, nil
}

func tableRole(variable string) string {
	if variable == tableVariable {
		return "events"
	}
	return "aggregates"
}

func (m *Mistakes) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// tableLetters and a length of 3 to 255 are what DynamoDB allows (API reference, CreateTable).
const tableLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

func (m *Mistakes) checkTable(variable, name string) {
	if name != "" && (len(name) < 3 || len(name) > 255 || strings.Trim(name, tableLetters) != "") {
		m.add("%s is %q: set it to the table's name, not its ARN (3 to 255 letters, digits, '_', '-' and '.')", variable, name)
	}
}

func (m *Mistakes) checkQueue(text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		m.add("%s is %q: set it to the queue's URL (https://sqs.REGION.amazonaws.com/ACCOUNT/NAME), not its name or ARN",
			quarantineVariable, text)
	} else if strings.HasSuffix(u.Path, ".fifo") {
		m.add("%s is %q: quarantine needs a standard queue, because its messages have no message group", quarantineVariable, text)
	}
}

func (m *Mistakes) checkEndpoint(text string) {
	if u, err := url.Parse(text); text != "" && (err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "") {
		m.add("%s is %q: set it to the URL of an emulator, such as http://host.docker.internal:4566, or to nothing for AWS itself",
			endpointVariable, text)
	}
}

func (m *Mistakes) checkBucket(variable, name string) {
	if strings.ContainsAny(name, ":/") {
		m.add("%s is %q: set it to the bucket's name, without s3://, and not the ARN", variable, name)
	}
}

// bucketLetters and a length of 3 to 63 are what S3 allows (user guide, "Bucket naming rules").
const bucketLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-"

// checkPointers refuses a list with a name that no bucket has. Such a name would allow nothing, and
// the messages that were meant to be allowed would go to quarantine.
func (m *Mistakes) checkPointers(list string, names []string) {
	for _, name := range names {
		if len(name) < 3 || len(name) > 63 || strings.Trim(name, bucketLetters) != "" {
			m.add("%s is %q: set it to the names of buckets, separated by commas without spaces; write no s3:// and no ARNs",
				pointersVariable, list)
			return
		}
	}
}

// checkSecret refuses an unresolved reference. As a secret it would be worthless, because everybody
// who can read the template knows it.
func (m *Mistakes) checkSecret(secret []byte) {
	if strings.HasPrefix(string(secret), "{{resolve:") {
		m.add("%s is a reference to a secret and not the secret: CloudFormation resolves it while deploying; for local runs set the "+
			"variable itself (sam local invoke --env-vars env.json)", secretVariable)
	}
}
