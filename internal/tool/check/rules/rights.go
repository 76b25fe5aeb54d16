package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// rights says what a function may do, as far as the template shows.
type rights struct {
	of         string            // what the policies belong to: "IngestRole"
	at         template.Position // position of the policies
	statements []statement
	// doubt is a part that only a deployment knows, and that may allow anything. It is nil if there
	// is not such a part.
	doubt *template.Node
}

// statement is one Allow.
type statement struct {
	actions  []string         // patterns in lower case
	on       []*template.Node // resources; nil: anything
	keyOf    string           // for a key's own policy: the key, whatever Resource says
	anything bool             // NotAction, or a value that cannot be determined
	keys     []string         // patterns of partition keys, if it is for certain ones only
}

// managed lists AWS's managed policies whose grants are known here. Any other policy may grant
// anything.
var managed = map[string]string{
	"AdministratorAccess": "*", "AmazonDynamoDBFullAccess": "dynamodb:*", "AmazonSQSFullAccess": "sqs:*", "AmazonS3FullAccess": "s3:*",
	"AWSLambdaSQSQueueExecutionRole": receiving, "AWSLambdaDynamoDBExecutionRole": reading,
	"AWSLambdaBasicExecutionRole": "", "AWSLambdaVPCAccessExecutionRole": "", "AWSXRayDaemonWriteAccess": "", "AWSXrayWriteOnlyAccess": "",
	"CloudWatchLambdaInsightsExecutionRolePolicy": "",
}

// samPolicies are SAM's policy templates, each with the parameter that names its resource. None of
// those for DynamoDB allows PartiQL.
var samPolicies = map[string]struct {
	parameter, actions string
}{
	"DynamoDBCrudPolicy": {"TableName",
		"dynamodb:getitem dynamodb:deleteitem dynamodb:putitem dynamodb:scan dynamodb:query dynamodb:updateitem " +
			"dynamodb:batchwriteitem dynamodb:batchgetitem dynamodb:describetable dynamodb:conditioncheckitem"},
	"DynamoDBReadPolicy":       {"TableName", "dynamodb:getitem dynamodb:scan dynamodb:query dynamodb:batchgetitem dynamodb:describetable"},
	"DynamoDBWritePolicy":      {"TableName", "dynamodb:putitem dynamodb:updateitem dynamodb:batchwriteitem"},
	"DynamoDBStreamReadPolicy": {"TableName", reading},
	"SQSPollerPolicy":          {"QueueName", receiving},
	"SQSSendMessagePolicy":     {"QueueName", "sqs:sendmessage*"},
	"S3WritePolicy":            {"BucketName", "s3:putobject s3:putobjectacl s3:putlifecycleconfiguration"},
	"S3CrudPolicy": {"BucketName", "s3:getobject s3:listbucket s3:getbucketlocation s3:getobjectversion s3:putobject s3:putobjectacl " +
		"s3:getlifecycleconfiguration s3:putlifecycleconfiguration s3:deleteobject"},
	"KMSDecryptPolicy":   {"KeyId", "kms:decrypt"},
	"KMSEncryptPolicyV2": {"KeyId", "kms:encrypt kms:generatedatakey*"},
}

// rightsOf reads a function's role, or the policies from which SAM makes a role. It returns nil if
// there is neither. Then this has been reported.
func (c *Checker) rightsOf(f *function) *rights {
	role := c.t.Property(f.Resource, "Role")
	switch {
	case role == nil && f.Type == "AWS::Lambda::Function":
		c.Mistake("rights", f.Position, f.Name+" has no Role: CloudFormation refuses the function",
			"Role: !GetAtt ROLE.Arn, of a role like the one in Ingot's template.yaml, into its Properties")
		return nil
	case role == nil:
		r := &rights{of: f.Name, at: f.Position}
		// SAM adds these to the role that it makes for a function with such events.
		r.statements = append(r.statements, statement{actions: strings.Fields(receiving)}, statement{actions: strings.Fields(reading)})
		if policies := c.t.Property(f.Resource, "Policies"); policies != nil {
			r.at = policies.Position
			c.samPolicies(r, policies)
		}
		return r
	}
	resource := c.referred(role)
	if resource == nil || resource.Type != "AWS::IAM::Role" {
		return &rights{of: f.Name, at: role.Position, doubt: role}
	}
	r := &rights{of: resource.Name, at: resource.Position}
	c.inline(r, c.t.Property(resource, "Policies"))
	for _, arn := range c.list(r, c.t.Property(resource, "ManagedPolicyArns")) {
		c.managed(r, arn)
	}
	for _, other := range c.t.Resources() {
		switch other.Type {
		case "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy":
			for _, of := range c.list(r, c.t.Property(other, "Roles")) {
				if of.Kind == template.Reference && of.Name == resource.Name {
					c.document(r, c.t.Property(other, "PolicyDocument"))
				}
			}
		case "AWS::IAM::RolePolicy":
			if of := c.t.Property(other, "RoleName"); of != nil && of.Kind == template.Reference && of.Name == resource.Name {
				c.document(r, c.t.Property(other, "PolicyDocument"))
			}
		case "AWS::KMS::Key":
			c.keyPolicy(r, other, resource)
		}
	}
	return r
}

// list returns a value's items, resolved. A single value is a list of one. A value that cannot be
// determined leaves a doubt.
func (c *Checker) list(r *rights, n *template.Node) []*template.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == template.Unknown:
		r.doubt = n
		return nil
	case n.Kind != template.List:
		return []*template.Node{n}
	}
	var list []*template.Node
	for _, item := range n.Items {
		switch item = c.t.Resolve(item); {
		case item == nil:
		case item.Kind == template.Unknown:
			r.doubt = item
		default:
			list = append(list, item)
		}
	}
	return list
}

// inline reads the Policies of a role.
func (c *Checker) inline(r *rights, policies *template.Node) {
	for i, policy := range c.list(r, policies) {
		document := c.t.Get(policy, "PolicyDocument")
		if statements := c.t.Get(document, "Statement"); i == 0 && statements != nil {
			r.at = statements.Position
		}
		c.document(r, document)
	}
}

func (c *Checker) document(r *rights, document *template.Node) {
	for _, s := range c.list(r, c.t.Get(document, "Statement")) {
		if effect := c.t.Get(s, "Effect"); effect != nil && effect.Text == "Allow" {
			r.statements = append(r.statements, c.statement(s))
		}
	}
}

func (c *Checker) statement(n *template.Node) statement {
	var s statement
	var doubts rights
	for _, action := range c.list(&doubts, c.t.Get(n, "Action")) {
		s.actions = append(s.actions, strings.ToLower(action.Text))
	}
	s.anything = doubts.doubt != nil || c.t.Get(n, "NotAction") != nil
	for _, operator := range members(c.t.Get(n, "Condition")) {
		for _, key := range members(operator.Value) {
			if strings.EqualFold(key.Name, "dynamodb:LeadingKeys") {
				s.keys = []string{}
				for _, pattern := range c.list(&rights{}, key.Value) {
					s.keys = append(s.keys, pattern.Text)
				}
			}
		}
	}
	var anywhere rights
	s.on = c.list(&anywhere, c.t.Get(n, "Resource"))
	if anywhere.doubt != nil {
		s.on = nil
	}
	return s
}

// members returns the members of a map, or nothing.
func members(n *template.Node) []template.Member {
	if n == nil || n.Kind != template.Map {
		return nil
	}
	return n.Members
}

// managed reads a policy of AWS by its name or ARN.
func (c *Checker) managed(r *rights, n *template.Node) {
	name := n.Text
	if actions, known := managed[name[strings.LastIndexByte(name, '/')+1:]]; known && n.Kind == template.Scalar {
		r.statements = append(r.statements, statement{actions: strings.Fields(actions)})
		return
	}
	if other := c.referred(n); other != nil && other.Type == "AWS::IAM::ManagedPolicy" {
		c.document(r, c.t.Property(other, "PolicyDocument"))
		return
	}
	r.doubt = n
}

// samPolicies reads the Policies of a function: names of managed policies, policy templates and
// documents.
func (c *Checker) samPolicies(r *rights, policies *template.Node) {
	for _, policy := range c.list(r, policies) {
		switch {
		case policy.Kind != template.Map:
			c.managed(r, policy)
		case policy.Member("Statement") != nil:
			c.document(r, policy)
		default:
			for _, m := range policy.Members {
				if known, ok := samPolicies[m.Name]; ok {
					s := statement{actions: strings.Fields(known.actions)}
					if of := c.t.Get(m.Value, known.parameter); of != nil && of.Kind == template.Reference {
						s.on = []*template.Node{of}
					}
					r.statements = append(r.statements, s)
				}
			}
		}
	}
}

// keyPolicy reads what a key's own policy grants to the role.
func (c *Checker) keyPolicy(r *rights, key, role *template.Resource) {
	for _, n := range c.list(&rights{}, c.t.Property(key, "KeyPolicy", "Statement")) {
		if effect := c.t.Get(n, "Effect"); effect == nil || effect.Text != "Allow" {
			continue
		}
		var doubts rights
		for _, to := range c.list(&doubts, c.t.Get(n, "Principal", "AWS")) {
			if to.Kind == template.Reference && to.Name == role.Name || to.Text == "*" {
				s := c.statement(n)
				s.on, s.keyOf = nil, key.Name
				r.statements = append(r.statements, s)
			}
		}
	}
}

// allows reports whether an action on what n refers to is allowed, or may be allowed.
func (r *rights) allows(action string, on *template.Node) bool {
	return slices.ContainsFunc(r.statements, func(s statement) bool { return s.allows(strings.ToLower(action)) && s.covers(on) })
}

// onKey returns the rights on items with a partition key. An empty key stands for all items.
func (r *rights) onKey(key string) *rights {
	some := *r
	some.statements = slices.DeleteFunc(slices.Clone(r.statements), func(s statement) bool {
		return s.keys != nil && !slices.ContainsFunc(s.keys, func(pattern string) bool {
			ok, err := path.Match(pattern, key)
			return ok && err == nil && key != ""
		})
	})
	return &some
}

func (s statement) allows(action string) bool {
	return s.anything || slices.ContainsFunc(s.actions, func(pattern string) bool {
		ok, err := path.Match(pattern, action)
		return ok && err == nil
	})
}

// covers returns false only if the statement is certainly about another resource.
func (s statement) covers(on *template.Node) bool {
	if s.keyOf != "" {
		return on.Kind != template.Reference || on.Name == s.keyOf
	}
	return len(s.on) == 0 || slices.ContainsFunc(s.on, func(n *template.Node) bool {
		return n.Kind != template.Reference || on.Kind != template.Reference || n.Name == on.Name
	})
}
