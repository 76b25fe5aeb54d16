package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

var (
	receiving = []string{"sqs:receivemessage", "sqs:deletemessage", "sqs:getqueueattributes"}
	reading   = []string{"dynamodb:describestream", "dynamodb:getrecords", "dynamodb:getsharditerator", "dynamodb:liststreams"}
)

// need says what a function must be allowed to do with one thing.
type need struct {
	actions []string
	key     []string // what it must be allowed to do with the key that encrypts the thing
	without string   // what happens without these rights
}

// needs lists what each role needs, by the variable that names the thing. "Queue" and "Stream" are
// the sources that are mapped to the function. A test compares them with template.yaml.
var needs = map[string]map[string]need{
	"ingest": {
		"INGOT_TABLE": {[]string{"dynamodb:PutItem", "dynamodb:PartiQLInsert", "dynamodb:BatchGetItem"}, []string{"kms:Decrypt"}, "events could not be stored"},
		// These are for the check value of the secret, if a key is hashed with the secret.
		"INGOT_AGGREGATES_TABLE": {[]string{"dynamodb:GetItem", "dynamodb:PutItem"}, []string{"kms:Decrypt"}, "the function could not tell whether INGOT_PII_KEY is the right one, and would not start"},
		"INGOT_QUARANTINE_URL":   {[]string{"sqs:SendMessage"}, []string{"kms:GenerateDataKey", "kms:Decrypt"}, "messages that can never succeed could not be quarantined, and would be tried until they reach the dead-letter queue"},
		"INGOT_POINTER_BUCKETS":  {[]string{"s3:GetObject"}, []string{"kms:Decrypt"}, "payloads in S3 could not be read, and their messages would end in the dead-letter queue"},
		"Queue":                  {[]string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}, []string{"kms:Decrypt"}, "Lambda could not read the queue"},
	},
	"streams": {
		"INGOT_AGGREGATES_TABLE": {[]string{"dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"}, []string{"kms:Decrypt"}, "events could not be counted"},
		"INGOT_QUARANTINE_URL":   {[]string{"sqs:SendMessage"}, []string{"kms:GenerateDataKey", "kms:Decrypt"}, "a change that can never be counted could not be quarantined, and would block its shard"},
		"INGOT_ARCHIVE_BUCKET":   {[]string{"s3:PutObject"}, []string{"kms:GenerateDataKey"}, "expired events could not be archived, and their shard would wait"},
		"Stream":                 {[]string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}, []string{"kms:Decrypt"}, "Lambda could not read the stream"},
	},
}

// checkItem is one more action that the ingest function needs on the events table if an event type
// is atomic.
const checkItem = "dynamodb:ConditionCheckItem"

// moving is what the ingest function must be allowed to do with the aggregates table if the puts of
// events move totals: it updates totals, reads them after a refusal, and creates the heads if it is
// the first function to start.
var moving = need{[]string{"dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem"}, []string{"kms:Decrypt"},
	"events could not be stored together with what they add to totals"}

// rights compares the functions' roles with what the functions do.
func (c *checker) rights() {
	for _, f := range c.both() {
		r := c.rightsOf(f)
		if r == nil {
			continue
		}
		for _, name := range []string{"INGOT_TABLE", "INGOT_AGGREGATES_TABLE", "INGOT_QUARANTINE_URL", "INGOT_ARCHIVE_BUCKET", "INGOT_PAYLOAD_BUCKET", "INGOT_POINTER_BUCKETS", "Queue", "Stream"} {
			n, asked := needs[f.role][name]
			r := r
			if f.role == "ingest" && name == "INGOT_AGGREGATES_TABLE" {
				if asked = c.hashesKeys(); c.movesByPut() {
					n, asked, r = moving, true, r.ofWholeTables()
				}
			}
			if name == "INGOT_PAYLOAD_BUCKET" {
				n, asked = payloadNeeds[f.role], c.usesOffload()
			}
			if !asked {
				continue
			}
			actions := n.actions
			if name == "INGOT_TABLE" && c.p != nil && c.p.UsesAtomic() {
				actions = append(slices.Clone(actions), checkItem)
			}
			for _, on := range c.things(f, name) {
				c.allowed(f, r, on, actions, n.without)
				key := c.keyOf(on)
				switch {
				case key == nil:
				case key.Kind == template.Scalar && !strings.HasPrefix(key.Text, "arn:"):
					c.unnamedKey(r, key, n.key)
				default:
					c.allowed(f, r, key, n.key, n.without+", since "+on.Name+" is encrypted with a key of its own")
				}
			}
		}
		if r.doubt != nil && c.unsure[f.role] {
			c.cannotTell("rights", r.doubt, r.of+" allows "+f.Name+" what it does")
		}
	}
}

// unnamedKey warns that a role may lack actions on a key that has only an alias or an id here. A
// statement names a key by its ARN.
func (c *checker) unnamedKey(r *rights, key *template.Node, actions []string) {
	for _, action := range actions {
		if !r.allows(action, key) {
			c.warn("rights", key.Position, fmt.Sprintf("cannot tell whether %s allows %s on the key %s: a statement names a key by its ARN, which only a deployment knows", r.of, strings.Join(actions, ", "), key.Text), "")
			return
		}
	}
}

// movesByPut reports whether the ingest function updates totals.
func (c *checker) movesByPut() bool { return c.p != nil && c.p.MovesByPut() }

// hashesKeys reports whether the ingest function makes keys with the secret.
func (c *checker) hashesKeys() bool {
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

// things returns what a variable of a function, or what its mappings, refer to in this template.
func (c *checker) things(f *function, name string) []*template.Node {
	var list []*template.Node
	switch name {
	case "Queue", "Stream":
		for _, m := range c.mappingsOf(f.Name, name == "Stream") {
			list = append(list, m.source)
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
func (c *checker) faulted(at template.Position) bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool {
		return f.Severity == Mistake && f.Line == at.Line && f.Column == at.Column
	})
}

// allowed reports the actions on one thing that a function's role does not allow.
func (c *checker) allowed(f *function, r *rights, on *template.Node, actions []string, without string) {
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
	c.mistake("rights", r.at, fmt.Sprintf("%s does not allow %s on %s: %s", r.of, strings.Join(missing, ", "), nameOf(on), without), c.grant(f, r, on, missing))
}

// grant returns the statement that a role lacks.
func (c *checker) grant(f *function, r *rights, on *template.Node, actions []string) string {
	resource := c.arn(on)
	if slices.Contains(actions, "s3:ListBucket") { // this action is about the bucket, the others about its objects
		resource = "[" + strings.TrimSuffix(resource, "/*") + ", " + resource + "]"
		if bucket := c.referred(on); bucket != nil {
			resource = "[!GetAtt " + bucket.Name + ".Arn, " + c.arn(on) + "]"
		}
	}
	statement := fmt.Sprintf(`{Effect: Allow, Action: ["%s"], Resource: %s}`, strings.Join(actions, `", "`), resource)
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
func (c *checker) arn(n *template.Node) string {
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
func (c *checker) keyOf(on *template.Node) *template.Node {
	r := c.referred(on)
	if r == nil {
		return nil
	}
	var key *template.Node
	switch r.Type {
	case "AWS::SQS::Queue":
		key = c.t.Property(r, "KmsMasterKeyId")
	case "AWS::DynamoDB::Table":
		key = c.t.Property(r, "SSESpecification", "KMSMasterKeyId")
	case "AWS::S3::Bucket":
		for _, rule := range items(c.t.Property(r, "BucketEncryption", "ServerSideEncryptionConfiguration")) {
			key = c.t.Get(c.t.Resolve(rule), "ServerSideEncryptionByDefault", "KMSMasterKeyID")
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
func (c *checker) behindAlias(key *template.Node) *template.Node {
	if r := c.referred(key); r != nil && r.Type == "AWS::KMS::Alias" {
		if target := c.t.Property(r, "TargetKeyId"); target != nil {
			return target
		}
	}
	return key
}
