package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// looks are verifications while events are under way.
type looks struct {
	*World
	draw    *rand.Rand // draws how people verify
	looking *looking   // nil if nobody verifies while events are under way
}

// verified verifies the tables at rest, in one of the ways in which a person may do it: in
// segments, with sums that do not fit into memory, broken off and resumed.
func (w *looks) verified(epoch int64) (*verify.Report, error) {
	draw := w.draw
	env := w.Env(w.Rng.Float64, 0)
	env.Sleep = func(context.Context, time.Duration) error { return context.DeadlineExceeded } // nobody else runs
	pages := &stage.ShortPages{Client: w.ingot.Engine.DynamoDB(), Limit: int32(20 + draw.IntN(60))}
	c := verify.Config{Pipeline: w.pipelineOf(epoch), Source: verify.SourceOf(w.operators.storeOf(pages, epoch, env)),
		Config: sums.Config{Env: env}}
	c.Env.Rand = draw.Float64
	if w.plan.Still || draw.IntN(2) == 0 {
		return verify.Run(context.Background(), c)
	}
	c.Memory, c.Buckets, c.Work = 1+draw.IntN(4000), 1+draw.IntN(3), &testworld.Folder{}
	pages.BreakAt = 1 + draw.IntN(12)
	for range 4 {
		r, err := verify.Run(context.Background(), c)
		if err == nil || !errors.Is(err, stage.ErrBrokenOff) {
			return r, err
		}
		pages.BreakAt = 1 + draw.IntN(20)
	}
	pages.BreakAt = 0
	return verify.Run(context.Background(), c)
}

// looking is what happens while somebody verifies with events under way.
type looking struct {
	halted   bool   // the streams function stands still
	standing bool   // it stood still at first
	shown    string // what Lambda says of its mapping meanwhile
	unread   bool   // nobody can read its lag
	altered  string // a total that somebody has altered by hand; nothing else touches it
	finished bool
	result   *verify.Looks
	err      error
	began    time.Time
	restarts int // how often the stream was to be read again from an old place
}

// patience is how long a look waits for the stream. No outage lasts that long.
const patience = time.Hour

// lookTwice verifies twice while producers send. Nothing may be called damaged that is not. A total
// that was altered by hand, and then left alone, must be called so if the lag can be read.
func (w *looks) lookTwice() bool {
	draw := w.draw
	f := &w.plan.Faults
	if f.Odd+f.Damage+f.Stamp > 0 { // a total that a person spoils there is damaged
		return true
	}
	l := &looking{halted: draw.IntN(4) == 0, unread: draw.IntN(6) == 0, shown: []string{"Enabled", "Enabling", "Updating"}[draw.IntN(3)],
		began: w.Now}
	l.standing, w.looking = l.halted, l
	w.phase = w.plan.Phases + 3
	altered := w.alter(draw)
	if altered != nil {
		l.altered = altered.Key
	}
	epoch := int64(1)
	if w.plan.Upgrade > 0 {
		epoch = 2
	}
	sending := true
	w.Spawn("producer", nil, func() {
		for range 6 {
			w.produce(w.phase)
			if w.phase++; l.finished {
				break
			}
		}
		sending = false
	})
	w.Spawn("verifier", nil, func() {
		w.Sleep(time.Duration(draw.IntN(60)) * time.Second)
		c := verify.Config{Pipeline: w.pipelineOf(epoch), Config: sums.Config{Segments: 1 + draw.IntN(3), Memory: 1 + draw.IntN(20000),
			Rate: 0.2 + draw.Float64(), Work: &testworld.Folder{}, Env: w.Env(w.Rng.Float64, 0)}}
		pages := &stage.ShortPages{Client: w.client(), Limit: int32(10 + draw.IntN(40))}
		c.Source = verify.SourceOf(w.operators.storeOf(pages, epoch, c.Env))
		for range 5 {
			if l.result, l.err = verify.Twice(context.Background(), c, streamLag{w.World}, patience); l.err == nil {
				break
			}
			w.Tracef("verify --twice: %v", l.err)
			w.Sleep(time.Minute)
		}
		l.finished, l.halted = true, false
	})
	w.run(lookSteps, func() bool { return l.finished && !sending })
	w.looking = nil
	if w.Failure == nil && !l.finished {
		w.Fail(Stuck, "verify --twice does not come to its end")
	}
	if w.Failure == nil && l.err == nil {
		w.checkLooks(l)
	}
	if altered != nil {
		w.addToFingerprint(altered, -1)
	}
	return w.Failure == nil && w.settle(func() bool { return !sending }) && w.rest.checkDrained()
}

// checkLooks checks what a verifier says while events are under way.
func (w *looks) checkLooks(l *looking) {
	r := l.result
	w.Tracef("verify --twice: %d damaged, %d undecided, %q", len(r.Damaged), len(r.Undecided), r.Unsure)
	w.stats.Looks++
	if l.altered != "" {
		w.stats.Altered++
	}
	if r.Unsure != "" {
		w.stats.Untold++
	}
	found := false
	for _, d := range append(slices.Clone(r.Damaged), r.Undecided...) {
		found = found || w.isTotal(d, l.altered)
	}
	for _, d := range r.Damaged {
		if !w.isTotal(d, l.altered) && !w.model.Flapped(d.Total, l.began, w.Now) { // Twice says why it calls that damaged
			w.Fail(Misjudged, "verify --twice calls an undamaged total damaged: %s", d)
			return
		}
	}
	switch {
	case l.altered != "" && !found:
		w.Fail(Misjudged, "verify --twice does not tell of %s, which was altered by hand", l.altered)
	case l.unread && len(r.Damaged) > 0:
		w.Fail(Misjudged, "verify --twice calls %s damaged, and nobody could tell how far the stream was", r.Damaged[0])
	case l.altered != "" && !l.unread && !l.standing && !slices.ContainsFunc(r.Damaged, func(d verify.Difference) bool {
		return w.isTotal(d, l.altered)
	}):
		w.Fail(Misjudged, "verify --twice does not call %s damaged (%s)", l.altered, r.Unsure)
	}
}

// isTotal reports whether a difference is about the total of a slot.
func (w *looks) isTotal(d verify.Difference, key string) bool {
	return key != "" && d.Total == model.TotalText(key)
}

// alter alters the fingerprint of a total that nothing will touch, because all events of its window
// have expired, in the item that mending changes. It returns nil if there is none.
func (w *looks) alter(draw *rand.Rand) *model.Slot {
	if draw.IntN(3) == 0 {
		return nil
	}
	def, _ := w.pipelineOf(1).Definition("daily")
	var there []string
	for key, s := range w.model.Slots {
		_, _, window := model.SlotName(key)
		if !strings.HasPrefix(key, "A#daily#") || s.Damaged || s.Applied == 0 || w.model.Unclosed(key, w.Now.Add(25*time.Hour)) {
			continue
		}
		start, err := lanes.ParseWindow(window)
		settled := w.Now.Sub(time.Unix(start, 0)) > w.plan.longer()+24*time.Hour
		if err == nil && settled && w.model.GetsMissing(s) && lanes.Expiry(def, start) > w.Now.Add(24*time.Hour).Unix() {
			there = append(there, key)
		}
	}
	if len(there) == 0 {
		return nil
	}
	slices.Sort(there)
	s := w.model.Slots[there[draw.IntN(len(there))]]
	w.addToFingerprint(s, 1)
	return s
}

func (w *looks) addToFingerprint(s *model.Slot, n int) {
	pk, sk, _ := strings.Cut(s.Key, "|")
	_, err := w.ingot.Engine.DynamoDB().UpdateItem(context.Background(),
		&dynamodb.UpdateItemInput{TableName: aws.String(totals), Key: keyOfItem(pk, sk),
			UpdateExpression: aws.String("ADD fp :n"), ConditionExpression: aws.String("attribute_exists(PK)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}}})
	if err != nil {
		w.Fail(Broken, "altering %s: %v", s.Key, err)
	}
}

// streamLag asks by fences how far the stream mapping of the world is.
type streamLag struct{ *World }

var errUnread = errors.New("nobody may read the stream")

// Counted asks, unless the world says that nobody can tell.
func (w streamLag) Counted(ctx context.Context) (time.Time, error) {
	w.Pause()
	l := w.looks.looking
	if l != nil && l.unread {
		return time.Time{}, errUnread
	}
	return drained.Question{Tables: asker{w.ingot.Engine.DynamoDB(), w.World}, Shards: w.ingot.Engine.Streams(), Events: eventsTable,
		Aggregates: totals, Function: "streams", Notes: fences.Streams, Patience: patience, Env: w.Env(w.Rng.Float64, 0),
		Mappings: func(context.Context) ([]pause.Mapping, error) {
			m := pause.Mapping{Source: w.ingot.StreamARN, State: "Enabled", Factor: 1}
			if l != nil && l.halted {
				m.State = l.shown
			}
			return []pause.Mapping{m}, nil
		}}.Ask(ctx)
}

// asker is DynamoDB as the tool asks it: others go first, and the SDK repeats what fails.
type asker struct {
	*embedded.DynamoDB
	w *World
}

func (a asker) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	a.w.Pause()
	a.w.spending.eventWrites++
	return a.DynamoDB.PutItem(ctx, in)
}
