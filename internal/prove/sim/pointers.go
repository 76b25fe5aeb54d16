package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// pointers are messages whose payload is an object in a bucket.
type pointers struct {
	*World
	draw    *rand.Rand              // draws which messages are pointers, and what becomes of their objects
	objects map[string]*largeObject // that messages point to, by name
	moves   int                     // how often one of them was put or removed
}

// In worlds whose plan has Pointers, some messages only say where their text is: in an object of a
// bucket. Some of these objects come later than their messages. Others are gone before somebody has
// read them.

// planPointers decides whether messages may be pointers. Its draw is its own, so that other worlds
// stay as they are.
func (p *Plan) planPointers() {
	p.Pointers = rand.New(rand.NewPCG(p.Seed, 13)).IntN(4) == 0
}

// largeBucket is where producers put what is too large for a message.
const largeBucket = "large"

// largeObject is an object that messages point to.
type largeObject struct {
	text   string
	states []presence
}

// presence says whether an object is there, from one of the changes of all objects on.
type presence struct {
	there bool
	since int
}

// point makes pointers of some messages of a burst. Now and then, a pointer is sent twice.
func (w *pointers) point(burst []*message) (list []*message) {
	if !w.plan.Pointers {
		return burst
	}
	for _, m := range burst {
		if w.draw.IntN(4) > 0 {
			list = append(list, m)
			continue
		}
		own := *m // m may be sent as well, as it is
		own.object, own.text = fmt.Sprintf("o-%d", len(w.objects)+1), m.body
		own.body = fmt.Sprintf(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":%q,"s3Key":%q}]`, largeBucket,
			own.object)
		own.events = slices.Clone(m.events)
		for i := range own.events {
			e := *own.events[i]
			e.of, own.events[i] = &own, &e
		}
		w.objects[own.object] = &largeObject{text: own.text}
		list = append(list, &own)
		if w.draw.Float64() < w.plan.Duplicates {
			again := own
			list = append(list, &again)
		}
	}
	return list
}

// place puts the object of a pointer that is about to be sent: now, or later. Where things go
// wrong, it may also be gone again soon.
func (w *pointers) place(m *message) {
	o := w.objects[m.object]
	if o == nil || o.states != nil {
		return
	}
	wait := time.Duration(w.draw.IntN(1800)) * time.Second // an object that is gone was there for less
	switch w.draw.IntN(4) {
	case 0:
		w.Fault(objectLate, m.object)
		w.Spawn("uploader", nil, func() {
			w.Sleep(wait)
			w.putLarge(m.object)
		})
		o.states = []presence{}
	case 1:
		w.putLarge(m.object)
		w.Spawn("remover", nil, func() {
			w.Sleep(wait / 20)
			if !w.Calm {
				w.Fault(objectGone, m.object)
				w.removeLarge(m.object)
			}
		})
	default:
		w.putLarge(m.object)
	}
}

func (w *pointers) putLarge(name string) {
	_, err := w.ingot.Engine.S3().PutObject(context.Background(), &s3.PutObjectInput{Bucket: aws.String(largeBucket), Key: &name,
		Body: strings.NewReader(w.objects[name].text)})
	w.Must(err)
	w.moved(name, true)
}

func (w *pointers) removeLarge(name string) {
	_, err := w.ingot.Engine.S3().DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: aws.String(largeBucket), Key: &name})
	w.Must(err)
	w.moved(name, false)
}

func (w *pointers) moved(name string, there bool) {
	w.moves++
	o := w.objects[name]
	o.states = append(o.states, presence{there, w.moves})
}

// bringBack lets a person bring back objects that are missing. Where there are dead letters, the
// person keeps some of the messages instead: see [World.triage].
func (w *pointers) bringBack() {
	for _, name := range sortedKeys(w.objects) {
		if o := w.objects[name]; len(o.states) > 0 && !w.isThere(name) && (w.plan.Receives > dying || w.draw.IntN(2) == 0) {
			w.putLarge(name)
		}
	}
}

// dying is how often a message is received at most before it is a dead letter, where there are any.
const dying = 10

func (w *pointers) isThere(name string) bool {
	o := w.objects[name]
	return len(o.states) > 0 && o.states[len(o.states)-1].there
}

// seen reports whether the object of a message was there, and whether it was missing, at some
// moment of an invocation.
func (w *pointers) seen(inv *invocation, m *message) (there, missing bool) {
	o := w.objects[m.pointer()]
	missing = true // before it was first put
	for _, s := range o.states {
		if s.since <= inv.moves {
			there, missing = false, false
		}
		there, missing = there || s.there, missing || !s.there
	}
	return there, missing
}

// pointer returns the name of the object that holds the text of a message, or of the array that an
// event is in. It is empty if there is none.
func (m *message) pointer() string {
	if m.of != nil {
		return m.of.object
	}
	return m.object
}

// downloader is the bucket as an invocation reaches it. It checks that no object is read more often
// than its messages ask for.
type downloader struct{ w *World }

func (d downloader) GetObject(ctx context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	w := d.w
	return stage.Request(&w.World, ctx, "GetObject", false, nil, func() (*s3.GetObjectOutput, error) {
		inv, asked := invocationOf(w.Current), 0
		if inv.gets == nil {
			inv.gets = map[string]int{}
		}
		for i := range inv.messages {
			if m := w.sent[inv.messages[i].Body]; m != nil && m.object == *in.Key {
				asked++
			}
		}
		if inv.gets[*in.Key]++; inv.gets[*in.Key] > asked+inv.Faults {
			w.Fail(Cost, "%s reads %s %d times for %d messages, with %d faults", inv.Name, *in.Key, inv.gets[*in.Key], asked, inv.Faults)
		}
		return w.ingot.Engine.S3().GetObject(w.Sent(), in)
	})
}
