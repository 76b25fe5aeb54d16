package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// quarantined is what aws sqs receive-message prints for a message in quarantine.
const quarantined = `{"Messages": [{"MessageId": "m", "ReceiptHandle": "AQEB/x+y=", "MD5OfBody": "d", "Body": "{\"a\": \"1|2\"}\n",
	"MessageAttributes": {"ingot": {"StringValue": "{}", "DataType": "String"}, "trace": {"StringValue": "t", "DataType": "String"}, "raw": {"BinaryValue": "AAE=", "DataType": "Binary"}}}]}`

// TestResendRecipe shows that the recipe for sending a message again makes exactly what its
// producer sent, and finds the handle with which to delete it.
func TestResendRecipe(t *testing.T) {
	recipe := ""
	for _, b := range blocksOf(t, withoutPage, "sh") {
		if strings.Contains(b.text, "> again.json") {
			recipe += b.text
		}
	}
	if strings.Count(recipe, "jq ") != 2 || strings.Index(recipe, "delete-message") < strings.Index(recipe,
		"send-message --cli-input-json file://again.json") {
		t.Fatalf("the recipe should make again.json, send it, and then delete what was received:\n%s", recipe)
	}
	need(t, "jq")
	dir := t.TempDir()
	file := func(name, text string) {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	file("printed.json", quarantined)
	file("aws", "#!/bin/sh\nif [ \"$2\" = receive-message ]; then cat printed.json; else echo \"$@\" >> sent; fi\n")
	file("ingot", "#!/bin/sh\n")
	cmd := exec.Command("bash", "-euc", recipe)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "QUEUE_URL=https://queue", "QUARANTINE_URL=https://quarantine")
	ran(t, cmd)
	text := must.Read(t, filepath.Join(dir, "again.json"))
	var got, want any
	must.Succeed(t, json.Unmarshal(text, &got))
	must.Succeed(t, json.Unmarshal([]byte(`{"QueueUrl": "https://queue", "MessageBody": "{\"a\": \"1|2\"}\n",
		"MessageAttributes": {"trace": {"StringValue": "t", "DataType": "String"}, "raw": {"BinaryValue": "AAE=", "DataType": "Binary"}}}`),
		&want))
	must.Match(t, got, want, text)
	must.Equal(t, string(must.Read(t, filepath.Join(dir, "sent"))), "sqs send-message --cli-input-json file://again.json\n"+
		"sqs delete-message --queue-url https://quarantine --receipt-handle AQEB/x+y=\n")
}
