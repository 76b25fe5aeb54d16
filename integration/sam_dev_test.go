package integration

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// startDev runs the sample shop in an ingot dev, at the given address of this machine, until the
// test ends. Its data is in a folder, as that of every ingot dev.
func startDev(t *testing.T, host, key string) *dev.Dev {
	t.Helper()
	sampleshop.PipelineAtRoot(t, "..")
	text := must.Read(t, filepath.Join("..", "pipeline.yaml"))
	dir := t.TempDir()
	file := filepath.Join(dir, "pipeline.yaml")
	must.Write(t, file, string(text))
	d, err := dev.Start(t.Context(), dev.Config{File: file, Data: filepath.Join(dir, "data"), Secret: []byte(key), Host: host})
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestSAMOnDev runs the functions as they are deployed, in their containers, against an ingot dev.
// What the ingest function stores there, the streams function of ingot dev counts.
func TestSAMOnDev(t *testing.T) {
	cli := findSAM(t)
	all := readSamples(t)
	d := startDev(t, hostOfContainers(), all.Key)
	at := d.Local()
	e := &endpoint.Endpoint{URL: at.Endpoint, Name: "dev", SQS: true, S3: true}
	t.Cleanup(func() { _ = e.Close(context.Background()) }) // it has connections alone
	clients := e.Clients()
	_, port, _ := strings.Cut(strings.TrimPrefix(at.Endpoint, "http://"), ":")
	services := &samServices{clients, "http://host.docker.internal:" + port}
	template := cli.build(t, "lambda.norpc")

	t.Run("ingest", func(t *testing.T) {
		w := &samWorld{clients: clients, plan: d.Pipeline(), queue: at.QuarantineURL, bucket: at.ArchiveBucket,
			environment: map[string]string{
				"INGOT_TABLE": at.EventsTable, "INGOT_AGGREGATES_TABLE": at.AggregatesTable, "INGOT_QUARANTINE_URL": at.QuarantineURL,
				"INGOT_ARCHIVE_BUCKET": at.ArchiveBucket,
				"INGOT_COUNTING":       "marks", "INGOT_PII_KEY": all.Key, "INGOT_ENDPOINT_URL": services.url}}
		var err error
		w.store, err = store.New(tables.Config{Client: clients.DynamoDB, Pipeline: w.plan, Events: at.EventsTable,
			Aggregates: at.AggregatesTable})
		must.Succeed(t, err)
		s := of(t, all, "ingest-conflict.json")[0]
		checkAnswer(t, s,
			cli.invoke(t, template, functionNames[s.Function], s.File,
				environmentFile(t, map[string]map[string]string{"Parameters": w.environment})))
		w.checkItems(t, all, s)
		w.checkLetters(t, s)
		counted(t, w.plan, w.store)
	})
	t.Run("streams", func(t *testing.T) {
		s := of(t, all, "streams-ttl-removal.json")[0]
		w := services.world(t, s, all.Key, "marks")
		w.create(t)
		environment := environmentFile(t, map[string]map[string]string{"Parameters": w.environment})
		for _, before := range s.After {
			cli.invoke(t, template, functionNames[s.Function], before, environment)
		}
		checkAnswer(t, s, cli.invoke(t, template, functionNames[s.Function], s.File, environment))
		w.checkTotals(t, s)
		w.checkArchive(t, s)
	})
}

// counted waits until every total is the sum over the items, and there is one.
func counted(t *testing.T, plan *pipeline.Pipeline, st *store.Store) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		report, err := verify.Totals(t.Context(), plan, st, time.Now())
		must.Succeed(t, err)
		if report.OK() && report.Items > 0 && report.Totals > 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("after two minutes: %d items, %d totals, differences: %v", report.Items, report.Totals, report.Differences)
		}
	}
}
