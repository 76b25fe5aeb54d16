package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

var eraseHelp = `Erases one event for good, with its parts. Its item is replaced by one that only bars the key: whatever comes under
the key again is a Duplicate. Every total loses what the event added. Totals with values that cannot be subtracted
(min, max, newest, oldest, distinct) are flagged. The event's payloads in the payload bucket are deleted. If the
command was interrupted, run it again, and it finishes the work. If no event is stored, the key is barred in advance.

Then it lists what else may hold the event, and how to remove it there: objects of the archive, with their
versions, older versions of payloads, and messages in the queues. It removes none of these. With --letters, it also
looks in a folder of ingot quarantine pull, and lists the messages that have this key.

You name the event by its type and the fields that its key is made of. If the key is hashed, the stack's secret is
used. After a restore you may only have a list of keys: then give --pk and --sk instead.

` + fieldsHelp + `

` + excerpt.Page("erasing.md") + ` says
what remains, and what is removed by itself after some time.

Exit codes: 0 erased or barred, 1 failed, 2 the key cannot be made, 4 not permitted, 6 erased, but what else holds the
event could not be read.

` + targetHelp + `

With --output json, one object:
  pk, sk        the key
  erased        true: an event was stored there; absent with --dry-run
  barred        true: the key is barred
  archive[]     bucket, name, version, marker
  payloads[]    the same, of the payload bucket: with --dry-run all that is there, otherwise what is left
  quarantine, deadLetters, queue   about how many messages each queue holds; absent if not known
  letters[]     ids of the messages in --letters that have this key`

type eraseOptions struct {
	yes, dry, reveal bool
	pk, sk, letters  string
}

// remains is what may still hold an erased event.
type remains struct {
	PK          string    `json:"pk"`
	SK          string    `json:"sk"`
	Erased      *bool     `json:"erased,omitempty"`
	Barred      bool      `json:"barred"`
	Archive     []archive `json:"archive"`
	Payloads    []archive `json:"payloads,omitempty"`
	Quarantine  *int      `json:"quarantine,omitempty"`
	DeadLetters *int      `json:"deadLetters,omitempty"`
	Queue       *int      `json:"queue,omitempty"`
	Letters     []string  `json:"letters,omitempty"`
}

// archive is one version of an object, or a delete marker.
type archive struct {
	Bucket  string `json:"bucket"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Marker  bool   `json:"marker,omitempty"`
}

func newErase(a *app) *cobra.Command {
	var o eraseOptions
	cmd := &cobra.Command{
		Use:   "erase TYPE FIELD=VALUE… --yes",
		Short: "Erase an event for good, and say what else holds it",
		Long:  eraseHelp,
		Example: `  ingot erase order.placed order_id=o-1 --dry-run --stack shop
  ingot erase order.placed order_id=o-1 --yes --stack shop
  ingot erase --pk ORDER#o-1 --sk PLACED --yes --local`,
		Args: func(cmd *cobra.Command, args []string) error {
			byKey := o.pk != "" || o.sk != ""
			switch {
			case byKey && (len(args) > 0 || o.pk == "" || o.sk == ""):
				return usage(errors.New("give both --pk and --sk and nothing else, or a type and its fields"))
			case !byKey && (len(args) == 0 || slices.Contains(args, "")):
				return usage(fmt.Errorf("write %s; see %s --help", cmd.UseLine(), cmd.CommandPath()))
			case !o.yes && !o.dry:
				return usage(errors.New("erase destroys an event for good: write --yes to confirm that, or --dry-run to see first"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var fields map[string]any
			if len(args) > 0 {
				var err error
				if fields, err = a.payloadFields(args[1:]); err != nil {
					return err
				}
			}
			return a.erase(cmd, args, fields, o)
		},
	}
	targetFlags(cmd)
	deployedFlag(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.yes, "yes", false, "confirm that the event is to be erased")
	flags.BoolVar(&o.dry, "dry-run", false, "erase nothing, and list what holds the event")
	flags.BoolVar(&o.reveal, "reveal", false, "show personal values")
	flags.StringVar(&o.pk, "pk", "", "the partition key, instead of a type and its fields")
	flags.StringVar(&o.sk, "sk", "", "the sort key")
	flags.StringVar(&o.letters, "letters", "", "a folder of ingot quarantine pull, to look for messages with this key")
	return cmd
}

func (a *app) erase(cmd *cobra.Command, args []string, fields map[string]any, o eraseOptions) error {
	t, err := a.find(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	p, err := a.deployed(cmd, t, len(args) > 0, !o.dry)
	if err != nil {
		return err
	}
	key, typ := event.Key{PK: o.pk, SK: o.sk}, ""
	if len(args) > 0 {
		typ = args[0]
		if key, err = p.Key(typ, envelope.Message{Body: payload(fields)}); err != nil {
			return usage(fmt.Errorf("%s; see ingot erase --help", wrong(err)))
		}
	}
	if err := needsPayloads(t, p); err != nil { // also for a dry run, which must find all that an erasure deletes
		return err
	}
	out := &remains{Archive: []archive{}}
	if !o.dry {
		if err := a.announce(t); err != nil {
			return err
		}
		st, err := store.New(storeOf(t, p))
		if err != nil {
			return err
		}
		erased, err := st.Erase(ctx, key)
		if err != nil {
			return err
		}
		out.Erased, out.Barred = &erased, true
	}
	unknown := out.look(ctx, t, p, key, o.letters)
	if out.PK, out.SK = key.PK, key.SK; !o.reveal {
		shown := show.PersonalOf(p).Item(event.Item{Type: typ, Key: key})
		out.PK, out.SK = shown.Key.PK, shown.Key.SK
	}
	if a.json() {
		err = a.writeJSON(out)
	} else {
		out.print(a.stdout, t, o)
	}
	switch {
	case err != nil || unknown == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	fmt.Fprintf(a.stderr, "ingot: what else holds the event could not be read: %s\n", show.Error(unknown))
	return untold()
}

// look finds what else may hold the event. The error says what could not be read.
func (r *remains) look(ctx context.Context, t *target.Target, p *pipeline.Pipeline, key event.Key, letters string) error {
	var errs []error
	if t.ArchiveBucket != "" {
		list, err := archived(ctx, t.S3(), t.ArchiveBucket, archivePrefix(key))
		r.Archive = append(r.Archive, list...)
		errs = append(errs, err)
	}
	for _, folder := range p.OffloadTypes() {
		list, err := archived(ctx, t.S3(), t.PayloadBucket, payloads.Prefix(folder, key))
		r.Payloads = append(r.Payloads, list...)
		errs = append(errs, err)
	}
	for _, q := range []struct {
		url string
		n   **int
	}{{t.QuarantineURL, &r.Quarantine}, {t.DeadLetterURL, &r.DeadLetters}, {t.QueueURL, &r.Queue}} {
		if q.url == "" {
			continue
		}
		n, err := messages(ctx, t.SQS(), q.url)
		if err == nil {
			*q.n = &n
		}
		errs = append(errs, err)
	}
	if letters != "" {
		ids, err := lettersOf(p, key, letters)
		r.Letters = ids
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// archivePrefix is the beginning of the names of everything that the archive keeps of an event.
func archivePrefix(key event.Key) string { return "expired/" + key.Hash() + "/" }

// archived lists the versions below a prefix, and the objects that have none because an emulator
// does not keep versions.
func archived(ctx context.Context, client *s3.Client, bucket, prefix string) ([]archive, error) {
	var list []archive
	seen := map[string]bool{}
	var versionsErr error
	in := &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &prefix}
	for {
		out, err := client.ListObjectVersions(ctx, in)
		if versionsErr = err; err != nil {
			break
		}
		for _, v := range out.Versions {
			list = append(list, archive{Bucket: bucket, Name: aws.ToString(v.Key), Version: aws.ToString(v.VersionId)})
			seen[aws.ToString(v.Key)] = true
		}
		for _, m := range out.DeleteMarkers {
			list = append(list, archive{Bucket: bucket, Name: aws.ToString(m.Key), Version: aws.ToString(m.VersionId), Marker: true})
		}
		if !aws.ToBool(out.IsTruncated) {
			break
		}
		in.KeyMarker, in.VersionIdMarker = out.NextKeyMarker, out.NextVersionIdMarker
	}
	objects := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for objects.HasMorePages() {
		out, err := objects.NextPage(ctx)
		if err != nil {
			return list, fmt.Errorf("bucket %s: %w", bucket, awserr.Quiet(err))
		}
		for _, o := range out.Contents {
			if !seen[aws.ToString(o.Key)] {
				list = append(list, archive{Bucket: bucket, Name: aws.ToString(o.Key)})
			}
		}
	}
	if versionsErr != nil && awserr.Denied(versionsErr) {
		return list, fmt.Errorf("the versions in bucket %s: %w", bucket, awserr.Quiet(versionsErr))
	}
	return list, nil
}

// messages returns the approximate number of messages in a queue.
func messages(ctx context.Context, client *sqs.Client, url string) (int, error) {
	names := []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible, types.QueueAttributeNameApproximateNumberOfMessagesDelayed}
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
	if err != nil {
		return 0, fmt.Errorf("queue %s: %w", url, awserr.Quiet(err))
	}
	sum := 0
	for _, name := range names {
		n, _ := strconv.Atoi(out.Attributes[string(name)])
		sum += n
	}
	return sum, nil
}

// lettersOf lists the messages of a folder that have this key, or contain an event with this key,
// today or when they were quarantined.
func lettersOf(p *pipeline.Pipeline, key event.Key, path string) ([]string, error) {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return nil, err
	}
	all, err := dir.List()
	var ids []string
	for _, l := range all {
		if l.Has(p, key) {
			ids = append(ids, l.ID)
		}
	}
	return ids, err
}

// print writes what was done and what is left, for people.
func (r *remains) print(w io.Writer, t *target.Target, o eraseOptions) {
	fmt.Fprintf(w, "key           %s\n              %s\n", show.Text(r.PK), show.Text(r.SK))
	switch {
	case r.Erased == nil:
		fmt.Fprintln(w, "event         nothing was changed (--dry-run)")
	case *r.Erased:
		fmt.Fprintln(w, "event         erased, and its key is barred")
	default:
		fmt.Fprintln(w, "event         none was stored; the key is barred")
	}
	if t.ArchiveBucket == "" {
		fmt.Fprintln(w, "archive       not known")
	} else if len(r.Archive) == 0 {
		fmt.Fprintln(w, "archive       nothing")
	}
	deletions(w, "archive", r.Archive)
	if o.dry {
		for _, one := range r.Payloads {
			fmt.Fprintf(w, "payload       s3://%s/%s, which erasing deletes\n", show.Text(one.Bucket), show.Text(one.Name))
		}
	} else {
		deletions(w, "payload", r.Payloads) // older versions
	}
	for _, q := range []struct {
		name string
		n    *int
	}{{"quarantine", r.Quarantine}, {"dead letters", r.DeadLetters}, {"queue", r.Queue}} {
		switch {
		case q.n == nil:
			fmt.Fprintf(w, "%-14snot known\n", q.name)
		case q.name == "queue":
			fmt.Fprintf(w, "queue         %s; what comes under the key is a Duplicate\n", show.Count(*q.n, "message"))
		default:
			fmt.Fprintf(w, "%-14s%s\n", q.name, show.Count(*q.n, "message"))
		}
	}
	r.printLetters(w, o)
}

// deletions writes the commands that delete objects, at most 20 of them.
func deletions(w io.Writer, name string, list []archive) {
	for i, one := range list {
		if i == 20 {
			fmt.Fprintf(w, "              and %d more; all with --output json\n", len(list)-i)
			return
		}
		line := "aws s3api delete-object --bucket " + quoted(one.Bucket) + " --key " + quoted(one.Name)
		if one.Version != "" {
			line += " --version-id " + quoted(one.Version)
		}
		fmt.Fprintf(w, "%-14s%s\n", name, line)
	}
}

func (r *remains) printLetters(w io.Writer, o eraseOptions) {
	switch {
	case len(r.Letters) > 0:
		fmt.Fprintf(w, "letters       ingot quarantine drop %s %s --yes\n              then delete the files\n", quoted(o.letters), strings.Join(r.Letters, " "))
	case o.letters != "":
		fmt.Fprintf(w, "letters       none in %s has this key\n", show.Text(o.letters))
	case r.Quarantine != nil && *r.Quarantine > 0 || r.DeadLetters != nil && *r.DeadLetters > 0:
		fmt.Fprintln(w, "              to look in them: ingot quarantine pull DIR --once (and --dead),")
		fmt.Fprintln(w, "              then this command again with --letters DIR")
	}
}
