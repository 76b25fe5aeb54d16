package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// removes takes an item out of the table, as a person or time to live does.
func (w *world) removes(key event.Key) {
	w.t.Helper()
	w.removesFrom(stack.Events, key)
}

func (w *world) removesFrom(table string, key event.Key) {
	w.t.Helper()
	w.Delete(w.t, table, itemKey(key))
}

// changed opens the tables with a changed pipeline.
func (w *world) changed(change func(*pipeline.Spec)) *store.Store {
	w.t.Helper()
	spec := w.plan.Describe().Spec
	change(&spec)
	return w.open(tables.Config{Pipeline: w.compile(spec),
		Env: w.Env, Objects: w.Engine.S3(), PayloadBucket: stack.Payloads})
}

// ofType changes the declaration of one type.
func ofType(name string, change func(*pipeline.EventSpec)) func(*pipeline.Spec) {
	return func(s *pipeline.Spec) {
		e := s.Events[name]
		change(&e)
		s.Events[name] = e
	}
}

// inside keeps every payload in its item.
func inside(s *pipeline.Spec) {
	for name := range s.Events {
		ofType(name, func(e *pipeline.EventSpec) { e.Offload = pipeline.OffloadSpec{} })(s)
	}
}

// tagged makes parts of the tags of a post.
func tagged(s *pipeline.Spec) {
	adds(s, `events: {tag: {part: {of: post, each: tags, with: [id]}, id: "{id}#{n}", key: {pk: "POST#{id}", sk: "TAG#{n}"}}}`)
}

// erased fails unless each of these keys is barred, or released if its item is a claim.
func (w *world) erased(items ...*event.Item) {
	w.t.Helper()
	for _, item := range items {
		if lies := w.lies(item.Key); !strings.Contains(lies, "i:barred=BOOL true") && (lies != "" || item.Type != "email") {
			w.t.Errorf("%s remains as %s", item.Key, lies)
		}
	}
}

// The pipeline has changed since a whole was stored, so that it makes not all of the stored parts.
// Erasing says so and changes nothing, because nothing but the whole leads to the others. With
// those that somebody has found, it erases all.
func TestErasePartsOfAnotherPipeline(t *testing.T) {
	without := func(names ...string) func(*pipeline.Spec) {
		return func(s *pipeline.Spec) {
			for _, name := range names {
				delete(s.Events, name)
			}
			delete(s.Aggregates, "rows")
		}
	}
	row := func(change func(*pipeline.EventSpec)) func(*pipeline.Spec) { return ofType("row", change) }
	for name, c := range map[string]struct {
		change func(*pipeline.Spec)
		left   []int // the parts that the pipeline does not make
		says   string
	}{
		"a type of parts is gone":        {without("row"), []int{1, 2}, "3 were stored with it (i:parts), and 1 are under"},
		"all types of parts are gone":    {without("row", "owner"), []int{0, 1, 2}, "and 0 are under"},
		"the parts have other keys":      {row(func(e *pipeline.EventSpec) { e.Key.SK = "LINE#{n}" }), []int{1, 2}, "and 1 are under"},
		"the parts are made differently": {row(func(e *pipeline.EventSpec) { e.Part.Each = "lines" }), []int{0, 1, 2}, "cannot make them"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, carts)
			item := w.cart("a", 1, 2)
			w.keep(item)
			later := w.changed(c.change)
			all := append(events{item}, item.Parts.Items...)
			var before []string
			for _, i := range all {
				before = append(before, w.lies(i.Key))
			}
			for range 2 {
				_, err := repair.Of(later).Erase(deadline(t), item.Key)
				_, _, looked := repair.Of(later).PartsToErase(deadline(t), item.Key, nil, false)
				for _, err := range []error{err, looked} {
					if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "ingot erase with --scan") {
						t.Fatal(err)
					}
				}
			}
			for n, i := range all {
				if w.lies(i.Key) != before[n] {
					t.Errorf("refused, and %s is now %s", i.Key, w.lies(i.Key))
				}
			}
			var found events
			for _, n := range c.left {
				found = append(found, item.Parts.Items[n])
			}
			whole, parts, err := repair.Of(later).PartsToErase(deadline(t), item.Key, found, false)
			if err != nil || whole == nil || len(parts) < 3 {
				t.Errorf("%v, %d parts, %v", whole, len(parts), err)
			}
			if erased, err := repair.Of(later).EraseWith(deadline(t), item.Key, found, false); err != nil || !erased {
				t.Fatal(erased, err)
			}
			w.erased(all...)
		})
	}
}

// Somebody has removed a part by hand, or its message is still being stored. Erasing says so. A
// caller that has read the whole table knows better.
func TestErasePartsThatAreMissing(t *testing.T) {
	w := newWorld(t, carts)
	item := w.cart("a", 1, 2)
	w.keep(without(item, func(i int) bool { return i != 1 }))
	_, err := w.erase(item.Key)
	must.Fail(t, err, "If its message is being stored")
	if erased, err := w.repair().EraseWith(deadline(t), item.Key, nil, true); err != nil || !erased {
		t.Fatal(erased, err)
	}
	w.erased(append(item.Parts.Items, item)...)

	// Time to live has removed one of the parts before its whole.
	old := w.item(`"type":"cart"`, `"id":"b"`, `"owner":"o"`, `"at":"`+epoch.AddDate(0, 0, -80).Format(time.RFC3339)+`"`,
		`"rows":[{"n":0,"sku":"s","pieces":1}]`)
	w.keep(old)
	w.Clock.Set(epoch.AddDate(0, 0, 11))
	w.removes(old.Parts.Items[1].Key)
	if erased, err := w.erase(old.Key); err != nil || !erased {
		t.Error(erased, err)
	}
}

// The parts of a whole that has expired may live on. Erasing the whole says that they may be left,
// until somebody has looked for them. A claim among them is released.
func TestErasePartsThatOutliveTheirWhole(t *testing.T) {
	w := newWorld(t, accounts, func(s *setup) {
		for _, name := range []string{"email", "row"} {
			e := s.Events[name]
			e.Retain = 900 * 24 * time.Hour
			s.Events[name] = e
		}
	})
	a := w.account("a", "x@y", 1)
	w.keep(a)
	w.removes(a.Key)
	for range 2 {
		_, err := w.erase(a.Key)
		must.Fail(t, err, "may still be stored, because these types have a longer retain than their whole: email, row.")
	}
	w.erased(a)
	// Other keys are barred in advance as before, also those of parts.
	for _, key := range []event.Key{w.order("1", 1).Key, a.Parts.Items[1].Key} {
		must.Succeed(t, errorOf(w.erase(key)))
	}
	if erased, err := w.repair().EraseWith(deadline(t), a.Key, a.Parts.Items, true); err != nil || erased {
		t.Error(erased, err)
	}
	w.erased(a.Parts.Items...)
	w.says("account b x@y 0", "Inserted")

	// Their retain may have been that of the whole before, or be so from now on.
	for name, was := range map[string]func(whole, part *pipeline.EventSpec){
		"the whole was kept for less": func(whole, part *pipeline.EventSpec) {
			part.Retain, whole.Was = whole.Retain, []pipeline.WasSpec{{Retain: 24 * time.Hour, Before: epoch}}
			part.Was = []pipeline.WasSpec{{Retain: 48 * time.Hour, Before: epoch}}
		},
		"the parts were kept for longer earlier": func(whole, part *pipeline.EventSpec) {
			part.Retain, whole.Was = whole.Retain, []pipeline.WasSpec{{Retain: 24 * time.Hour, Before: epoch}}
			part.Was = []pipeline.WasSpec{{Retain: 24 * time.Hour, Before: epoch.AddDate(0, -1, 0)}}
		},
		"the parts are kept for ever": func(_, part *pipeline.EventSpec) {
			part.Retain, part.Was = 0, []pipeline.WasSpec{{Retain: 900 * 24 * time.Hour, Before: epoch}}
		},
	} {
		s := w.changed(func(s *pipeline.Spec) {
			whole, part := s.Events["account"], s.Events["row"]
			was(&whole, &part)
			s.Events["account"], s.Events["row"] = whole, part
			delete(s.Events, "email")
		})
		if _, err := repair.Of(s).Erase(deadline(t), under("ACCOUNT#"+name, "ACCOUNT")); err == nil ||
			!strings.Contains(err.Error(), "their whole: row.") {
			t.Errorf("%s: %v", name, err)
		}
	}

	// What is stored with its parts is erased with them, and so it stays.
	c := w.account("c", "c@y", 1)
	w.keep(c)
	for want := range 2 {
		if erased, err := w.erase(c.Key); err != nil || erased != (want == 0) {
			t.Error(erased, err)
		}
	}
}

// The claim of another whole stays, whatever the caller has found.
func TestEraseLeavesTheClaimOfAnother(t *testing.T) {
	w := newWorld(t, accounts)
	a, b := w.account("a", "x@y", 1), w.account("b", "x@y", 1)
	w.keep(b)
	_, err := w.repair().EraseWith(deadline(t), a.Key, a.Parts.Items[:1], false)
	must.Succeed(t, err)
	if whole, parts := w.lieThere(b); !whole || parts != 2 {
		t.Errorf("the owner after another one was erased: %v, %d parts", whole, parts)
	}
	w.erased(a)
}

// A claim cannot be erased alone. The error says under which key its whole is, if the claim shows
// that.
func TestEraseOfAClaimNamesItsWhole(t *testing.T) {
	w := newWorld(t, accounts, func(s *setup) {
		e := s.Events["email"]
		e.Part.With = append(e.Part.With, "id")
		s.Events["email"] = e
	})
	a := w.account("a", "x@y", 1)
	w.keep(a)
	_, err := w.erase(a.Parts.Items[0].Key)
	if err == nil || !strings.HasSuffix(err.Error(), "erase the account that holds it, under the key ACCOUNT#a / ACCOUNT") {
		t.Error(err)
	}
}

// A payload is deleted with its event, although neither the item nor today's pipeline says that the
// type has ever had offload: a copy may have put it in the meantime.
func TestErasePayloadOfACopy(t *testing.T) {
	w := newWorld(t, posts)
	plain := w.changed(inside)
	body := []string{`"type":"post"`, `"id":"1"`, `"at":"2099-03-01T10:00:00Z"`, `"pages":7`, `"text":"` + lorem + `"`}
	item := w.itemOf(plain.Config().Pipeline, body...)
	for _, before := range []bool{true, false} { // the item, and a key that holds nothing
		if results, _ := plain.Put(deadline(t), events{item}); before && verdicts(results) != "Inserted" {
			t.Fatal(results)
		}
		if !before {
			w.removes(item.Key)
		}
		w.arrive(w.item(append(body, `"more":1`)...)) // a conflict, which puts its payload
		if !before {
			w.removes(item.Key)
		}
		if w.objects() == 0 {
			t.Fatal("no copy has put its payload")
		}
		if _, err := repair.Of(plain).Erase(deadline(t), item.Key); err != nil || w.objects() != 0 {
			t.Errorf("stored %v: %v, and %d objects are left", before, err, w.objects())
		}
		w.removes(item.Key)
	}
}

// If a read of parts is denied, Erase says so at once.
func TestErasePartsRefused(t *testing.T) {
	w := newWorld(t, accounts)
	whole := w.account("u-1", "a@example.com", 2)
	w.keep(whole)
	w.faults = []fault{{API: "BatchGetItem", Before: errDenied,
		Always: true}}
	if _, err := w.repair().Erase(context.Background(), whole.Key); err == nil ||
		!strings.Contains(err.Error(), "not authorized") ||
		w.slept > 0 {
		t.Errorf("%v after %d waits", err, w.slept)
	}
}

// An error of S3 does not mean that nothing is there. Whatever request fails, and however, erasing
// returns an error, and the next call finds all that is left.
func TestEraseBelievesNoError(t *testing.T) {
	all := map[string]error{"denied": coded("AccessDenied"), "slow down": coded("SlowDown"), "internal": coded("InternalError"),
		"lost": errLost, "of a bucket": coded("NoSuchBucket"), "of a version": coded("NoSuchVersion"),
		"of a method": coded("MethodNotAllowed")}
	for _, api := range []string{"GetObject", "ListObjectsV2", "DeleteObjects"} {
		for name, failure := range all {
			t.Run(api+" "+name, func(t *testing.T) {
				w := newWorld(t, posts)
				whole := w.post("post", "1", `"tags":[{"n":1,"text":"`+lorem+`"}]`)
				w.keep(whole)
				later := w.changed(func(s *pipeline.Spec) { // the item does not keep what this part is made of
					tagged(s)
					ofType("tag", func(e *pipeline.EventSpec) { e.Offload.Over = 1 << 10 })(s)
				})
				must.Succeed(t, later.Start(deadline(t)))
				if p, err := repair.Of(later).PutParts(deadline(t)); err != nil || p.Put != 1 || w.objects() != 2 {
					t.Fatalf("%+v, %v, %d objects", p, err, w.objects())
				}
				w.faults = []fault{{API: api, Before: failure, Always: true}}
				if erased, err := repair.Of(later).Erase(context.Background(), whole.Key); err == nil ||
					!errors.Is(err, failure) { // bounded by rounds
					t.Fatalf("%v, %v", erased, err)
				}
				if api == "GetObject" && strings.Contains(w.lies(whole.Key), "barred") {
					t.Error("the key is barred, and nobody has looked for its parts")
				}
				w.faults = nil
				_, err := repair.Of(later).Erase(deadline(t), whole.Key)
				must.Succeed(t, err)
				w.erased(whole, &event.Item{Key: under("POST#1", "TAG#1")})
				must.Equal(t, w.objects(), 0)
			})
		}
	}
}

// Each object that is deleted has an answer of its own.
func TestEraseReadsTheAnswersOfObjects(t *testing.T) {
	w := newWorld(t, posts)
	item := w.post("post", "1")
	w.keep(item)
	s := w.open(tables.Config{Env: w.Env,
		Objects: keptObjects{w.Engine.S3()}, PayloadBucket: stack.Payloads})
	_, err := repair.Of(s).Erase(context.Background(), item.Key)
	must.Fail(t, err, "InternalError")
}

// keptObjects is S3 that deletes no object, and says so in its answer.
type keptObjects struct{ *embedded.S3 }

func (k keptObjects) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	return &s3.DeleteObjectsOutput{Errors: []s3types.Error{{Key: in.Delete.Objects[0].Key, Code: aws.String("InternalError")}}}, nil
}

func coded(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }

// If a payload is lost, and the item does not hold what its parts are made of, nobody knows them.
func TestErasePartsOfALostPayload(t *testing.T) {
	w := newWorld(t, posts)
	whole := w.post("post", "1", `"tags":[{"n":1}]`)
	w.keep(whole)
	w.loses(whole)
	later := w.changed(tagged)
	_, err := repair.Of(later).Erase(deadline(t), whole.Key)
	must.Fail(t, err, "cannot make them: the payload is lost")
	must.Succeed(t, errorOf(repair.Of(later).EraseWith(deadline(t), whole.Key, nil, true)))
	w.erased(whole)
}
