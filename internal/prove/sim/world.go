package sim

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/prove/sim/survey"
	"github.com/ingot-events/ingot/internal/prove/sim/tasks"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	eventsTable = stack.Events
	totals      = stack.Aggregates
	bucket      = stack.Bucket

	functionTimeout = stack.FunctionTimeout
)

type task = tasks.Task[*stage.Invocation]

// World is the world of a seed.
type World struct {
	stage.World
	plan Plan
	// compiled holds the pipelines.
	compiled map[edition]*pipeline.Pipeline

	asking bool // whether a request of the reader is
	reader reader
	ingot  *testworld.World
	dynamo recorder

	queues []*esm.Queue
	stream *stage.Mapping

	sandboxes []*sandbox
	roles     [3]map[string]*iam.Role // by the epoch of the newest code, and the function
	batches   []delivered
	counted   int               // batches, as long as the world lasts
	gaveUp    map[string][]byte // by shard: the last batch that failed

	sent        map[string]*message        // by body
	script      func(phase int) []*message // what producers send
	log         []*message                 // in the order they were sent
	carried     map[string]*message        // by payload
	orders      map[string][]*message      // with lines, by id
	firstSent   map[model.Fact]*message
	groups      map[string][]*message
	received    map[string]string // body by receipt handle
	quarantined map[string]int    // how many, by body

	model       *model.Model
	written     []written       // records of the stream that nobody has looked at yet
	shards      map[string]bool // the shards that had a record
	touched     []string
	newReceipts []string

	phase int
	stats survey.Stats

	// These are features: what a feature keeps, does and checks is in a file of its own.
	wholes    *wholes
	byPut     *byPut
	trouble   *trouble
	pollers   *pollers
	operators *operators
	verdicts  *verdicts
	arrays    *arrays
	requires  *requires
	ends      *ends
	states    *states
	pointers  *pointers
	offload   *offload
	strays    *strays
	stuck     *stuck
	damage    *damage
	looks     *looks
	claims    *claims
	lifetime  *lifetime
	spending  *spending
	rest      *rest
	people    *people
	packing   *packing
	notes     *notes
	heat      *heat
	dead      *dead
	erasures  *erasures
	archive   *archive
	replica   *replica
	account   *account
}

func newWorld(p Plan, trace bool) *World {
	draw := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, stream)) }
	w := &World{World: stage.World{Rng: draw(1), Faults: map[string]int{}}, plan: p,
		compiled: map[edition]*pipeline.Pipeline{}, carried: map[string]*message{},
		orders: map[string][]*message{}, sent: map[string]*message{},
		firstSent: map[model.Fact]*message{}, groups: map[string][]*message{}, received: map[string]string{}, quarantined: map[string]int{},
		shards: map[string]bool{}, gaveUp: map[string][]byte{}}
	w.script = w.burst
	w.replica = &replica{World: w, draw: draw(2)}
	w.account = &account{World: w, draw: draw(19)}
	w.looks = &looks{World: w, draw: draw(3)}
	w.wholes = &wholes{World: w, draw: draw(5)}
	w.packing = &packing{w, draw(9)}
	w.arrays = &arrays{w, draw(12)}
	w.requires = &requires{w, draw(21)}
	w.ends = &ends{w, draw(23)}
	w.states = &states{World: w, draw: draw(22)}
	w.pointers = &pointers{World: w, draw: draw(14), objects: map[string]*largeObject{}}
	w.offload = &offload{w, draw(17), map[string][]*invocation{}}
	w.strays = &strays{World: w, draw: draw(24)}
	w.dead = &dead{w, map[string]int{}}
	w.archive = &archive{w, map[model.Object]bool{}}
	w.spending = &spending{World: w, accepted: map[string]int{}}
	w.verdicts = &verdicts{w, map[model.Fact]bool{}}
	w.erasures = &erasures{w, map[string]int{}}
	w.trouble = &trouble{World: w, odds: odds{live: map[string]bool{}}, letters: newLetters()}
	w.stuck = &stuck{w, stranded{records: map[string]*strandedRecord{}}}
	w.byPut, w.pollers, w.damage, w.heat = &byPut{World: w}, &pollers{World: w}, &damage{World: w}, &heat{World: w}
	w.lifetime, w.people = &lifetime{World: w}, &people{World: w}
	w.operators, w.claims, w.rest, w.notes = &operators{w}, &claims{w}, &rest{w}, &notes{w}
	w.reader = reader{w: w, draw: draw(4)}
	w.Now = stage.Origin
	w.stats.Faults, w.stats.Verdicts = w.Faults, map[string]int{}
	w.Stepped, w.Fate, w.Carried, w.Answers = w.stepped, w.fate, w.wrote, w.answers
	if trace {
		w.Trace = &strings.Builder{}
	}
	config := embedded.Config{Seed: p.Seed, PartiQLReturnsItem: p.ReturnsItem, RollAfter: p.RollAfter,
		Partitions: w.partitions(), Behind: w.replica.behind, OnRecord: func(shard string, r streamtypes.Record) {
			w.written = append(w.written, written{shard, r})
		}}
	if err := w.build(context.Background(), config); err != nil {
		w.Fail(Broken, "building the world: %v", err)
	}
	return w
}

// partitions returns how many shards the stream begins with.
func (w *World) partitions() int {
	if w.plan.Still {
		return 1
	}
	return 2
}

func (w *World) build(ctx context.Context, engine embedded.Config) (err error) {
	w.ingot, err = w.Deploy(engine, stack.Config{Indexes: w.pipelineOf(1).Indexes(), FIFO: w.plan.FIFO, Receives: w.plan.Receives,
		Keep: 14 * 24 * time.Hour})
	if err != nil {
		return err
	}
	w.Person = stage.Person(payloadBucket, "erase", "query", "rebuild", "verify")
	w.dynamo = recorder{w.ingot.Engine.DynamoDB(), w}
	if w.plan.Pointers {
		w.Must(stack.CreateArchive(ctx, w.ingot.Engine.S3(), largeBucket))
	}
	if w.plan.Offload > 0 {
		w.Must(stack.CreateArchive(ctx, w.ingot.Engine.S3(), payloadBucket))
	}
	w.model = model.New(model.Config{Spread: w.plan.Spread, Retain: w.plan.retain(), Longer: w.plan.longer(), Patterns: w.plan.Patterns,
		LinesSince: w.plan.Parts, Monthly: w.plan.Values, Secret: w.plan.secret(), NewForm: w.plan.NewForm, PutSince: w.plan.Put,
		Ceiling: w.plan.Ceiling,
		Noted:   w.plan.Offload > 0, Transfers: w.plan.Transfers, Marks: w.plan.Counting == aggregate.Marks, ARN: w.ingot.StreamARN})
	return w.mapFunctions(ctx)
}

func (w *World) mapFunctions(ctx context.Context) error {
	for range w.plan.Ingests {
		q, err := w.ingot.MapQueue(ctx, esm.QueueConfig{Client: source{w}, BatchSize: w.plan.IngestBatch,
			Function: esm.Function{Handler: w.ingest, Faults: w.invocationFaults()}})
		if err != nil {
			return err
		}
		w.queues = append(w.queues, q)
	}
	var err error
	w.stream, err = w.newStream(w.plan.Counting == aggregate.Marks)
	return err
}

// newStream makes a mapping from the stream to the streams function. Only a mapping with a window
// names the shard.
func (w *World) newStream(window bool) (*stage.Mapping, error) {
	config := esm.StreamConfig{BatchSize: w.plan.StreamBatch, Bisect: w.plan.Bisect,
		Function: esm.Function{Handler: w.streams, Faults: w.invocationFaults()}}
	if window {
		config.Window = w.plan.Window
	}
	// This mapping never gives up. A mapping that did would have an on-failure destination. From
	// there, a person would deliver again what it was told of.
	config.OnFailure = func(inv esm.Invocation, err error) {
		w.gaveUp[inv.ShardID] = inv.Payload
		if config.Bisect && err != nil && len(inv.IDs) > 1 {
			w.Fault(bisected, inv.ShardID)
		}
	}
	config.OnDiscard = func(d esm.Discard) { w.pollers.deliverAgain(w.gaveUp[d.ShardID]) }
	s, err := w.ingot.MapStream(config)
	return &stage.Mapping{Stream: s}, err
}

func (w *World) invocationFaults() esm.Faults {
	f := &w.plan.Faults
	return w.InvocationFaults(&f.Duplicate, &f.DropAnswer, &f.Forget)
}

// read returns an item as it is now.
func (w *World) read(table, pk, sk string) map[string]types.AttributeValue {
	out, err := w.ingot.Engine.DynamoDB().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &table,
		ConsistentRead: aws.Bool(true),
		Key:            keyOfItem(pk, sk)})
	if err != nil {
		w.Fail(Broken, "read: %v", err)
		return nil
	}
	return out.Item
}
