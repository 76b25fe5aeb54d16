package scenario

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/handler"
)

// pollStream runs the stream command. On the way it passes the ends of windows and of shards.
func (w *world) pollStream(a *arguments, out *report) error {
	all := a.flag("all")
	if err := w.begin(a, out); err != nil {
		return err
	}
	for idle := 0; idle < 2; {
		p, err := w.stream.Poll(context.Background())
		if err != nil {
			return err
		}
		if p.Failed > 0 || (p.Invocations > 0 && !all) {
			break
		}
		if p.Idle() {
			idle++
		}
	}
	return w.trouble.unused()
}

// batch holds what a script needs to know about a batch of changes.
type batch struct {
	Records []struct {
		EventName    string
		UserIdentity *struct{ Type string }
		Dynamodb     struct {
			SequenceNumber string
			Keys           map[string]struct{ S string }
		}
	}
	ShardID string
	Window  *events.Window
}

func read(payload []byte) (b batch) {
	_ = json.Unmarshal(payload, &b)
	return b
}

// delivered reports what the streams function is given.
func (w *world) delivered(payload []byte) {
	b := read(payload)
	if len(b.Records) == 0 {
		w.out.linef("  < the end of window %s of shard %s", b.Window.Start.Format("15:04"), w.names.shard(b.ShardID))
		return
	}
	where := "no shard id"
	if b.ShardID != "" {
		where = fmt.Sprintf("shard %s, window %s", w.names.shard(b.ShardID), b.Window.Start.Format("15:04"))
	}
	w.out.linef("  < %s", where)
	for _, r := range b.Records {
		what := r.EventName
		if r.UserIdentity != nil {
			what += " by time to live"
		}
		w.out.row("  < "+w.names.records[r.Dynamodb.SequenceNumber], what, r.Dynamodb.Keys["PK"].S)
	}
}

func (w *world) answeredChanges(payload []byte, response handler.StreamResponse, err error) {
	switch {
	case err != nil:
		w.out.linef("  > failed: %s", w.names.people(err.Error(), 130))
	case len(response.BatchItemFailures) > 0:
		w.out.linef("  > go on from %s", w.names.records[response.BatchItemFailures[0].ItemIdentifier])
	case len(read(payload).Records) > 0:
		w.out.linef("  > all counted")
	}
}

// replay delivers the batch of an earlier invocation again.
func (w *world) replay(a *arguments, out *report) error {
	name, bare := a.word(), a.flag("without-shard")
	if name == "without-shard" {
		name, bare = a.word(), true
	}
	if err := w.begin(a, out); err != nil {
		return err
	}
	inv, err := w.invocation(name)
	if err != nil {
		return err
	}
	payload := inv.payload
	if bare {
		var event map[string]json.RawMessage
		if err := json.Unmarshal(payload, &event); err != nil {
			return err
		}
		payload, _ = json.Marshal(map[string]json.RawMessage{"Records": event["Records"]})
	}
	_, _ = w.count(context.Background(), payload) // its answer is reported, and nobody acts on it
	return w.trouble.unused()
}

func (w *world) invocation(name string) (*invocation, error) {
	for _, inv := range w.invocations {
		if inv.name == name {
			return inv, nil
		}
	}
	return nil, fmt.Errorf("there is no invocation %q", name)
}

// thaw lets a frozen invocation go on. Nobody waits for its answer any more.
func (w *world) thaw(a *arguments, out *report) error {
	inv, err := w.invocation(a.word())
	if err != nil {
		return err
	}
	if !inv.frozen {
		return fmt.Errorf("%s is not frozen", inv.name)
	}
	if err := w.begin(a, out); err != nil {
		return err
	}
	out.linef("%s goes on", inv.name)
	_, _ = w.resume(inv)
	return w.trouble.unused()
}

// checkpoint remembers where the stream's mapping stands, or goes back to it.
func (w *world) checkpoint(a *arguments, out *report) error {
	switch what, name := a.word(), a.word(); what {
	case "save":
		w.checkpoints[name] = w.stream.Checkpoint()
		out.linef("%s remembered", name)
	case "restore":
		saved, ok := w.checkpoints[name]
		if !ok {
			return fmt.Errorf("there is no checkpoint %q", name)
		}
		var err error
		if w.stream, err = w.MapStream(w.streamConfig); err != nil {
			return err
		}
		w.stream.Restore(saved)
		out.linef("the mapping is back at %s", name)
	default:
		return fmt.Errorf("save or restore, not %q", what)
	}
	return nil
}

// remap makes the stream's mapping anew, with another window.
func (w *world) remap(a *arguments, out *report) (err error) {
	w.streamConfig.Window = a.duration("window", 0)
	w.stream, err = w.MapStream(w.streamConfig)
	out.linef("a mapping with a window of %v", w.streamConfig.Window)
	return err
}
