// Package stray finds the objects of the payload bucket that belong to no item, and deletes them:
// see [Bucket.Delete].
package stray

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// An object of the payload bucket that belongs to no item may still be needed. So it is deleted
// only if none of these can be:
//
//   - An event is being put: its object is put first, in every delivery. So ingest must be paused,
//     and no batch of it may be in work any more. As a second line, young objects stay.
//   - An event waits in a queue. Its object is put again when it is delivered.
//   - An item has expired and was removed, and the streams function has not archived it yet: it
//     reads the payload then. So it must have read everything that was written until the table had
//     been read.
//   - A migration copies rows into the type: capture may be putting the object of a row again.
//   - Something else puts it, such as ingot rebuild parts or a program with the library. Such an
//     object is young when the bucket is listed again, right before it would be deleted.
//   - A change is not published yet, and its event is replaced or gone since: the publish function
//     reads the payload then. So objects stay for longer than the stream keeps their records.

const (
	// young is how old an object must be: the 24 hours of a stream, and more than the longest
	// invocation, which puts the object before its item.
	young = 25 * time.Hour
	// Patience is how long the stream is waited for.
	Patience = 15 * time.Minute
)

// Objects is what is needed of the bucket. An *s3.Client is one.
type Objects interface {
	s3.ListObjectsV2APIClient
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error)
}

// Bucket is the payload bucket of a stack, with what says which of its objects are needed.
type Bucket struct {
	Objects Objects
	Name    string
	Plan    *pipeline.Pipeline
	Items   func(context.Context) iter.Seq2[*event.Item, error] // see [Items]
	// Ingest is the name of the ingest function, and Pauser asks for its mappings.
	Ingest string
	Pauser pause.Pauser
	Lag    verify.Lag // of the streams function. It is nil if there is no archive.
	Clock  env.Env
}

// Found are the objects of the bucket that belong to no item.
type Found struct {
	Payloads []Object `json:"payloads"`
	Young    int      `json:"young"`
	Moving   int      `json:"moving,omitempty"` // of types that have migrated in pipeline.yaml
	Deleted  *int     `json:"deleted,omitempty"`
}

// Object is an object of the bucket.
type Object struct {
	Bucket   string    `json:"bucket"`
	Name     string    `json:"name"`
	Modified time.Time `json:"modified"`
}

// Print writes what was deleted, or what would be, for people.
func (f *Found) Print(w *strings.Builder) {
	state := ": deleted"
	if f.Deleted == nil {
		state = ""
		show.Some(w, f.Payloads, func(one Object) string {
			return fmt.Sprintf("payload       s3://%s/%s, %s", one.Bucket, one.Name, one.Modified.UTC().Format(time.RFC3339))
		})
	}
	fmt.Fprintf(w, "%s of no event%s\n", show.Count(len(f.Payloads), "object"), state)
	if f.Young > 0 {
		fmt.Fprintf(w, "%s of the last 25 hours left alone\n", show.Count(f.Young, "other"))
	}
	if f.Moving > 0 {
		fmt.Fprintf(w, "%s of types that a migration moves left alone: run this again once pipeline.yaml has no migrated for them\n",
			show.Count(f.Moving, "other"))
	}
}

// NotNow is an error that says why nothing may be deleted now.
type NotNow struct{ Err error }

func (n *NotNow) Error() string { return n.Err.Error() }

// Items yields all items of the events table, with the copies of rows: they own their payloads. The
// error is a [tables.UnreadableItem] for an item that cannot be read.
func Items(ctx context.Context, s *store.Store) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for page, err := range s.ItemPages(ctx, tables.Segment{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range append(page.All, page.Copies...) {
				if !yield(item, nil) {
					return
				}
			}
			for _, odd := range page.Unreadable {
				if !yield(nil, odd) {
					return
				}
			}
		}
	}
}

// Find lists the objects that belong to no item, and deletes none. It lists the bucket before it
// reads the table, so that the item of each object would be there.
func (b *Bucket) Find(ctx context.Context) (*Found, error) {
	all, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	unread := map[payloads.Sum]bool{} // the keys of items that may have any of their objects
	for item, err := range b.Items(ctx) {
		var odd *tables.UnreadableItem
		switch {
		case errors.As(err, &odd):
			unread[hashOf(odd.Key)] = true
		case err != nil:
			return nil, err
		case item.Payload != nil:
			delete(all, object{item.Type, hashOf(item.Key), item.Payload.Sum})
		}
	}
	out, old := &Found{Payloads: []Object{}}, b.Clock.Now().Add(-young)
	for o, modified := range all {
		switch {
		case unread[o.key]:
		case b.Plan.Migration(o.eventType) != "":
			out.Moving++
		case modified.After(old):
			out.Young++
		default:
			out.Payloads = append(out.Payloads, Object{b.Name, o.name(), modified})
		}
	}
	slices.SortFunc(out.Payloads, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Delete deletes the objects that Find lists. While it does so, ingest must stay paused. The error
// is a [NotNow] if it is not, or if it is not known how far the stream is. If an object could not
// be deleted, what it returns says how many were.
func (b *Bucket) Delete(ctx context.Context) (*Found, error) {
	if err := b.paused(ctx); err != nil {
		return nil, err
	}
	if _, err := b.Pauser.Pause(ctx, b.Ingest, ""); err != nil { // it is off, so this waits for batches in work
		return nil, err
	}
	found, err := b.Find(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.archived(ctx); err != nil {
		return nil, err
	}
	now, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	found.Payloads = slices.DeleteFunc(found.Payloads, func(one Object) bool {
		o, _ := readObject(one.Name)
		again := now[o].After(one.Modified)
		if again {
			found.Young++
		}
		return again
	})
	deleted, err := b.delete(ctx, found.Payloads)
	found.Deleted = &deleted
	return found, err
}

// paused refuses if the ingest function is not paused.
func (b *Bucket) paused(ctx context.Context) error {
	list, err := pause.Read(ctx, b.Pauser.Client, b.Ingest)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(m pause.Mapping) bool { return !m.Off() }) {
		return &NotNow{errors.New("ingest is not paused, so an event may be stored whose payload is being deleted: " +
			"run ingot pause first, and ingot resume afterwards")}
	}
	return nil
}

// archived makes sure that the streams function has read everything that was written before now.
// The question waits for it.
func (b *Bucket) archived(ctx context.Context) error {
	if b.Lag == nil {
		return nil
	}
	until := b.Clock.Now()
	counted, err := b.Lag.Counted(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &NotNow{fmt.Errorf("it is not known how far the stream is, so an event that has expired may not be archived yet: %w", err)}
	case counted.Before(until):
		return &NotNow{errors.New("the stream is not read to its end, so an event that has expired may not be archived yet: " +
			"ingot status shows why")}
	}
	return nil
}

// object is what the name of an object of the payload bucket says.
type object struct {
	eventType string
	key, sum  payloads.Sum
}

func (o object) name() string {
	return payloads.Folder(o.eventType) + hex.EncodeToString(o.key[:]) + "/" + hex.EncodeToString(o.sum[:]) + ".json"
}

// readObject reads a name that Ingot has made.
func readObject(name string) (o object, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return o, false
	}
	key, _ := hex.DecodeString(parts[1])
	sum, _ := hex.DecodeString(strings.TrimSuffix(parts[2], ".json"))
	if copy(o.key[:], key) != len(o.key) || copy(o.sum[:], sum) != len(o.sum) {
		return o, false
	}
	o.eventType = parts[0]
	return o, o.name() == name
}

// list returns when each payload in the bucket was last put.
func (b *Bucket) list(ctx context.Context) (map[object]time.Time, error) {
	all := map[object]time.Time{}
	pages := s3.NewListObjectsV2Paginator(b.Objects, &s3.ListObjectsV2Input{Bucket: &b.Name})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", b.Name, awserr.Quiet(err))
		}
		for _, one := range out.Contents {
			if o, ok := readObject(aws.ToString(one.Key)); ok {
				all[o] = aws.ToTime(one.LastModified)
			}
		}
	}
	return all, nil
}

func hashOf(key event.Key) (hash payloads.Sum) {
	_, _ = hex.Decode(hash[:], []byte(key.Hash())) // it is the hex of a SHA-256
	return hash
}

func (b *Bucket) delete(ctx context.Context, list []Object) (deleted int, err error) {
	for chunk := range slices.Chunk(list, 1000) {
		if err := b.paused(ctx); err != nil {
			return deleted, err
		}
		var names []types.ObjectIdentifier
		for i := range chunk {
			names = append(names, types.ObjectIdentifier{Key: &chunk[i].Name})
		}
		out, err := b.Objects.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &b.Name,
			Delete: &types.Delete{Objects: names, Quiet: aws.Bool(true)}})
		if err != nil {
			return deleted, fmt.Errorf("bucket %s: %w", b.Name, awserr.Quiet(err))
		}
		deleted += len(chunk) - len(out.Errors)
		if len(out.Errors) > 0 {
			return deleted, fmt.Errorf("bucket %s: cannot delete %s: %s; run the command again", b.Name,
				aws.ToString(out.Errors[0].Key), aws.ToString(out.Errors[0].Code))
		}
	}
	return deleted, nil
}
