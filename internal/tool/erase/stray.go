package erase

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
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
//   - A change is not published yet, and its event is replaced or gone since: the publish function
//     reads the payload then. So objects stay for longer than the stream keeps their records.

const (
	// youngPayload is how old an object must be: the 24 hours of a stream, and more than the
	// longest invocation, which puts the object before its item.
	youngPayload = 25 * time.Hour
	// StreamPatience is how long the stream is waited for.
	StreamPatience = 15 * time.Minute
)

// Stray are the objects of the payload bucket that belong to no item.
type Stray struct {
	Payloads []StrayObject `json:"payloads"`
	Young    int           `json:"young"`
	Moving   int           `json:"moving,omitempty"` // of types that have migrated in pipeline.yaml
	Deleted  *int          `json:"deleted,omitempty"`
}

// Print writes what was deleted, or what would be, for people.
func (s *Stray) Print(w io.Writer) {
	state := ": deleted"
	if s.Deleted == nil {
		state = ""
		limited(w, s.Payloads, func(one StrayObject) {
			at := one.Modified.UTC().Format(time.RFC3339)
			fmt.Fprintf(w, "payload       s3://%s/%s, %s\n", show.Text(one.Bucket), show.Text(one.Name), at)
		})
	}
	fmt.Fprintf(w, "%s of no event%s\n", show.Count(len(s.Payloads), "object"), state)
	if s.Young > 0 {
		fmt.Fprintf(w, "%s of the last 25 hours left alone\n", show.Count(s.Young, "other"))
	}
	if s.Moving > 0 {
		fmt.Fprintf(w, "%s of types that a migration moves left alone: run this again once pipeline.yaml has no migrated for them\n",
			show.Count(s.Moving, "other"))
	}
}

type StrayObject struct {
	Bucket   string    `json:"bucket"`
	Name     string    `json:"name"`
	Modified time.Time `json:"modified"`
}

// StandsStill waits until no batch of the ingest function is in work. It refuses if ingest is not
// paused.
func (e *Eraser) StandsStill(ctx context.Context, pauser pause.Pauser, function string) error {
	if err := e.paused(ctx, function); err != nil {
		return err
	}
	_, err := pauser.Pause(ctx, function, "") // it is off, so this only waits
	return err
}

// paused refuses if the ingest function is not paused.
func (e *Eraser) paused(ctx context.Context, function string) error {
	list, err := pause.Read(ctx, e.Target.Lambda(), function)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(m pause.Mapping) bool { return !m.Off() }) {
		return &NotNow{errors.New("ingest is not paused, so an event may be stored whose payload is being deleted: " +
			"run ingot pause first, and ingot resume afterwards")}
	}
	return nil
}

// ArchiveIsDone waits until the streams function has read everything that was written before now.
func (e *Eraser) ArchiveIsDone(ctx context.Context, lag verify.Lag) error {
	if e.Target.ArchiveBucket == "" {
		return nil
	}
	clock := e.Clock
	until := clock.Now()
	for {
		counted, err := lag.Counted(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &NotNow{fmt.Errorf("it is not known how far the stream is, so an event that has expired may not be archived yet: %w",
				err)}
		case !counted.Before(until):
			return nil
		case clock.Now().Sub(until) > StreamPatience:
			return &NotNow{errors.New("the stream is not read to its end, so an event that has expired may not be archived yet: " +
				"ingot status shows why")}
		}
		if err := clock.Sleep(ctx, 5*time.Second); err != nil {
			return err
		}
	}
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

// Strays lists the objects that belong to no item. It lists the bucket before it reads the table,
// so that the item of each object would be there.
func (e *Eraser) Strays(ctx context.Context) (*Stray, error) {
	old := e.Clock.Now().Add(-youngPayload)
	all := map[object]time.Time{}
	bucket := e.Target.PayloadBucket
	pages := s3.NewListObjectsV2Paginator(e.Target.S3(), &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", bucket, awserr.Quiet(err))
		}
		for _, one := range out.Contents {
			if o, ok := readObject(aws.ToString(one.Key)); ok {
				all[o] = aws.ToTime(one.LastModified)
			}
		}
	}
	if err := e.Scans(ctx, e.Target.EventsTable); err != nil {
		return nil, err
	}
	unread := map[payloads.Sum]bool{} // the keys of items that may have any of their objects
	for item, err := range e.items(ctx) {
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
	out := &Stray{Payloads: []StrayObject{}}
	for o, modified := range all {
		switch {
		case unread[o.key]:
		case e.Plan.Migration(o.eventType) != "":
			out.Moving++
		case modified.After(old):
			out.Young++
		default:
			out.Payloads = append(out.Payloads, StrayObject{bucket, o.name(), modified})
		}
	}
	slices.SortFunc(out.Payloads, func(a, b StrayObject) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func hashOf(key event.Key) (hash payloads.Sum) {
	_, _ = hex.Decode(hash[:], []byte(key.Hash())) // it is the hex of a SHA-256
	return hash
}

// DeleteStrays deletes objects. While it does so, ingest must stay paused.
func (e *Eraser) DeleteStrays(ctx context.Context, list []StrayObject) (deleted int, err error) {
	for chunk := range slices.Chunk(list, 1000) {
		if err := e.paused(ctx, e.Target.IngestFunction); err != nil {
			return deleted, err
		}
		var names []types.ObjectIdentifier
		for i := range chunk {
			names = append(names, types.ObjectIdentifier{Key: &chunk[i].Name})
		}
		out, err := e.Target.S3().DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &e.Target.PayloadBucket,
			Delete: &types.Delete{Objects: names, Quiet: aws.Bool(true)}})
		if err != nil {
			return deleted, fmt.Errorf("bucket %s: %w", e.Target.PayloadBucket, awserr.Quiet(err))
		}
		deleted += len(chunk) - len(out.Errors)
		if len(out.Errors) > 0 {
			return deleted, fmt.Errorf("bucket %s: cannot delete %s: %s; run the command again", e.Target.PayloadBucket,
				aws.ToString(out.Errors[0].Key), aws.ToString(out.Errors[0].Code))
		}
	}
	return deleted, nil
}
