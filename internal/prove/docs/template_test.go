package docs

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

var reference = regexp.MustCompile(`!(?:Ref|GetAtt) (\w+)`)

// TestAdditionsToTheTemplate shows that what the pages about a stack add to template.yaml can be
// added. The result can be read, it refers to resources that exist, and `ingot check` accepts it.
func TestAdditionsToTheTemplate(t *testing.T) {
	for _, b := range slices.Concat(blocksOf(t, deployPage, "yaml template"), blocksOf(t, watchPage, "yaml template")) {
		text := strings.Replace(without(read(t, sampleshop.Template), b.text), "\nResources:\n", "\nResources:\n"+b.text, 1)
		tpl := openedText(t, []byte(text), nil)
		for _, name := range groups(reference, b.text) {
			if tpl.Resource(name) == nil && name != "AWS" && !strings.Contains(text, "\n  "+name+":\n    Type: String\n") {
				t.Errorf("%s:%d: there is no resource and no parameter %s", b.file, b.line, name)
			}
		}
		report := checked(t, check.Input{Pipeline: *named("pipeline.yaml", read(t, sampleshop.Pipeline)),
			Template: named("template.yaml", text), Partitions: 1})
		must.Equal(t, len(report.Findings), 0, b.file, b.line, report)
	}
}

// without returns the template without the resource that a snippet replaces, if the template has
// it.
func without(text, snippet string) string {
	name, _, _ := strings.Cut(snippet, "\n")
	before, rest, found := strings.Cut(text, "\n"+name+"\n")
	if !found {
		return text
	}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "   ") {
			break
		}
		rest = rest[len(line):]
	}
	return before + "\n" + rest
}

// TestQueuesTakeTLSAlone shows that each queue has one policy, which refuses everything that does
// not come by TLS.
func TestQueuesTakeTLSAlone(t *testing.T) {
	tpl := opened(t, sampleshop.Template, nil)
	policies := map[string]int{}
	queues := 0
	for _, r := range tpl.Resources() {
		switch r.Type {
		case "AWS::SQS::Queue":
			queues++
		case "AWS::SQS::QueuePolicy":
			for _, queue := range tpl.Property(r, "Queues").Items {
				policies[tpl.Resolve(queue).Name]++
			}
			deny := tpl.Property(r, "PolicyDocument", "Statement").Items[0]
			for path, want := range map[string]string{"Effect": "Deny", "Principal": "*", "Action": "sqs:*",
				"Condition Bool aws:SecureTransport": "false"} {
				must.Equal(t, tpl.Get(deny, strings.Fields(path)...).Text, want, r.Name)
			}
		}
	}
	must.Equal(t, queues, 3)
	must.Equal(t, len(policies), queues, policies)
	for queue, n := range policies {
		must.Equal(t, n, 1, queue)
	}
}

// TestArchiveParameters shows that the parameters that docs/erasing.md names do what it says.
func TestArchiveParameters(t *testing.T) {
	for _, c := range []struct {
		given        map[string]string
		bucket, days string
		rules        int
	}{
		{nil, "ArchiveBucket", "", 1},
		{map[string]string{"ArchiveDays": "90"}, "ArchiveBucket", "90", 2},
		{map[string]string{"Archive": "none", "ArchiveDays": "7"}, "", "7", 2},
	} {
		tpl := opened(t, sampleshop.Template, c.given)
		bucket := tpl.Property(tpl.Resource("StreamsFunction"), "Environment", "Variables", "INGOT_ARCHIVE_BUCKET")
		must.Equal(t, bucket.Name, c.bucket, c.given)
		must.Equal(t, bucket.Text, "", c.given)
		days, rules := "", 0
		for _, item := range tpl.Property(tpl.Resource("ArchiveBucket"), "LifecycleConfiguration", "Rules").Items {
			if rule := tpl.Resolve(item); rule != nil && rule.Kind == template.Map {
				if rules++; rule.Member("ExpirationInDays") != nil {
					days = tpl.Get(rule, "ExpirationInDays").Text
				}
			}
		}
		must.Equal(t, days, c.days, c.given)
		must.Equal(t, rules, c.rules, c.given)
	}
}

// With ExistingPayloadBucket the stack makes no bucket of payloads, and names that one wherever it
// would name its own.
func TestExistingPayloadBucket(t *testing.T) {
	const bucket = "old-payloads"
	text := strings.ReplaceAll(read(t, sampleshop.Template), "${AWS::Partition}", "aws")
	tpl := openedText(t, []byte(text), map[string]string{"Payloads": "keep", "ExistingPayloadBucket": bucket})
	if r := tpl.Resource("PayloadBucket"); r != nil {
		t.Error("it makes a bucket")
	}
	must.Equal(t, tpl.Property(tpl.Resource("PayloadBucketPolicy"), "Bucket").Text, bucket)
	must.Say(t, text, "Value: !If [NewPayloads, !Ref PayloadBucket, !Ref ExistingPayloadBucket]")
	for _, function := range []string{"Streams", "Ingest"} {
		variable := tpl.Property(tpl.Resource(function+"Function"), "Environment", "Variables", "INGOT_PAYLOAD_BUCKET")
		must.Equal(t, variable.Text, bucket, function)
	}
	rights := groups(regexp.MustCompile(`NewPayloads, \{Effect: Allow, Action: (\[.*?\])`), text)
	for _, right := range rights {
		must.Say(t, text, "OldPayloads, {Effect: Allow, Action: "+right+
			`, Resource: [!Sub "arn:aws:s3:::${ExistingPayloadBucket}", !Sub "arn:aws:s3:::${ExistingPayloadBucket}/*"]}`)
	}
	must.Equal(t, len(rights), 2)
}

// With PermissionsBoundaryArn every role of every template has the boundary, and without it none.
func TestBoundary(t *testing.T) {
	const boundary = "arn:aws:iam::111122223333:policy/ingot-functions"
	for name, want := range map[string]int{sampleshop.Template: 2, "cmd/publish/template.yaml": 1, "cmd/migrate/template.yaml": 1,
		"cmd/worker/template.yaml": 3} {
		for _, given := range []string{boundary, ""} {
			tpl := opened(t, name, map[string]string{"PermissionsBoundaryArn": given})
			roles := 0
			for _, r := range tpl.Resources() {
				if r.Type != "AWS::IAM::Role" {
					continue
				}
				roles++
				if got := tpl.Property(r, "PermissionsBoundary"); (got != nil) != (given != "") || got != nil && got.Text != given {
					t.Errorf("%s: with %q the boundary of %s is %+v", name, given, r.Name, got)
				}
			}
			must.Equal(t, roles, want, name)
		}
	}
}

// ownKey is the value of the parameter for a key of one's own.
const ownKey = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

// keyProperty lists, for each type of resource that keeps something, where it names the key with
// which it is encrypted.
var keyProperty = map[string][]string{
	"AWS::SQS::Queue": {"KmsMasterKeyId"}, "AWS::DynamoDB::Table": {"SSESpecification", "KMSMasterKeyId"},
	"AWS::Logs::LogGroup":         {"KmsKeyId"},
	"AWS::SecretsManager::Secret": {"KmsKeyId"}, "AWS::Serverless::Function": {"KmsKeyArn"}, "AWS::S3::Bucket": {"BucketEncryption"},
}

// keepsNothing lists the types of resources that hold no data of their own.
var keepsNothing = []string{"AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy", "AWS::IAM::Role", "AWS::CloudWatch::Alarm",
	"AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::Dashboard"}

// encryptedWith returns the key with which each resource of the template that keeps something is
// encrypted.
func encryptedWith(t *testing.T, parameters map[string]string) map[string]string {
	t.Helper()
	tpl := opened(t, sampleshop.Template, parameters)
	keys := map[string]string{}
	for _, r := range tpl.Resources() {
		at, known := keyProperty[r.Type]
		if !known {
			if !slices.Contains(keepsNothing, r.Type) {
				t.Errorf("%s is %s: does it keep something that is to be encrypted?", r.Name, r.Type)
			}
			continue
		}
		key := tpl.Property(r, at...)
		if r.Type == "AWS::S3::Bucket" {
			rules := tpl.Get(key, "ServerSideEncryptionConfiguration").Items
			if len(rules) != 1 {
				t.Fatalf("%s has %d rules of encryption", r.Name, len(rules))
			}
			by := tpl.Get(tpl.Resolve(rules[0]), "ServerSideEncryptionByDefault")
			key = tpl.Get(by, "KMSMasterKeyID")
			if algorithm := tpl.Get(by, "SSEAlgorithm").Text; (algorithm == "aws:kms") != (key != nil) {
				t.Errorf("%s: %s", r.Name, algorithm)
			}
		}
		if keys[r.Name] = ""; key != nil {
			keys[r.Name] = key.Text
		}
		if r.Type == "AWS::SQS::Queue" && (tpl.Property(r, "SqsManagedSseEnabled") == nil) != (key != nil) {
			t.Errorf("%s has not exactly one of both encryptions", r.Name)
		}
	}
	return keys
}

// TestEverythingIsEncryptedWithTheKey shows that with KmsKeyArn everything that keeps something is
// encrypted with that key, as the guide lists it. Without it, nothing is.
func TestEverythingIsEncryptedWithTheKey(t *testing.T) {
	for name, key := range encryptedWith(t, nil) {
		must.Equal(t, key, "", name)
	}
	encrypted := encryptedWith(t, map[string]string{"KmsKeyArn": ownKey})
	for name, key := range encrypted {
		must.Equal(t, key, ownKey, name)
	}
	var listed []string
	for _, row := range table(t, deployPage, "encrypted") {
		for _, name := range strings.Split(row[1], ", ") {
			listed = append(listed, strings.Trim(name, "`"))
		}
	}
	slices.Sort(listed)
	must.Match(t, listed, slices.Sorted(maps.Keys(encrypted)))
}

// TestKeyParameterTakesArnsOfKeysAlone shows that the parameter refuses an alias, the ARN of an
// alias, and a bare id. CloudWatch Logs and IAM accept only the ARN of a key.
func TestKeyParameterTakesArnsOfKeysAlone(t *testing.T) {
	_, after, _ := strings.Cut(read(t, sampleshop.Template), "\n  KmsKeyArn:\n")
	_, after, _ = strings.Cut(after, `AllowedPattern: "`)
	pattern, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatal("KmsKeyArn has no AllowedPattern")
	}
	allowed := regexp.MustCompile("^(?:" + pattern + ")$") // CloudFormation compares the whole value
	for value, want := range map[string]bool{"": true, ownKey: true, strings.Replace(ownKey, "arn:aws:", "arn:aws-cn:", 1): true,
		"alias/own": false, "arn:aws:kms:eu-central-1:111122223333:alias/own": false, "1234abcd-12ab-34cd-56ef-1234567890ab": false} {
		must.Equal(t, allowed.MatchString(value), want, value)
	}
}

// TestKeyPolicy shows that the key policy of the guide allows the services that use the key without
// a role of the stack: CloudWatch Logs, for the log groups of a new repository's stacks, and
// every service that the guide lets send to the queue.
func TestKeyPolicy(t *testing.T) {
	type texts []string
	var policy struct {
		Statement []struct {
			Effect    string
			Principal struct{ Service, AWS json.RawMessage }
			Action    json.RawMessage
			Condition map[string]map[string]string
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(blocksOf(t, deployPage, "json key")[0].text), &policy))
	list := func(raw json.RawMessage) (all texts) {
		if json.Unmarshal(raw, &all) != nil {
			all = texts{strings.Trim(string(raw), `"`)}
		}
		return all
	}
	allowed := map[string]texts{}
	logGroups := ""
	for _, s := range policy.Statement {
		for _, service := range list(s.Principal.Service) {
			allowed[service] = list(s.Action)
		}
		if arn := s.Condition["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]; arn != "" {
			logGroups = arn[strings.LastIndex(arn, ":")+1:]
		}
	}
	must.Match(t, allowed["logs.eu-central-1.amazonaws.com"],
		texts{"kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"})
	stacks := groups(regexp.MustCompile(`stack_name = "(.+)"`), repository(t)["samconfig.toml"])
	if len(stacks) < 2 {
		t.Errorf("samconfig.toml names the stacks %v", stacks)
	}
	for _, stack := range stacks { // CloudFormation names a log group after the stack and the resource
		if ok, err := path.Match(logGroups, stack+"-StreamsLogs-1A2B3C"); err != nil || !ok {
			t.Errorf("log groups of stack %s are not among %s", stack, logGroups)
		}
	}
	senders := groups(regexp.MustCompile(`Principal: \{Service: (\S+)\}`), blocksOf(t, deployPage, "yaml template")[0].text)
	must.Equal(t, len(senders), 2, senders)
	for _, sender := range senders {
		must.Match(t, allowed[sender], texts{"kms:GenerateDataKey", "kms:Decrypt"}, sender)
	}
}

// The output DashboardUrl is of the console of the stack's partition.
func TestDashboardOfEachPartition(t *testing.T) {
	for partition, want := range map[string]string{
		"aws":        "https://REGION.console.aws.amazon.com/cloudwatch/home?region=REGION#dashboards/dashboard/NAME",
		"aws-cn":     "https://REGION.console.amazonaws.cn/cloudwatch/home?region=REGION#dashboards/dashboard/NAME",
		"aws-us-gov": "https://REGION.console.amazonaws-us-gov.com/cloudwatch/home?region=REGION#dashboards/dashboard/NAME",
	} {
		text := strings.NewReplacer("!Ref AWS::Partition", partition, "${AWS::Region}", "REGION", "${Dashboard}", "NAME").Replace(
			read(t, sampleshop.Template))
		tpl := openedText(t, []byte(text), nil)
		url := wholeOf(t, []byte(text)).Member("Outputs").Value.Member("DashboardUrl").Value.Member("Value").Value
		must.Equal(t, tpl.Resolve(url).Text, want)
	}
}

// No right of a template is about what is named after the stack and more: that would be the stack
// whose name begins with this one's, too.
func TestRightsAreOfOneStack(t *testing.T) {
	for _, name := range templates {
		if strings.Contains(read(t, name), "${AWS::StackName}-*") {
			t.Errorf("%s has rights in stacks whose names begin with that of its own", name)
		}
	}
}
