package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// ToolOutputs are the outputs by which the tool finds the parts of a stack. SecretOutput is one
// more, for a pipeline that uses hmac.
var ToolOutputs = []string{"EventsTableName", "AggregatesTableName", "QueueUrl", "QuarantineQueueUrl", "DeadLetterQueueUrl",
	"ArchiveBucketName",
	"IngestFunctionName", "StreamsFunctionName"}

// SecretOutput is the output with the secret that hmac uses.
const SecretOutput = "PiiKeySecret"

// PayloadsOutput is the output with the name of the payload bucket, for a pipeline with offload.
const PayloadsOutput = "PayloadBucketName"

// outputs checks that the tool will find the parts of the stack. A template with one of the
// functions alone is not judged, because the outputs may be those of another stack.
func (c *Checker) outputs() {
	if c.ingest == nil || c.streams == nil {
		return
	}
	needed := slices.Clone(ToolOutputs)
	if c.p != nil && c.p.UsesHMAC() {
		needed = append(needed, SecretOutput)
	}
	if c.p != nil && c.p.UsesOffload() {
		needed = append(needed, PayloadsOutput)
	}
	if !slices.ContainsFunc(c.t.Resources(), func(r *template.Resource) bool { return r.Type == "AWS::S3::Bucket" }) {
		needed = slices.DeleteFunc(needed, func(name string) bool { return name == "ArchiveBucketName" })
	}
	there, at := c.t.Outputs()
	missing := slices.DeleteFunc(needed, func(name string) bool { return slices.Contains(there, name) })
	if len(missing) == 0 {
		return
	}
	noun := "output"
	if len(missing) > 1 {
		noun = "outputs"
	}
	c.Warn("outputs", at, fmt.Sprintf("no %s %s: the commands of ingot find the parts of a stack by these, so some will not work; ingot "+
		"init --diff shows how they are written", noun, strings.Join(missing, ", ")), "")
}
