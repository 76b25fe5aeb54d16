// Package moving runs random worlds in which a live table moves into an Ingot table: an application
// writes the old one all the while, its stream is read by two pollers side by side, passes run and
// are restarted, and requests are lost, late and repeated. At rest, the copy must be the image of
// its source. A seed always makes the same world.
package moving

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify/sums"
)

// These are the promises that a world checks.
const (
	Stale    stage.Check = "stale-copy"  // a copy is not what its row says, or is missing
	Revived  stage.Check = "revived"     // an item is there of a row that is gone
	Unnamed  stage.Check = "unnamed"     // two rows claim a key, and the item does not say so
	Early    stage.Check = "early"       // an event is stored before its type has turned, or refused after it
	Lost     stage.Check = "lost"        // an event that a producer was told is stored is not
	Wrong    stage.Check = "wrong-total" // rebuilt, and the totals are not the sum over the items
	Returned stage.Check = "returned"    // an event that was erased is there again
	Alarmed  stage.Check = "alarmed"     // the schedule calls a total damaged that is not
	Missed   stage.Check = "missed"      // a comparison reports what is no difference, or does not report what is one
)

const (
	oldTable = "old"
	pipe     = `ingot: 1
epoch: 1
events:
  user.profile:
    id: "{account}"
    at: "{created}"
    retain: 60d
    migrated: users
    key: {pk: "ACCOUNT#{account}", sk: "USER"}
%s    indexes: {GSI1: {pk: "NAME#{name}", sk: "{@at | day}"}}
aggregates:
  users: {since: 1, onExpire: %s, by: {account: "{account}", plan: "{plan}"}, rank: {value: spent, within: [plan]},
    from: {user.profile: {values: {users: count, spent: sum spent}}}}
`
	mapping = `migration: 1
name: users
from: {table: old}
rows:
  - where: kind = "session"
    skip: sessions are not carried over
  - type: user.profile
    payload: {user: "{pk | split:2}", account: "{account}", created: "{at}", name: "{name}", plan: "{plan}", spent: "{spent}"}
`
	latest = `    mode: latest
    revision: spent number
`
	back = `back:
  user.profile: {pk: "USER#{user}", at: "{created}", account: "{account}", name: "{name}", plan: "{plan}", spent: "{spent}"}
`
)

type world struct {
	stage.World
	units    *rand.Rand  // draws in which units of work a comparison is done
	sums     sums.Config // of comparisons; no segments: they are done at once
	engine   *embedded.Engine
	mapping  *rowmap.Mapping
	old      migrate.Source
	apps     int // applications that still write
	version  int
	erased   map[string]bool // keys
	pipeline *pipeline.Pipeline
	roles    struct{ capture, streams, ingest *iam.Role }
	captures []*esm.Stream // of the old table, while it is the source
	counted  *esm.Stream   // of the new table
	polled   time.Time     // when the last poll of it that has ended began
	mapped   stage.Changed // all mappings
	readers  *stage.Readers
	stalls   float64   // how many answers a process holds in its hands for long
	slow     float64   // how many answers take long
	written  time.Time // when somebody wrote the old table last
	passed   int       // passes that ended
	gap      bool      // records of the stream were lost, so another pass is needed
	filling  bool      // somebody runs passes until none is needed
	blind    bool      // the stream is off now
	blinded  int       // how often it was off
	sighted  time.Time // when it was on again
	still    bool
	off      bool                   // the mapping of capture is
	latest   bool                   // events have revisions, so producers change those that were moved
	hot      bool                   // most writes are of two rows
	goesBack bool                   // there is a way back, so capture goes on after the turn
	backward bool                   // the new table is the source
	turning  bool                   // the old application has stopped, except for a forgotten job
	leaving  bool                   // the types go back, so messages may be refused
	returned bool                   // they have
	watched  bool                   // the schedule verifies all totals again and again
	produced map[string]string      // by key: what a producer was told is stored
	tooEarly map[string]bool        // payloads that were sent before the turn
	wrote    map[string]string      // by key: the version that an application wrote last; "" if it deleted the row
	before   map[string]migrate.Row // by key: what a row was before it was written last
	ends     time.Time              // when the row of one user expires, as does its item; zero: never
	anew     string                 // a table that was created anew, and is empty
	noise    map[string]bool        // rows that a forgotten job wrote as the sides were exchanged
}

// Live lives the world of a seed to its end. In a still one, nothing goes wrong.
func Live(seed uint64, still bool) stage.Result {
	w := &world{World: stage.World{Rng: rand.New(rand.NewPCG(seed, 41)), Calm: still, Odds: odds}, erased: map[string]bool{}, still: still,
		slow: few, produced: map[string]string{}, tooEarly: map[string]bool{}, wrote: map[string]string{},
		before: map[string]migrate.Row{}, noise: map[string]bool{}}
	w.Answers = w.takeLong
	w.units = rand.New(rand.NewPCG(seed, 43))
	features := rand.New(rand.NewPCG(seed, 47))
	w.latest, w.hot = features.IntN(2) == 0, features.IntN(2) == 0
	w.watched = features.IntN(4) == 0
	if !still {
		w.sums = sums.Config{Segments: w.units.IntN(4), Buckets: 1 + w.units.IntN(3), Memory: 1 + w.units.IntN(3000),
			Every: time.Minute, Work: &testworld.Folder{}}
	}
	w.Now = stage.Origin
	defer w.KillAll()
	w.Must(w.build(seed))
	if w.watched {
		w.Spawn("schedule", nil, w.watch)
	}
	if w.Failure == nil {
		w.lives(still)
	}
	return w.Result()
}

func (w *world) build(seed uint64) error {
	ctx := context.Background()
	deployed, err := w.Deploy(embedded.Config{Seed: seed, RollAfter: 2 * time.Hour}, stack.Config{Indexes: []string{"GSI1"}})
	if err != nil {
		return err
	}
	w.engine = deployed.Engine
	arn, err := stack.Table{Name: oldTable, Keys: [2]string{"pk", "at"}, Stream: true}.Create(ctx, w.engine.DynamoDB())
	if err != nil {
		return err
	}
	w.old = migrate.Source{Client: w.client(), Describer: w.client(), Table: oldTable, Keys: []string{"pk", "at"}, ID: "1", EventsID: "1",
		Stream: arn, Events: deployed.StreamARN,
		Kinds: []types.ScalarAttributeType{"S", "S"}}
	mode, expiring := "", "keep"
	if w.latest {
		mode, expiring = latest, "subtract"
	}
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: fmt.Appendf(nil, pipe, mode, expiring)}}, "p.yaml")
	if err != nil {
		return err
	}
	w.pipeline = p
	w.Person = roleOf("migrate")
	w.roles.capture, w.roles.streams, w.roles.ingest = iam.Capture(p), iam.Streams(p), iam.Ingest(p)
	text := mapping
	if w.goesBack = w.Chance(0.5); w.goesBack {
		text += back
	}
	if w.mapping, err = rowmap.Load(fstest.MapFS{"m.yaml": {Data: []byte(text)}}, "m.yaml", p); err != nil {
		return err
	}
	if w.Chance(0.25) {
		w.ends = w.Now.Add(25*time.Hour + time.Duration(w.Rng.IntN(240))*time.Minute)
	}
	w.stalls = []float64{0.2, 0.02}[w.Rng.IntN(2)]
	w.Spawn("time to live", nil, w.sweep)
	w.write(15)
	w.Now = w.Now.Add(25 * time.Hour) // these are no longer in the stream when capture begins
	w.Change(&w.mapped, "Creating")
	w.readers = stage.NewReaders(&w.World, 1+min(1, w.Rng.IntN(6))) // the tables may have replicas
	for range 1 + w.Rng.IntN(2) {                                   // sometimes two pollers side by side
		for side, of := range []string{arn, deployed.StreamARN} {
			if side > 0 && !w.goesBack {
				continue
			}
			stream, err := deployed.MapStream(esm.StreamConfig{Client: w.readers.Reader(w.engine.Streams()), ARN: of,
				BatchSize: 1 + w.Rng.IntN(8), Window: time.Minute,
				Function: esm.Function{Handler: w.capture, Timeout: stage.FunctionTimeout}})
			if err != nil {
				return err
			}
			w.captures = append(w.captures, stream)
			w.Spawn("poller", nil, func() { w.poll(stream, &w.off) })
		}
	}
	stream, err := deployed.MapStream(esm.StreamConfig{Client: w.readers.Reader(w.engine.Streams()),
		BatchSize: 1 + w.Rng.IntN(8), Window: time.Minute,
		Function: esm.Function{Handler: w.count, Timeout: stage.FunctionTimeout}})
	if err != nil {
		return err
	}
	w.counted = stream
	w.Spawn("poller", nil, func() { w.poll(stream, new(bool)) })
	_, err = w.sync().Begin(ctx)
	return err
}

// These say how many answers take long: more while the sides are exchanged, because then it matters
// who is still at work.
const few, many = 0.08, 0.25

// sync returns a sync in a process of its own.
func (w *world) sync() *migrate.Migration {
	s, err := migrate.NewMigration(w.mapping, w.old, w.Tables(w.client(), nil))
	w.Must(err)
	return s
}

func (w *world) lives(still bool) {
	w.application()
	if w.Chance(0.4) {
		w.Spawn("eraser", nil, w.erase)
	}
	w.People(w.early)
	if w.Chance(0.3) {
		w.People(w.streamOff)
	}
	if w.Chance(0.3) {
		w.People(func() { w.Sleep(10 * time.Minute); w.rebuild() }) // of an aggregate that has nothing to do with it
	}
	w.Spawn("backfill", nil, w.fill)
	if w.Chance(0.5) {
		w.Spawn("backfill", nil, func() { w.backfill(2) })
	}
	w.run(func() bool { return w.apps == 0 && w.passed > 0 && !w.gap })
	if !w.ends.IsZero() {
		w.People(func() {
			w.Park(w.ends.Add(time.Hour), func() bool { return false })
			w.pass() // the item of a key that two rows claim may have expired, which no stream of the old table tells
		})
	}
	if w.rest(); w.Failure == nil {
		w.check()
	}
	if w.Failure == nil {
		w.compare()
	}
	if w.Failure == nil {
		w.tidy()
	}
	if w.Failure == nil && w.Chance(0.1) {
		w.createAnew()
		return
	}
	if w.Failure == nil {
		w.turn()
	}
	if w.Failure == nil && w.goesBack && w.Chance(0.1) {
		w.createAnew()
		return
	}
	for again := w.goesBack; again && w.Failure == nil; again = w.Chance(0.3) {
		for _, step := range []func(){w.goBack, w.application, w.rest, w.check, w.tidy, w.turn} {
			if w.Failure == nil {
				step()
			}
		}
	}
	if w.Failure == nil && w.Chance(0.5) {
		w.Calm, w.off, w.captures = w.still, true, nil // nothing goes back any more
		w.People(w.retire)
		if w.rest(); w.Failure == nil {
			w.checkTotals()
		}
	}
}

// application writes rows for a while.
func (w *world) application() {
	w.apps++
	w.Spawn("application", nil, func() {
		writes := 10 + w.Rng.IntN(25)
		if w.Chance(0.25) {
			writes *= 6 // it goes on beside later passes
		}
		for range writes {
			w.SleepUpTo(40)
			w.write(1)
		}
		w.apps--
	})
}

// rest stops the faults and waits until everything that was written is done.
func (w *world) rest() {
	w.Calm = true
	quiet := func() bool { return w.Late == 0 && w.Working == 0 && w.apps == 0 }
	w.run(quiet)
	rested := w.Now.Add(30 * time.Minute) // pollers have not seen what was written last
	w.run(func() bool { return w.Now.After(rested) && quiet() && w.drained() })
}

// drained reports whether all pollers have done what was written.
func (w *world) drained() bool {
	return !slices.ContainsFunc(append(w.captures, w.counted), func(s *esm.Stream) bool { return !s.Drained() })
}

// run lets tasks go on until a condition holds.
func (w *world) run(until func() bool) {
	w.Run(until, func() string {
		return fmt.Sprintf("after %s: %d passes, gap %t, at work %d, writing %d, late %d, drained %t", w.Now.Sub(stage.Origin), w.passed,
			w.gap, w.Working, w.apps, w.Late, w.drained())
	})
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func keyText(img migrate.Row) string {
	return strings.Join([]string{text(img["PK"]), text(img["SK"])}, " ")
}

// roleOf returns the role of somebody who runs a command by its policy.
func roleOf(command string) *iam.Role {
	r := stage.Person("", command)
	for _, s := range r.Statements {
		for i := range s.Resources {
			s.Resources[i] = strings.Replace(s.Resources[i], "OLD-TABLE", oldTable, 1)
		}
	}
	return r
}
