package migrating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/lambda/esm"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/demo"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

const (
	quakes = "quakes-v1"
	quake  = "quake"
)

// move is a demonstration: a table moves in one process, while an application writes it.
type move struct {
	out      io.Writer
	die      *rand.Rand
	now      time.Time
	engine   *embedded.Engine
	pipeline *pipeline.Pipeline
	mapping  *rowmap.Mapping
	old      *migrate.Table
	sync     *migrate.Sync
	poller   *Poller
	counted  *esm.Stream
	keys     []migrate.Row // of rows that the application knows
	stopped  bool          // the application
	writes   int
	deletes  int
	moves    int
	sent     time.Time // the time of the first message
}

// Demo moves a table of real earthquakes while an application writes, changes and deletes rows. It
// returns an error if anything that it must prove does not hold.
func Demo(ctx context.Context, seed uint64, out io.Writer) error {
	m := &move{out: out, die: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2018, 2, 8, 12, 0, 0, 0, time.UTC)}
	for _, step := range []func(context.Context) error{m.build, m.plan, m.capture, m.backfill, m.compare, m.write, m.goBack, m.prove} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *move) say(format string, args ...any) { fmt.Fprintf(m.out, format+"\n", args...) }

func (m *move) config() tables.Config {
	return tables.Config{Client: m.engine.DynamoDB(), Pipeline: m.pipeline, Events: stack.Events, Aggregates: stack.Aggregates,
		Env: env.Env{Now: func() time.Time { return m.now },
			Deadline: func(ctx context.Context, _ time.Time) (context.Context, context.CancelFunc) {
				return context.WithCancel(ctx)
			},
			Sleep: func(_ context.Context, d time.Duration) error { m.now = m.now.Add(d); return nil }}}
}

// build makes the old table with its rows, and the stack that they move into.
func (m *move) build(ctx context.Context) (err error) {
	files, err := fs.Sub(examples.Files, "migrate")
	if err != nil {
		return err
	}
	if m.pipeline, err = pipeline.Load(files, "pipeline.yaml"); err != nil {
		return err
	}
	if m.mapping, err = rowmap.Load(files, "back.yaml", m.pipeline); err != nil {
		return err
	}
	m.engine = embedded.New(embedded.Config{Now: func() time.Time { return m.now }, Seed: 1})
	if _, err := stack.New(ctx, m.engine, stack.Config{Indexes: m.pipeline.Indexes()}); err != nil {
		return err
	}
	if _, err := OldTable.Create(ctx, m.engine.DynamoDB()); err != nil {
		return err
	}
	for line, err := range demo.Earthquakes().Lines() {
		if err == nil {
			err = m.load(ctx, line.Body)
		}
		if err != nil {
			return err
		}
	}
	m.now = m.now.Add(25 * time.Hour) // these rows are older than what a stream remembers
	row := migrate.Row{"pk": text("CURSOR"), "sk": text("importer"), "kind": text("cursor"), "page": number("17")}
	if err := m.put(ctx, row); err != nil {
		return err
	}
	if m.old, err = migrate.Find(ctx, m.engine.DynamoDB(), m.engine.DynamoDB(), quakes, stack.Events); err != nil {
		return err
	}
	if m.sync, err = migrate.NewSync(m.mapping, m.old.Source, m.config()); err != nil {
		return err
	}
	clock := esm.Function{Now: func() time.Time { return m.now }}
	m.poller, err = NewPoller(&migrate.Capture{Sync: m.sync}, m.engine.Streams(), m.old.Source, clock)
	if err != nil {
		return err
	}
	counting, err := handler.NewStreams(m.config())
	if err != nil {
		return err
	}
	if err := counting.Start(ctx); err != nil {
		return err
	}
	clock.Timeout, clock.Handler = stack.FunctionTimeout, func(ctx context.Context, payload []byte) ([]byte, error) {
		response, err := counting.Handle(ctx, payload)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	}
	m.counted, err = esm.NewStream(esm.StreamConfig{Client: m.engine.Streams(), ARN: m.old.Events, BatchSize: 100,
		ReportBatchItemFailures: true, Window: time.Minute, Function: clock})
	return err
}

// OldTable is the table that the example begins with: its sort key begins with a time.
var OldTable = stack.Table{Name: quakes, Keys: [2]string{"pk", "sk"}, Stream: true}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// load puts the row of one earthquake into the old table.
func (m *move) load(ctx context.Context, line string) error {
	doc, err := event.ParseDocument(line)
	if err != nil {
		return err
	}
	p := doc.Root().Member("properties")
	ms, err := p.Member("time").Decimal()
	if err != nil {
		return err
	}
	at, _ := ms.Int64()
	when := time.UnixMilli(at).UTC()
	row := migrate.Row{"pk": text(when.Format("DAY#2006-01-02")),
		"sk":  text(p.Member("time").Text() + "#" + doc.Root().Member("id").Text()),
		"net": text(p.Member("net").Text()), "ms": number(p.Member("time").Text()), "place": text(p.Member("place").Text()),
		"tags": &types.AttributeValueMemberSS{Value: strings.Split(strings.Trim(p.Member("types").Text(), ","), ",")}}
	if mag := p.Member("mag"); mag.Kind() == event.Number {
		row["mag"] = number(mag.Text())
	}
	m.keys = append(m.keys, keyOf(row))
	return m.put(ctx, row)
}

func keyOf(row migrate.Row) migrate.Row { return migrate.Row{"pk": row["pk"], "sk": row["sk"]} }

func (m *move) put(ctx context.Context, row migrate.Row) error {
	_, err := m.engine.DynamoDB().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(quakes), Item: row})
	return err
}

func (m *move) remove(ctx context.Context, key migrate.Row) error {
	_, err := m.engine.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(quakes), Key: key})
	return err
}

// work is what the old application does between two steps of ours: it corrects magnitudes, corrects
// times, which moves a row to another key, and deletes false alarms.
func (m *move) work(ctx context.Context) error {
	m.now = m.now.Add(time.Second)
	for range 3 {
		if m.stopped {
			return nil
		}
		i := m.die.IntN(len(m.keys))
		out, err := m.engine.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(quakes), Key: m.keys[i]})
		if err != nil || out.Item == nil {
			return err
		}
		row := out.Item
		switch m.die.IntN(6) {
		case 0:
			m.deletes++
			err = m.remove(ctx, m.keys[i])
		case 1:
			m.moves++
			ms, id, _ := strings.Cut(row["sk"].(*types.AttributeValueMemberS).Value, "#")
			at := fmt.Sprintf("%s%03d", ms[:len(ms)-3], m.die.IntN(1000)) // in the same second
			row["sk"], row["ms"] = text(at+"#"+id), number(at)
			if err = m.remove(ctx, m.keys[i]); err == nil {
				m.keys[i] = keyOf(row)
				err = m.put(ctx, row)
			}
		default:
			m.writes++
			row["mag"] = number(fmt.Sprintf("%.2f", m.die.Float64()*5))
			err = m.put(ctx, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyChanges lets capture do what has changed so far.
func (m *move) copyChanges(ctx context.Context) error {
	for {
		idle, err := m.poller.Poll(ctx)
		if err == nil && m.poller.fault != nil {
			err = m.poller.fault
		}
		if err != nil || idle && m.poller.Drained() {
			return err
		}
	}
}

// Counted makes the demonstration a [migrate.Lag]: while a comparison waits, the application works
// and capture goes on.
func (m *move) Counted(ctx context.Context) (time.Time, error) {
	if err := errors.Join(m.work(ctx), m.copyChanges(ctx)); err != nil {
		return time.Time{}, err
	}
	return m.now, nil
}

func (m *move) plan(ctx context.Context) error {
	m.say("The old table %s has the time in its key. An application corrects, moves and deletes rows all the while.\n", quakes)
	sample, err := Read(ctx, m.mapping, m.old, 0)
	if err != nil {
		return err
	}
	m.say("PLAN      %d rows: %d become %s, %d are skipped, %d are refused", sample.Rows, sample.Moved[quake], quake, len(sample.Skipped),
		len(sample.Refused))
	return nil
}

func (m *move) capture(ctx context.Context) error {
	if _, err := m.sync.Begin(ctx); err != nil {
		return err
	}
	m.say("CAPTURE   is on: each row that changes is copied")
	return m.work(ctx)
}

func (m *move) backfill(ctx context.Context) error {
	// Two rows become the same earthquake: somebody has imported it twice, under two times.
	out, err := m.engine.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(quakes), Key: m.keys[5]})
	if err != nil || out.Item == nil {
		return errors.Join(err, errors.New("the row for the collision is gone"))
	}
	twin := out.Item
	_, id, _ := strings.Cut(twin["sk"].(*types.AttributeValueMemberS).Value, "#")
	twin["pk"], twin["sk"], twin["ms"] = text("DAY#1999-12-31"), text("946684799000#"+id), number("946684799000")
	if err := m.put(ctx, twin); err != nil {
		return err
	}
	m.keys = append(m.keys[:5:5], m.keys[6:]...) // the application leaves these two alone
	pass, err := m.sync.BeginPass(ctx)
	if err != nil {
		return err
	}
	done, err := pass.Run(ctx, func(migrate.Progress) {
		err = errors.Join(err, m.work(ctx), m.copyChanges(ctx))
	})
	if err != nil {
		return err
	}
	m.say("BACKFILL  %d rows read, %d inserted; meanwhile the application changed %d rows, moved %d and deleted %d", done.Rows, done.Inserted,
		m.writes, m.moves, m.deletes)
	return m.copyChanges(ctx)
}

func (m *move) compare(ctx context.Context) error {
	c, err := m.sync.Compare(ctx, m)
	if err != nil {
		return err
	}
	m.say("COMPARE   %d rows, %d copies, %d differences, %d keys that two rows claim", c.Rows, c.Copies, len(c.Differences), c.Collisions)
	if len(c.Differences) > 0 || c.Collisions != 1 {
		return fmt.Errorf("the comparison was to find no difference and one collision: %+v", c)
	}
	_, err = m.sync.Turn(ctx, migrate.Quiet)
	if stop := (*migrate.StopError)(nil); !errors.As(err, &stop) {
		return fmt.Errorf("a turn with a collision was to be refused: %v", err)
	}
	m.say("          a turn is refused: %v", err)
	if err := m.remove(ctx, migrate.Row{"pk": text("DAY#1999-12-31"), "sk": m.twin(ctx)}); err != nil {
		return err
	}
	if err := m.copyChanges(ctx); err != nil {
		return err
	}
	if c, err = m.sync.Compare(ctx, m); err != nil {
		return err
	}
	m.say("          one of the two is deleted; then %d differences, %d collisions, while the application goes on", len(c.Differences), c.Collisions)
	if !c.Clean() {
		return fmt.Errorf("the tables were to be equal: %+v", c)
	}
	return nil
}

// twin returns the sort key of the row that was imported twice.
func (m *move) twin(ctx context.Context) types.AttributeValue {
	out, err := m.engine.DynamoDB().Query(ctx, &dynamodb.QueryInput{TableName: aws.String(quakes),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: migrate.Row{":pk": text("DAY#1999-12-31")}})
	if err != nil || len(out.Items) != 1 {
		return text("?")
	}
	return out.Items[0]["sk"]
}

// message is an earthquake as the new application sends it.
func (m *move) message(id string) *event.Item {
	if m.sent.IsZero() {
		m.sent = m.now
	}
	item, err := m.pipeline.Plan(envelope.Message{Body: fmt.Sprintf(
		`{"id":%q,"net":"us","time":%d,"mag":4.5,"place":"5km N of Somewhere"}`, id, m.sent.UnixMilli())})
	if err != nil {
		panic(err) // the message is ours
	}
	return item
}

func (m *move) write(ctx context.Context) error {
	st, err := store.New(m.config())
	if err != nil {
		return err
	}
	early, _ := st.Put(ctx, []*event.Item{m.message("early")})
	if early[0].Verdict != event.Rejected {
		return fmt.Errorf("a message before the turn was to be Rejected: %s", early[0].Verdict)
	}
	m.say("WRITE     a message that comes before the turn is %s (%s)", early[0].Verdict, early[0].Refusal.Reason)
	m.stopped = true
	if err := m.turn(ctx); err != nil {
		return err
	}
	late, _ := st.Put(ctx, []*event.Item{m.message("early"), m.message("new")})
	if late[0].Verdict != event.Inserted || late[1].Verdict != event.Inserted {
		return fmt.Errorf("messages after the turn were to be Inserted: %s, %s", late[0].Verdict, late[1].Verdict)
	}
	m.say("          the application has stopped, capture has read all it wrote, and %s has turned: messages are %s", quake, late[0].Verdict)
	return m.rebuild(ctx, st)
}

// turn waits until the old table has been silent for long enough, compares, and turns.
func (m *move) turn(ctx context.Context) error {
	m.now = m.now.Add(2 * migrate.Quiet)
	c, err := m.sync.Compare(ctx, m)
	if err == nil && !c.Clean() {
		err = fmt.Errorf("the tables were to be equal: %+v", c)
	}
	if err == nil {
		err = m.copyChanges(ctx)
	}
	if err == nil {
		_, err = m.sync.Turn(ctx, migrate.Quiet)
	}
	return err
}

// rebuild counts what was copied, and adds up all events to prove the totals.
func (m *move) rebuild(ctx context.Context, st *store.Store) error {
	def, _ := m.pipeline.Definition("network_day")
	pass, err := repair.Of(st).BeginPass(ctx, def)
	if err != nil {
		return err
	}
	touched, err := repair.Of(st).Touch(ctx)
	if err != nil {
		return err
	}
	if err := m.count(ctx); err != nil {
		return err
	}
	differences, err := verify.Finish(ctx, m.pipeline, st, pass, m.now)
	if err != nil || len(differences) > 0 {
		return errors.Join(err, fmt.Errorf("totals differ: %v", differences))
	}
	m.say("          %d of the copies are counted now, and each total is the sum over its events", touched.Touched)
	return nil
}

// goBack makes the old table the source again, lets the application go on, and turns once more.
func (m *move) goBack(ctx context.Context) error {
	if err := m.copyChanges(ctx); err != nil {
		return err
	}
	key := m.message("new").ID
	row := migrate.Row{"pk": text(m.sent.Format("DAY#2006-01-02")), "sk": text(fmt.Sprintf("%d#%s", m.sent.UnixMilli(), key))}
	out, err := m.engine.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(quakes), Key: row})
	if err != nil || out.Item == nil {
		return errors.Join(err, errors.New("the event that came after the turn was to have a row in the old table"))
	}
	row["mag"], row["ms"], row["net"] = number("9"), out.Item["ms"], out.Item["net"]
	if err := m.put(ctx, row); err != nil { // by a job that nobody has stopped
		return err
	}
	c, err := m.sync.Compare(ctx, m)
	if err != nil || !c.Clean() {
		return errors.Join(err, fmt.Errorf("after the turn, the tables were to be equal: %+v", c))
	}
	m.say("BACK      the old table follows: %d rows, %d events, %d differences; a row that a forgotten job has changed is put right", c.Rows,
		c.Copies, len(c.Differences))
	for _, want := range []string{migrate.Draining, migrate.Old} {
		if err := m.copyChanges(ctx); err != nil {
			return err
		}
		state, err := m.sync.Back(ctx, migrate.Quiet)
		if err != nil || state != want {
			return errors.Join(err, fmt.Errorf("%s was to be %s", state, want))
		}
		m.now = m.now.Add(2 * migrate.Quiet)
	}
	writes := m.writes
	m.stopped = false
	added := migrate.Row{"pk": text(m.now.Format("DAY#2006-01-02")), "sk": text(fmt.Sprintf("%d#added", m.now.UnixMilli())),
		"net": text("us"),
		"ms":  number(fmt.Sprint(m.now.UnixMilli())), "mag": number("3.5")}
	if err := m.put(ctx, added); err != nil {
		return err
	}
	for range 5 {
		if err := m.work(ctx); err != nil {
			return err
		}
	}
	m.stopped = true
	if err := m.turn(ctx); err != nil {
		return err
	}
	m.say("          the old table is the source of %s again, and no event is lost; the application adds a row and changes %d; then %s turns once more",
		quake, m.writes-writes, quake)
	st, err := store.New(m.config())
	if err != nil {
		return err
	}
	return m.rebuild(ctx, st)
}

// count lets the streams function count what was stored.
func (m *move) count(ctx context.Context) error {
	for {
		done, err := m.counted.Poll(ctx)
		if m.now = m.now.Add(time.Second); err != nil || done.Idle() && m.counted.Drained() {
			return err
		}
	}
}

// canonical is one text for all spellings of a payload.
func canonical(text string) string {
	doc, err := event.ParseDocument(text)
	if err != nil {
		return ""
	}
	return string(keys.Canonical(nil, doc.Root(), nil))
}

// prove compares each row with its item by itself, and not by Compare.
func (m *move) prove(ctx context.Context) error {
	stored := map[event.Key]migrate.Row{}
	out, err := m.engine.DynamoDB().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(stack.Events)})
	if err != nil {
		return err
	}
	live := 0
	for _, img := range out.Items {
		stored[event.Key{PK: img["PK"].(*types.AttributeValueMemberS).Value, SK: img["SK"].(*types.AttributeValueMemberS).Value}] = img
		if img["type"] != nil {
			live++
		}
	}
	if out, err = m.engine.DynamoDB().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(quakes)}); err != nil {
		return err
	}
	equal := 0
	for _, row := range out.Items {
		for _, item := range m.mapping.Map(row).Items {
			img := stored[item.Key]
			data, _ := img["data"].(*types.AttributeValueMemberS)
			if data == nil || canonical(data.Value) != canonical(item.Data) {
				return fmt.Errorf("%s was to hold %s", item.Key, item.Data)
			}
			equal++
		}
	}
	if live != equal {
		return fmt.Errorf("%d rows have items, and the table holds %d", equal, live)
	}
	m.say("PROVED    %d rows, 2 of them of events that came after the first turn, and each has the item that it should have; nothing else is there",
		equal)
	return nil
}
