package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const fifoTemplate = `Resources:
  Events: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}
  Ingest:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: ./cmd/ingest
      Environment: {Variables: {INGOT_TABLE: events}}
      Events: {Messages: {Type: SQS, Properties: {Queue: !GetAtt Events.Arn}}}
`

// TestQueueIsOfTheKindThatTheTemplateSays starts with several template.yaml beside pipeline.yaml.
func TestQueueIsOfTheKindThatTheTemplateSays(t *testing.T) {
	for name, c := range map[string]struct {
		template string
		fifo     bool
		told     string
	}{
		"a FIFO queue":       {fifoTemplate, true, ""},
		"a standard queue":   {strings.Replace(fifoTemplate, "FifoQueue: true", "VisibilityTimeout: 60", 1), false, ""},
		"no ingest function": {"Resources:\n  Events: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}\n", false, ""},
		"not YAML":           {"Resources: [FifoQueue", false, "template.yaml cannot be read, so the queue is a standard queue here: "},
		"no FifoQueue":       {"Resources: [", false, ""},
		"none":               {"", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := folder(t, orders)
			if c.template != "" {
				writeTemplate(t, file, c.template)
			}
			var told []string
			d := start(t, Config{File: file, Tell: func(line string) { told = append(told, line) }})
			if got := strings.HasSuffix(d.Local().QueueURL, ".fifo"); got != c.fifo ||
				strings.HasSuffix(d.Local().DeadLetterURL, ".fifo") != c.fifo {
				t.Errorf("the queue is %s", d.Local().QueueURL)
			}
			if text := strings.Join(told, "\n"); !strings.Contains(text, c.told) || c.told == "" && text != "" {
				t.Errorf("told was %q, want %q", text, c.told)
			}
		})
	}
}

// TestKeptQueueOfAnotherKind starts with kept data after template.yaml has changed.
func TestKeptQueueOfAnotherKind(t *testing.T) {
	cfg := Config{File: folder(t, orders), Data: t.TempDir()}
	again := func() error {
		d, err := Start(t.Context(), cfg)
		if err != nil {
			return err
		}
		return d.Close()
	}
	must.Succeed(t, again())
	writeTemplate(t, cfg.File, fifoTemplate)
	want := "the data in " + cfg.Data + " has a standard queue, and now it would be a FIFO queue, because of template.yaml: change that " +
		"file back, or name another folder with --data to begin again"
	must.Equal(t, fmt.Sprint(again()), want)
	kept := cfg.Data
	cfg.Data = t.TempDir()
	for range 2 { // it begins anew, and goes on
		must.Succeed(t, again())
	}
	cfg.Data = kept
	must.Succeed(t, os.Remove(filepath.Join(filepath.Dir(cfg.File), templateFile)))
	must.Succeed(t, again())
}

func writeTemplate(t *testing.T, pipeline, text string) {
	t.Helper()
	must.Write(t, filepath.Join(filepath.Dir(pipeline), templateFile), text)
}
