package erase

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// Report is what erase prints.
type Report struct {
	Events      []*Event `json:"events"`
	Quarantine  *int     `json:"quarantine,omitempty"`
	DeadLetters *int     `json:"deadLetters,omitempty"`
	Queue       *int     `json:"queue,omitempty"`
	FilesUnread bool     `json:"filesUnread,omitempty"` // of the archive
	// Totals are the aggregates whose totals may go on showing a value of the events. The streams
	// function flags these totals, and ingot rebuild mend computes them again.
	Totals  []string `json:"totals,omitempty"`
	Unknown []error  `json:"-"` // what could not be read
}

// Report finds what else may hold the events.
func (e *Eraser) Report(ctx context.Context) *Report {
	r := &Report{Events: e.list}
	if r.Events == nil {
		r.Events = []*Event{}
	}
	letters, err := e.lettersByKey()
	e.note(err)
	for _, ev := range e.list {
		e.payloadsOf(ctx, ev)
		key := e.shown(ev.Type, ev.key)
		if ev.PK, ev.SK = key.PK, key.SK; ev.Archive == nil {
			ev.Archive = []Archive{}
		}
		ev.Letters = letters[ev.key]
		for _, part := range ev.parts {
			key := e.shown(part.Type, part.Key)
			_, claim := e.Plan.ClaimOf(part.Type)
			ev.Parts = append(ev.Parts, Part{part.Type, key.PK, key.SK, claim, e.isState(part)})
			ev.Letters = append(ev.Letters, letters[part.Key]...)
		}
		slices.Sort(ev.Letters)
		if ev.Letters = slices.Compact(ev.Letters); ev.err != nil {
			ev.Error = e.errorOf(ev, ev.err)
		}
	}
	t := e.Target
	if t.ArchiveBucket != "" && !e.Options.Archive {
		has, err := e.bucket().HasFiles(ctx)
		r.FilesUnread = has
		e.note(err)
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
		e.note(err)
	}
	r.Totals, r.Unknown = e.showing(), e.unknown
	return r
}

// showing lists the aggregates that take a value from the stored events which cannot be taken back.
func (e *Eraser) showing() (names []string) {
	spec, types := e.Plan.Describe().Spec, map[string]bool{}
	for _, ev := range e.list {
		if types[ev.Type] = types[ev.Type] || ev.stored != nil; ev.stored == nil {
			continue
		}
		for _, part := range ev.parts {
			types[part.Type] = true
		}
	}
	for _, def := range e.Plan.Definitions() {
		shows := false
		for _, v := range def.Values {
			for eventType, from := range spec.Aggregates[def.Name].From {
				shows = shows || types[eventType] && from.Values[v.Name] != "" && !v.Op.Additive()
			}
		}
		if shows {
			names = append(names, def.Name)
		}
	}
	return names
}

// lettersByKey returns the ids of the messages in the folder of --letters, by the keys that they
// have.
func (e *Eraser) lettersByKey() (map[event.Key][]string, error) {
	if e.Options.Letters == "" {
		return nil, nil
	}
	dir, err := quarantine.OpenDir(e.Options.Letters)
	if err != nil {
		return nil, err
	}
	all, err := dir.List()
	ids := map[event.Key][]string{}
	for _, l := range all {
		for _, key := range l.Keys(e.Plan) {
			ids[key] = append(ids[key], l.ID)
		}
	}
	return ids, err
}

// Archive is one version of an object, or a delete marker.
type Archive struct {
	Bucket  string `json:"bucket"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Marker  bool   `json:"marker,omitempty"`
}

func (a Archive) url() string { return "s3://" + a.Bucket + "/" + a.Name }

// of reports whether an object of the archive is that of a key.
func (a Archive) of(key event.Key) bool { return strings.HasPrefix(a.Name, archive.Prefix(key)) }

// versionsOf lists the versions below a prefix. If S3 does not list versions, it lists the objects.
// If it cannot say what is there, the objects are listed too, and the error says that versions are
// missing. An emulator may not know of versions at all.
func versionsOf(ctx context.Context, client *s3.Client, bucket, prefix string) ([]Archive, error) {
	list, err := versions(ctx, client, bucket, prefix)
	if err == nil {
		return list, nil
	}
	var objects []Archive
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", bucket, awserr.Quiet(err))
		}
		for _, o := range out.Contents {
			objects = append(objects, Archive{Bucket: bucket, Name: aws.ToString(o.Key)})
		}
	}
	if awserr.Code(err) == "NotImplemented" {
		return objects, nil
	}
	return objects, fmt.Errorf("the versions in bucket %s: %w", bucket, awserr.Quiet(err))
}

// versions lists the versions and delete markers below a prefix.
func versions(ctx context.Context, client *s3.Client, bucket, prefix string) (list []Archive, err error) {
	in := &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &prefix}
	for {
		out, err := client.ListObjectVersions(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, v := range out.Versions {
			list = append(list, Archive{Bucket: bucket, Name: aws.ToString(v.Key), Version: aws.ToString(v.VersionId)})
		}
		for _, m := range out.DeleteMarkers {
			list = append(list, Archive{Bucket: bucket, Name: aws.ToString(m.Key), Version: aws.ToString(m.VersionId), Marker: true})
		}
		if !aws.ToBool(out.IsTruncated) {
			return list, nil
		}
		in.KeyMarker, in.VersionIdMarker = out.NextKeyMarker, out.NextVersionIdMarker
	}
}

// messages returns the approximate number of messages in a queue.
func messages(ctx context.Context, client *sqs.Client, url string) (int, error) {
	names := []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible, types.QueueAttributeNameApproximateNumberOfMessagesDelayed}
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

// Print writes what was done and what is left, for people.
func (e *Eraser) Print(w io.Writer, r *Report) {
	o := e.Options
	if many := o.Pattern != "" || o.Keys != ""; many {
		e.PrintEvents(w)
	} else {
		e.printEvent(w, e.list[0])
	}
	var old, large []Archive
	var letters []string
	for _, ev := range e.list {
		old, large, letters = append(old, ev.Archive...), append(large, ev.Payloads...), append(letters, ev.Letters...)
	}
	if e.Target.ArchiveBucket == "" {
		fmt.Fprintln(w, "archive       not known")
	} else if len(old) == 0 && !r.FilesUnread {
		fmt.Fprintln(w, "archive       nothing")
	}
	e.printArchive(w, old, r.FilesUnread)
	if o.Dry {
		show.Some(w, large, func(one Archive) string { return "payload       " + one.url() + ", which erasing deletes" })
	} else {
		deletions(w, "payload", large) // older versions
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
	slices.Sort(letters)
	r.printLetters(w, slices.Compact(letters), o)
	if slices.ContainsFunc(e.list, func(ev *Event) bool { return slices.ContainsFunc(ev.parts, e.isState) }) {
		fmt.Fprintln(w, "states        are removed, unless newer ones have replaced them. To bring back\n"+
			"              those of older events: ingot rebuild parts")
	}
	if len(r.Totals) > 0 {
		fmt.Fprintf(w, "totals        may still show values of the event. Once this is counted,\n"+
			"              they are flagged: ingot rebuild mend %[1]s\n", strings.Join(r.Totals, " "))
	}
}

// isState reports whether a part is a state, as far as the pipeline knows.
func (e *Eraser) isState(part *event.Item) bool {
	_, is := e.Plan.StateOf(part.Type)
	return is
}

// notChanged is what a dry run says.
const notChanged = "nothing was changed (--dry-run)"

// printEvent writes what was done with one event.
func (e *Eraser) printEvent(w io.Writer, ev *Event) {
	fmt.Fprintf(w, "key           %s\n              %s\n", show.Text(ev.PK), show.Text(ev.SK))
	switch {
	case ev.Erased == nil:
		fmt.Fprintln(w, "event         "+notChanged)
	case *ev.Erased:
		fmt.Fprintln(w, "event         erased, and its key is barred")
	default:
		fmt.Fprintln(w, "event         none was stored; the key is barred")
	}
	show.Some(w, ev.Parts, func(part Part) string {
		what := "part"
		switch {
		case part.Claim:
			what = "claim"
		case part.State:
			what = "state"
		}
		return fmt.Sprintf("%-14s%s  %s / %s", what, part.Type, part.PK, part.SK)
	})
}

// PrintEvents writes a line for each of many events.
func (e *Eraser) PrintEvents(w io.Writer) {
	if len(e.list) == 0 {
		fmt.Fprintln(w, "no event is found")
		return
	}
	table := show.NewTable()
	parts, claims := 0, 0
	for _, ev := range e.list {
		key, own, held := e.shown(ev.Type, ev.key), 0, 0
		for _, part := range ev.parts {
			if _, claim := e.Plan.ClaimOf(part.Type); claim {
				held++
			} else {
				own++
			}
		}
		with := counts(own, held)
		if e.Plan.IsPart(ev.Type) {
			with = "a part; its event is not erased"
		}
		state := ""
		switch {
		case ev.err != nil:
			state = "not erased"
		case ev.Erased != nil && *ev.Erased:
			state = "erased"
		case ev.Erased != nil:
			state = "none was stored"
		}
		parts, claims = parts+own, claims+held
		table.Row(ev.Type, key.String(), with, state)
	}
	fmt.Fprintln(w, "EVENTS")
	table.Print(w)
	end := ""
	if e.Options.Dry {
		end = ": " + notChanged
	}
	fmt.Fprintf(w, "%s%s%s\n", show.Count(len(e.list), "event"), strings.TrimSuffix(", "+counts(parts, claims), ", "), end)
}

// counts says how many parts and claims there are.
func counts(parts, claims int) string {
	var list []string
	if parts > 0 {
		list = append(list, show.Count(parts, "part"))
	}
	if claims > 0 {
		list = append(list, show.Count(claims, "claim"))
	}
	return strings.Join(list, ", ")
}

// deletions writes the commands that delete objects.
func deletions(w io.Writer, name string, list []Archive) {
	show.Some(w, list, func(one Archive) string {
		line := "aws s3api delete-object --bucket " + show.Quoted(one.Bucket) + " --key " + show.Quoted(one.Name)
		if one.Version != "" {
			line += " --version-id " + show.Quoted(one.Version)
		}
		return fmt.Sprintf("%-14s%s", name, line)
	})
}

// printArchive writes the commands that take events out of the archive.
func (e *Eraser) printArchive(w io.Writer, list []Archive, unread bool) {
	var files, objects []Archive
	for _, one := range list {
		if archive.IsFile(one.Name) {
			files = append(files, one)
		} else {
			objects = append(objects, one)
		}
	}
	deletions(w, "archive", objects)
	slices.SortFunc(files, func(a, b Archive) int { return cmp.Compare(a.Name, b.Name) })
	show.Some(w, slices.Compact(files), func(one Archive) string { return "archive       " + one.url() })
	if unread {
		fmt.Fprintln(w, "archive       its files were not read: --archive reads all of them")
	}
	if len(files) == 0 {
		return
	}
	line := "ingot archive erase"
	if e.Options.Keys != "" {
		line += " --keys " + show.Quoted(e.Options.Keys)
	} else {
		ev := e.list[0]
		line += " " + show.Quoted(ev.PK) + " " + show.Quoted(ev.SK)
		for _, part := range ev.Parts {
			line += " " + show.Quoted(part.PK) + " " + show.Quoted(part.SK)
		}
	}
	fmt.Fprintf(w, "              to take the events out of these files: %s --yes\n", line)
}

func (r *Report) printLetters(w io.Writer, letters []string, o Choice) {
	switch {
	case len(letters) > 0:
		fmt.Fprintf(w, "letters       ingot quarantine drop %s %s --yes\n", show.Quoted(o.Letters), strings.Join(letters, " "))
		fmt.Fprintln(w, "              then delete the files")
	case o.Letters != "":
		fmt.Fprintf(w, "letters       none in %s has this key\n", show.Text(o.Letters))
	case r.Quarantine != nil && *r.Quarantine > 0 || r.DeadLetters != nil && *r.DeadLetters > 0:
		fmt.Fprintln(w, "              to look in them: ingot quarantine pull DIR --once (and --dead),")
		fmt.Fprintln(w, "              then this command again with --letters DIR")
	}
}
