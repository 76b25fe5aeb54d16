package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/migrate"
)

// legacy is the table that moves, and the application that writes it.
type legacy struct {
	*deployed
	table string
	rows  *esm.Stream // its changes, for the function that captures
	said  output      // by that function
}

func (l *legacy) row(day, second int, id string, more ...string) migrate.Row {
	at := time.Date(2098, 2, day, 0, 0, second, 0, time.UTC)
	row := migrate.Row{"pk": &types.AttributeValueMemberS{Value: at.Format("DAY#2006-01-02")},
		"sk":  &types.AttributeValueMemberS{Value: fmt.Sprintf("%d#%s", at.UnixMilli(), id)},
		"net": &types.AttributeValueMemberS{Value: "us"},
		"ms":  &types.AttributeValueMemberN{Value: fmt.Sprint(at.UnixMilli())},
		"mag": &types.AttributeValueMemberN{Value: "4.50"}}
	for _, name := range more {
		delete(row, name)
	}
	return row
}

func (l *legacy) put(row migrate.Row) {
	l.Helper()
	_, err := l.clients.DynamoDB.PutItem(l.Context(), &dynamodb.PutItemInput{TableName: &l.table, Item: row})
	must.Succeed(l, err)
}

func (l *legacy) remove(row migrate.Row) {
	l.Helper()
	_, err := l.clients.DynamoDB.DeleteItem(l.Context(), &dynamodb.DeleteItemInput{TableName: &l.table,
		Key: migrate.Row{"pk": row["pk"], "sk": row["sk"]}})
	must.Succeed(l, err)
}

// TestMigrated moves a table with the tool, from its plan to totals that count what was copied,
// while an application writes the table. Two read its real stream side by side: the tool, and the
// function as it is deployed.
func TestMigrated(t *testing.T) {
	t.Parallel()
	e, _ := open(t)
	files := map[string]string{}
	for _, name := range []string{"pipeline.yaml", "back.yaml"} {
		text, err := examples.Files.ReadFile("migrate/" + name)
		must.Succeed(t, err)
		files[name] = string(text)
	}
	dir := layered(t, files["pipeline.yaml"])
	d := deploy(t, deployment{dir: dir, binaries: functions(t),
		parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}})
	l := &legacy{deployed: d, table: d.stack + "-old"}
	old := stack.Table{Name: l.table, Keys: [2]string{"pk", "sk"}, Stream: true}
	stream, err := old.Create(t.Context(), d.clients.DynamoDB)
	must.Succeed(t, err)
	t.Cleanup(func() { // the endpoint may be somebody's own
		_, _ = d.clients.DynamoDB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &l.table})
	})
	w := d.tool(e.URL, "..")
	for name, text := range map[string]string{"pipeline.yaml": files["pipeline.yaml"],
		"migration.yaml": strings.Replace(files["back.yaml"], "quakes-v1", l.table, 1)} {
		must.Write(t, filepath.Join(w.dir, name), text)
	}
	for i := range 40 {
		l.put(l.row(1+i%3, i, fmt.Sprintf("q%d", i)))
	}
	l.function(w, e.URL, stream)
	l.move(e, w)
	l.turn(w)
	l.back(w)
}

// function starts the built function that captures, with the files of the tool, and its mapping.
func (l *legacy) function(w tool, url, stream string) {
	l.Helper()
	binary, err := build("migrate")
	must.Succeed(l, err)
	p := l.start(binary, l.beside(w, url, map[string]string{"INGOT_PII_KEY": l.secret}), &l.said)
	l.rows, err = esm.NewStream(esm.StreamConfig{Client: l.clients.Streams, ARN: stream, BatchSize: 100, ReportBatchItemFailures: true,
		Window: 5 * time.Second, Grace: time.Second, // then capture notes its last change, for which a proof waits
		Function: invoked(p)})
	must.Succeed(l, err)
}

// copyRows lets the function copy what has changed.
func (l *legacy) copyRows() error {
	_, err := l.rows.Poll(l.Context())
	return err
}

// move copies the table while it changes, until a comparison finds it equal.
func (l *legacy) move(e *endpoint.Endpoint, w tool) {
	l.Helper()
	l.useTool(w, []toolCall{{"migrate status", 0, "40 become quake"},
		{"migrate status", 0, "missing: migration quakes has no control item"}})
	l.send(`{"id":"early","net":"us","time":4102444800000,"mag":5}`) // before the turn
	l.capture(w)
	l.useTool(w, []toolCall{{"migrate backfill --yes", 0, "pass 1 has ended: 40 rows read"}})
	corrected := l.row(9, 1, "q1")
	l.remove(l.row(2, 1, "q1")) // its time was wrong
	l.put(corrected)
	l.remove(l.row(3, 2, "q2"))
	l.put(l.row(4, 4, "q0")) // q0 is there twice now
	l.put(l.row(4, 5, "no key", "ms"))
	l.until("the comparison finds a collision and a refused row", l.copyRows, func() bool {
		stdout, _, code := w.run(l.Context(), "migrate compare")
		return code == 3 && strings.Contains(stdout, "collision  1 keys") && strings.Contains(stdout, "refused  1 rows")
	})
	l.useTool(w, []toolCall{{"migrate turn --yes", 5, "1 collisions, 1 refused rows"}})
	l.remove(l.row(4, 4, "q0"))
	l.remove(l.row(4, 5, "no key"))
	l.until("the tables are equal", l.copyRows, func() bool {
		_, _, code := w.run(l.Context(), "migrate compare")
		return code == 0
	})
	c := l.workers(e, w, nil)
	stdout, stderr, code := w.run(l.Context(), "migrate compare"+c.flags())
	if code != 0 || !strings.Contains(stdout, "39 rows, 39 copies") || c.tasks.Load() < 5 {
		l.Errorf("workers compare: exit code %d after %d tasks\n%s%s\n%s", code, c.tasks.Load(), stdout, stderr, &c.said)
	}
	if got := l.said.sum("RowsReceived"); got < 40 {
		l.Errorf("the function reports %v changed rows", got)
	}
}

// capture runs the tool's own capture until the test is over.
func (l *legacy) capture(w tool) {
	l.Helper()
	capture := exec.CommandContext(l.Context(), w.binary, append(strings.Fields("migrate capture --yes"), w.flags...)...)
	capture.Dir, capture.Env = w.dir, w.env
	var said strings.Builder
	capture.Stderr = &said
	capture.Cancel = func() error { return capture.Process.Signal(os.Interrupt) }
	must.Succeed(l, capture.Start())
	l.Cleanup(func() {
		capture.Wait()
		if code := capture.ProcessState.ExitCode(); code != 0 {
			l.Errorf("capture: exit code %d", code)
		}
		if l.Failed() {
			l.Logf("capture: %s", &said)
		}
	})
}

// turn makes the new table the source, counts what was copied, and stores the message that came
// before.
func (l *legacy) turn(w tool) {
	l.Helper()
	l.useTool(w, []toolCall{
		{"migrate turn --yes --quiet 0s", 0, "next: ingot rebuild network_day"},
		{"get quake id=q2", 3, "nothing is stored"},
		{"get quake id=q1", 0, "2098"},
		{"rebuild network_day --patience 1ms", 6, "it is not known whether"}, // as in toolDifferences
	})
	poll := func() error { _, err := l.stream.Poll(l.Context()); return err }
	l.until("every copy is counted", poll, func() bool {
		stdout, _, code := w.run(l.Context(), "verify")
		return code == 0 && strings.Contains(stdout, "39 items")
	})
	l.useTool(w, []toolCall{{"quarantine pull early --once", 0, "1 new"},
		{"quarantine resend early --reason not-turned --yes", 0, "1 resent"}})
	l.send()
	l.useTool(w, []toolCall{{"get quake id=early", 0, "2100"}})
	l.until("every change is counted", poll, func() bool {
		_, _, code := w.run(l.Context(), "verify")
		return code == 0
	})
	l.useTool(w, []toolCall{{"migrate retire --yes", 5, "retire later"}}) // a quarter of an hour after the turn
	if stdout, _, _ := w.run(l.Context(), "totals network_day --scan --output csv"); strings.Count(stdout, "us,") != 5 {
		l.Errorf("five days have earthquakes, and the totals are\n%s", stdout)
	}
}

// back lets the old table follow, and makes it the source again.
func (l *legacy) back(w tool) {
	l.Helper()
	l.until("the old table has the event that came after the turn", nothing, func() bool {
		out, err := l.clients.DynamoDB.GetItem(l.Context(), &dynamodb.GetItemInput{TableName: &l.table, Key: migrate.Row{
			"pk": &types.AttributeValueMemberS{Value: "DAY#2100-01-01"}, "sk": &types.AttributeValueMemberS{Value: "4102444800000#early"}}})
		return err == nil && out.Item["ms"] != nil
	})
	l.remove(l.row(3, 5, "q5")) // by a job that nobody has stopped
	l.until("the tables are equal", nothing, func() bool {
		stdout, _, code := w.run(l.Context(), "migrate compare")
		return code == 0 && strings.Contains(stdout, "40 rows, 40 copies")
	})
	l.useTool(w, []toolCall{{"migrate back --yes", 0, "messages wait in quarantine"}})
	l.until("the old table is the source", nothing, func() bool {
		stdout, _, code := w.run(l.Context(), "migrate back --yes --quiet 0s")
		return code == 0 && strings.Contains(stdout, "the old table is the source again")
	})
	l.useTool(w, []toolCall{{"migrate status", 0, "the old table is the source of quake"}})
}
