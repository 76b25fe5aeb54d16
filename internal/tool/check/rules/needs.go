package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

const (
	receiving = "sqs:receivemessage sqs:deletemessage sqs:getqueueattributes"
	reading   = "dynamodb:describestream dynamodb:getrecords dynamodb:getsharditerator dynamodb:liststreams"
)

// need says what a function must be allowed to do with one thing.
type need struct {
	role    string              // of the function
	on      string              // the variable that names the thing; or Queue or Stream, what is mapped to the function; or Streams
	when    func(*Checker) bool // nil: always
	actions string
	key     string // what it must be allowed to do with the key that encrypts the thing
	without string // what happens without these rights
	// items returns the partition keys of what it needs of a table; an empty one stands for all
	// items. nil: a statement for some items counts for all.
	items func(*Checker) []string
}

// needs lists what the functions need. A test compares it with template.yaml.
var needs = []need{
	{"ingest", "INGOT_TABLE", notAtomic, storing, "kms:Decrypt", "events could not be stored", nil},
	{"ingest", "INGOT_TABLE", (*Checker).usesAtomic, storing + " dynamodb:ConditionCheckItem", "kms:Decrypt",
		"events could not be stored", nil},
	// This is for the item that names the home Region. Other needs have its key.
	{"ingest", "INGOT_TABLE", nil, "dynamodb:GetItem", "",
		"the function could not tell whether it runs in the home Region of the table, and would not start", homeItem},
	{"streams", "INGOT_TABLE", nil, "dynamodb:GetItem dynamodb:PutItem", "",
		"the function could not tell whether it runs in the home Region of the table, and would not start", homeItem},
	// These are for the check value of the secret.
	{"ingest", totalsTable, (*Checker).onlyHashes, "dynamodb:GetItem dynamodb:PutItem", "kms:Decrypt",
		"the function could not tell whether INGOT_PII_KEY is the right one, and would not start", secretItem},
	// It updates totals, reads them after a refusal, and creates the heads if it is the first to
	// start.
	{"ingest", totalsTable, (*Checker).movesByPut, "dynamodb:UpdateItem dynamodb:PutItem dynamodb:GetItem dynamodb:BatchGetItem",
		"kms:Decrypt",
		"events could not be stored together with what they add to totals", allItems},
	// It looks which types a migration has turned.
	{"ingest", totalsTable, (*Checker).onlyMigrates, "dynamodb:GetItem", "kms:Decrypt",
		"the function could not tell which side is the source of a type that is migrated, and would store no event of it",
		(*Checker).controlItems},
	{"ingest", "INGOT_QUARANTINE_URL", nil, "sqs:SendMessage", "kms:GenerateDataKey kms:Decrypt",
		"messages that can never succeed could not be quarantined, and would be tried until they reach the dead-letter queue", nil},
	// Without s3:ListBucket, S3 says that a missing object is forbidden.
	{"ingest", "INGOT_PAYLOAD_BUCKET", (*Checker).usesOffload, "s3:PutObject s3:GetObject s3:DeleteObject s3:ListBucket",
		"kms:GenerateDataKey kms:Decrypt",
		"events with large payloads could not be stored, and would end in the dead-letter queue", nil},
	{"ingest", "INGOT_POINTER_BUCKETS", nil, "s3:GetObject", "kms:Decrypt",
		"payloads in S3 could not be read, and their messages would end in the dead-letter queue", nil},
	{"ingest", "Queue", nil, "sqs:ReceiveMessage sqs:DeleteMessage sqs:GetQueueAttributes", "kms:Decrypt",
		"Lambda could not read the queue", nil},
	{"streams", totalsTable, nil,
		"dynamodb:UpdateItem dynamodb:PutItem dynamodb:GetItem dynamodb:BatchGetItem dynamodb:PartiQLInsert dynamodb:PartiQLUpdate",
		"kms:Decrypt", "events could not be counted", nil},
	{"streams", "INGOT_QUARANTINE_URL", nil, "sqs:SendMessage", "kms:GenerateDataKey kms:Decrypt",
		"a change that can never be counted could not be quarantined, and would block its shard", nil},
	{"streams", "INGOT_ARCHIVE_BUCKET", nil, "s3:PutObject", "kms:GenerateDataKey",
		"expired events could not be archived, and their shard would wait", nil},
	{"streams", "INGOT_PAYLOAD_BUCKET", (*Checker).usesOffload, "s3:GetObject s3:ListBucket", "kms:Decrypt",
		"expired events could not be archived with their payloads, and their shard would wait", nil},
	{"streams", "Stream", nil, "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator", "kms:Decrypt",
		"Lambda could not read the stream", nil},
	{"streams", "Streams", nil, "dynamodb:ListStreams", "", "Lambda could not read the stream", nil},
}

const (
	storing     = "dynamodb:PutItem dynamodb:PartiQLInsert dynamodb:BatchGetItem"
	totalsTable = "INGOT_AGGREGATES_TABLE"
)

// needsOf returns what a function needs under this pipeline.
func (c *Checker) needsOf(f *function) (list []need) {
	for _, n := range needs {
		if n.role == f.role && (n.when == nil || n.when(c)) {
			list = append(list, n)
		}
	}
	return list
}

// rights compares the functions' roles with what the functions do.
func (c *Checker) rights() {
	for _, f := range c.both() {
		all := c.rightsOf(f)
		if all == nil {
			continue
		}
		c.wide(all)
		for _, n := range c.needsOf(f) {
			if n.items == nil {
				c.needed(f, n, all, "")
				continue
			}
			for _, key := range n.items(c) {
				c.needed(f, n, all.onKey(key), key)
			}
		}
		if all.doubt != nil && c.unsure[f.role] {
			c.cannotTell("rights", all.doubt, all.of+" allows "+f.Name+" what it does")
		}
	}
}

// needed compares rights with one need. It is for the items with a partition key, or, if that is
// empty, for all items.
func (c *Checker) needed(f *function, n need, r *rights, pk string) {
	onKey := strings.Fields(n.key)
	for _, on := range c.things(f, n.on) {
		c.allowed(f, r, on, strings.Fields(n.actions), n.without, pk)
		key := c.keyOf(on)
		switch {
		case key == nil:
		case key.Kind == template.Scalar && !strings.HasPrefix(key.Text, "arn:"):
			c.unnamedKey(r, key, onKey)
		default:
			c.allowed(f, r, key, onKey, n.without+", since "+on.Name+" is encrypted with a key of its own", "")
		}
	}
}

// unnamedKey warns that a role may lack actions on a key that has only an alias or an id here. A
// statement names a key by its ARN.
func (c *Checker) unnamedKey(r *rights, key *template.Node, actions []string) {
	for _, action := range actions {
		if !r.allows(action, key) {
			c.Warn("rights", key.Position,
				fmt.Sprintf(
					"cannot tell whether %s allows %s on the key %s: a statement names a key by its ARN, which only a deployment knows",
					r.of, strings.Join(actions, ", "), key.Text), "")
			return
		}
	}
}

// movesByPut reports whether the ingest function updates totals.
func (c *Checker) movesByPut() bool { return c.p != nil && c.p.MovesByPut() }

// usesAtomic reports whether an event type is atomic.
func (c *Checker) usesAtomic() bool { return c.p != nil && c.p.UsesAtomic() }

func notAtomic(c *Checker) bool { return !c.usesAtomic() }

// onlyHashes reports whether the ingest function needs the aggregates table for the secret alone.
func (c *Checker) onlyHashes() bool { return c.hashesKeys() && !c.movesByPut() }

// onlyMigrates reports whether the ingest function needs control items, and not the totals.
func (c *Checker) onlyMigrates() bool {
	return c.p != nil && len(c.p.Migrations()) > 0 && !c.movesByPut()
}

// secretItem, controlItems and allItems say which items of the aggregates table a function needs.
func homeItem(*Checker) []string { return []string{lanes.HomeKey.PK} }

func secretItem(*Checker) []string { return []string{"K#"} }

func (c *Checker) controlItems() (keys []string) {
	for _, name := range c.p.Migrations() {
		keys = append(keys, rows.ControlKey(name).PK)
	}
	return keys
}

func allItems(*Checker) []string { return []string{""} }

// hashesKeys reports whether the ingest function makes keys with the secret.
func (c *Checker) hashesKeys() bool {
	if c.p == nil {
		return false
	}
	for _, parts := range c.p.Describe().Hashed {
		if slices.ContainsFunc(parts, func(part string) bool { return part == "key" || slices.Contains(c.p.Indexes(), part) }) {
			return true
		}
	}
	return false
}

// allStreams is the resource of dynamodb:ListStreams, which knows no others (Service Authorization
// Reference, DynamoDB). A statement that names a stream passes too: SAM's DynamoDBStreamReadPolicy
// is one, and Lambda reads with it.
const allStreams = `"*"`

// things returns what a variable of a function, or what its mappings, refer to in this template.
func (c *Checker) things(f *function, name string) []*template.Node {
	var list []*template.Node
	switch name {
	case "Queue", "Stream":
		for _, m := range c.mappingsOf(f.Name, name == "Stream") {
			list = append(list, m.source)
		}
	case "Streams":
		if len(c.things(f, "Stream")) > 0 {
			return []*template.Node{{Kind: template.Scalar, Text: allStreams}}
		}
	default:
		list = append(list, c.variable(f, name))
	}
	var known []*template.Node
	for _, n := range list {
		if c.referred(n) != nil && !c.faulted(n.Position) {
			known = append(known, n)
		}
	}
	return known
}

// faulted reports whether there is a mistake at this position. If so, the value there may refer to
// the wrong resource.
func (c *Checker) faulted(at template.Position) bool {
	return slices.ContainsFunc(c.Findings, func(f Finding) bool {
		return f.Severity == Mistake && f.Line == at.Line && f.Column == at.Column
	})
}

// allowed reports the actions on one thing that a function's role does not allow.
func (c *Checker) allowed(f *function, r *rights, on *template.Node, actions []string, without, pk string) {
	var missing []string
	for _, action := range actions {
		if !r.allows(action, on) {
			missing = append(missing, action)
		}
	}
	switch {
	case len(missing) == 0:
		return
	case r.doubt != nil:
		c.unsure[f.role] = true // reported once, when everything is known
		return
	}
	c.Mistake("rights", r.at, fmt.Sprintf("%s does not allow %s on %s: %s", r.of, strings.Join(missing, ", "), nameOf(on), without),
		c.grant(f, r, on, missing, pk))
}

// grant returns the statement that a role lacks, and where it goes. It allows no more than needed.
func (c *Checker) grant(f *function, r *rights, on *template.Node, actions []string, pk string) string {
	resource := c.arn(on)
	if slices.Contains(actions, "s3:ListBucket") { // this action is about the bucket, the others about its objects
		resource = "[" + strings.TrimSuffix(resource, "/*") + ", " + resource + "]"
		if bucket := c.referred(on); bucket != nil {
			resource = "[!GetAtt " + bucket.Name + ".Arn, " + c.arn(on) + "]"
		}
	}
	condition := ""
	if pk != "" {
		condition = fmt.Sprintf(`, Condition: {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["%s"]}}`, pk)
	}
	statement := fmt.Sprintf(`{Effect: Allow, Action: ["%s"], Resource: %s%s}`, strings.Join(actions, `", "`), resource, condition)
	if r.of == f.Name {
		return "{Version: \"2012-10-17\", Statement: [" + statement + "]} into Policies of " + f.Name
	}
	return statement + " among the statements of " + r.of
}

func nameOf(n *template.Node) string {
	if n.Kind == template.Reference {
		return n.Name
	}
	return n.Text
}

// arn returns how a statement names what n refers to.
func (c *Checker) arn(n *template.Node) string {
	r := c.referred(n)
	switch {
	case r == nil:
		return n.Text
	case r.Type == "AWS::S3::Bucket":
		return `!Sub "${` + r.Name + `.Arn}/*"`
	case n.Attribute == "StreamArn":
		return "!GetAtt " + r.Name + ".StreamArn"
	}
	return "!GetAtt " + r.Name + ".Arn"
}

// keyOf returns the customer's key that encrypts a thing, or nil if AWS holds the key.
func (c *Checker) keyOf(on *template.Node) *template.Node {
	if r := c.referred(on); r != nil {
		return c.ownKey(r)
	}
	return nil
}

// ownKey does what keyOf does for a resource.
func (c *Checker) ownKey(r *template.Resource) *template.Node {
	var key *template.Node
	switch r.Type {
	case "AWS::SQS::Queue":
		key = c.t.Property(r, "KmsMasterKeyId")
	case "AWS::DynamoDB::Table":
		key = c.t.Property(r, "SSESpecification", "KMSMasterKeyId")
	case "AWS::S3::Bucket":
		for _, rule := range c.t.Items(c.t.Property(r, "BucketEncryption", "ServerSideEncryptionConfiguration")) {
			key = c.t.Get(rule, "ServerSideEncryptionByDefault", "KMSMasterKeyID")
		}
	}
	switch {
	case key == nil || key.Kind == template.Scalar && (key.Text == "" || strings.HasPrefix(key.Text, "alias/aws/")):
		return nil
	case key.Kind != template.Scalar && key.Kind != template.Reference:
		return nil // only a deployment knows which key this is
	}
	return c.behindAlias(key)
}

// behindAlias returns the key that an alias of this template stands for.
func (c *Checker) behindAlias(key *template.Node) *template.Node {
	if r := c.referred(key); r != nil && r.Type == "AWS::KMS::Alias" {
		if target := c.t.Property(r, "TargetKeyId"); target != nil {
			return target
		}
	}
	return key
}
