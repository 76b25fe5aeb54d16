package cost

import "regexp"

// These are the names of prices.
const (
	SQSRequests    = "sqs-requests"
	LambdaRequests = "lambda-requests"
	LambdaArm      = "lambda-gb-seconds-arm64"
	LambdaX86      = "lambda-gb-seconds-x86_64"
	LambdaPollers  = "lambda-event-poller-hours"
	WriteUnits     = "dynamodb-write-units"
	ReadUnits      = "dynamodb-read-units"
	WriteCapacity  = "dynamodb-write-capacity-hours"
	ReadCapacity   = "dynamodb-read-capacity-hours"
	Storage        = "dynamodb-storage"
	Backup         = "dynamodb-backup"
	Restored       = "dynamodb-restore"
	S3Puts         = "s3-put-requests"
	S3Gets         = "s3-get-requests"
	S3Storage      = "s3-storage"
	Metrics        = "cloudwatch-metrics"
	Alarms         = "cloudwatch-alarms"
	Logs           = "cloudwatch-logs"
	Traces         = "xray-traces"
	Dashboards     = "cloudwatch-dashboards"
	Secrets        = "secretsmanager-secrets"
	Keys           = "kms-keys"
	KeyRequests    = "kms-requests"
	Transitions    = "states-transitions"
)

// Names lists the names of all prices, in the order of a file.
func Names() []string {
	return []string{SQSRequests, LambdaRequests, LambdaArm, LambdaX86, LambdaPollers, WriteUnits, ReadUnits, WriteCapacity,
		ReadCapacity, Storage, Backup, Restored, S3Puts, S3Gets, S3Storage, Metrics, Alarms, Logs, Traces, Dashboards, Secrets, Keys,
		KeyRequests, Transitions}
}

// Prices is a file of prices.
type Prices struct {
	file string
	said spec
	each map[string]float64 // dollars for one unit of what is billed, as far as they are known
}

// About says where prices come from.
type About struct {
	File   string `json:"file"`
	Region string `json:"region"`
	// Read is the day on which the oldest of them was read, if the file says so.
	Read string `json:"read,omitempty"`
}

// ReadUnit returns the price of one read unit of DynamoDB in dollars. It is 0 if the file does not
// have it.
func (p *Prices) ReadUnit() float64 {
	return p.each[ReadUnits]
}

// Dollars returns the cost of n units of what is billed under a name. It returns false if the price
// is not known.
func (p *Prices) Dollars(name string, n float64) (float64, bool) {
	one, known := p.each[name]
	return one * n, known
}

// Region returns the Region that the prices are for.
func (p *Prices) Region() string { return p.said.Region }

// dayRead finds the day on which a price was read.
var dayRead = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

func (p *Prices) about() About {
	a := About{File: p.file, Region: p.said.Region}
	for _, one := range p.said.Prices {
		if read := dayRead.FindString(one.Read); read != "" && (a.Read == "" || read < a.Read) {
			a.Read = read
		}
	}
	return a
}

// Units returns the dollars for read units and write units, or nil if a price is not known.
func (p *Prices) Units(reads, writes float64) *float64 {
	r, known := p.Dollars(ReadUnits, reads)
	w, also := p.Dollars(WriteUnits, writes)
	if !known || !also {
		return nil
	}
	sum := r + w
	return &sum
}
