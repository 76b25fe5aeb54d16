package handler_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// lambdas are what Lambda does in a function's name: it reads the source, logs and traces. It lists
// the streams of a region, too.
func lambdas(r iam.Right) bool {
	service, action, _ := strings.Cut(r.Action, ":")
	return service == "logs" || service == "xray" || service == "sqs" && action != "SendMessage" || action == "ListStreams" ||
		strings.HasSuffix(r.On, "/stream/*")
}

// Both roles allow exactly what the functions do. Every world of this package fails if a call is
// denied. Here the functions run every sample event, as it is and under each kind of fault, in both
// ways of counting, and with each feature for which a role has rights of its own.
func TestEachRightIsNeeded(t *testing.T) {
	type right struct {
		role string
		iam.Right
	}
	unused := map[right]bool{}
	var worlds []*world
	run := func(do func(*world), options ...func(*setup)) {
		w := newWorld(t, options...)
		worlds = append(worlds, w)
		do(w)
	}
	all := samples.Read(t, "..")
	for _, s := range all.Files {
		for _, c := range bothWays {
			if len(s.Counting) > 0 && !slices.Contains(s.Counting, c.String()) {
				continue
			}
			for i, faults := range faultsOfEachKind() {
				run(func(w *world) {
					if s.Function == "streams" {
						w.started()
					}
					w.faults = faults
					for _, file := range append(slices.Clone(s.After), s.File) {
						_, _ = w.runFile(t, s.Function, file) // its outcome does not matter
					}
				}, counting(c), func(u *setup) {
					u.store.Region = "us-east-1"
					u.store.OneByOne = i % 2 // every other kind meets totals that are written by statements
					u.load = func() (*pipeline.Pipeline, error) {
						return pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte(all.Key)))
					}
				})
			}
		}
	}
	for _, faults := range faultsOfEachKind() {
		run(func(w *world) {
			old, err := w.plan.Plan(envelope.Message{Body: account("a", "x@y")})
			must.Succeed(t, err)
			old.Parts = nil // as an older function put it
			w.store.Put(t.Context(), []*event.Item{old})
			w.faults = faults
			for range 2 { // one after the other: the claim of the second must meet that of the first
				w.receive(messages(account("a", "x@y")))
				w.receive(messages(account("b", "x@y"), order("1", 1)))
			}
		}, accounts)
		run(func(w *world) {
			w.withObjects(map[string]string{"1": order("1", 1)})
			w.faults = faults
			w.receive(messages(pointer("1"), pointer("2"), "poison"))
		})
	}
	run(func(w *world) { // its secret is checked, and a migration says whether the type has turned
		w.receive(messages(body(person()), body(plainEvent())))
	}, secretive, func(s *setup) {
		s.load = loaded(strings.Replace(private, "mode: latest", "migrated: old\n    mode: latest", 1), ownSecret)
	})
	run(func(w *world) { // payloads are stored, read, found missing, deleted and archived
		w.started().receive(messages(long("1", 1), long("2", 1)))
		w.receive(messages(long("1", 2)))
		item, err := w.plan.Plan(envelope.Message{Body: long("2", 1)})
		must.Succeed(t, err)
		_, err = repair.Of(w.store).Erase(t.Context(), item.Key)
		must.Succeed(t, err)
		w.receive(messages(long("2", 1)))
		image := w.image(long("1", 1))
		w.expect(batch(expiry(1, image)), done)
		w.gone(long("1", 1))
		w.receive(messages(long("1", 2)))
		w.expect(batch(expiry(2, image)), done)
	}, offloading)

	for _, w := range worlds {
		for _, role := range []*iam.Role{w.IngestRole, w.StreamsRole} {
			for _, r := range role.Rights() {
				unused[right{role.Name, r}] = true
			}
		}
	}
	for _, w := range worlds {
		for _, role := range []*iam.Role{w.IngestRole, w.StreamsRole} {
			for _, r := range role.Used() {
				delete(unused, right{role.Name, r})
			}
		}
	}
	for r := range unused {
		if !lambdas(r.Right) {
			t.Errorf("%s allows %s on %s, which its function never calls", r.role, r.Action, r.On)
		}
	}
}

// faultsOfEachKind returns the faults of each run. One run has none. The others have one fault of
// each kind, at the first call of every API.
func faultsOfEachKind() [][]fault {
	runs := [][]fault{nil}
	for _, kind := range []fault{{Before: errLost}, {After: errLost}, {Before: &types.ProvisionedThroughputExceededException{}},
		{Before: &types.ConditionalCheckFailedException{}}, // without the item, as if it did not exist
		{Before: &smithy.GenericAPIError{Code: "ValidationException"}}, {Before: &smithy.GenericAPIError{Code: "AccessDenied"}}} {
		var run []fault
		for _, api := range []string{"PutItem", "UpdateItem", "GetItem", "BatchGetItem", "BatchExecuteStatement", "TransactWriteItems",
			"SendMessageBatch", "PutObject"} {
			one := kind
			one.API = api
			run = append(run, one)
		}
		runs = append(runs, run)
	}
	return runs
}
