package erase

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	tablearchive "github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/archive"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
)

// Event is an event that is to be erased, and what else may hold it.
type Event struct {
	Type     string    `json:"type,omitempty"`
	PK       string    `json:"pk"`
	SK       string    `json:"sk"`
	Erased   *bool     `json:"erased,omitempty"`
	Barred   bool      `json:"barred"`
	Parts    []Part    `json:"parts,omitempty"`
	Archive  []Archive `json:"archive"`
	Payloads []Archive `json:"payloads,omitempty"`
	Letters  []string  `json:"letters,omitempty"`
	Error    string    `json:"error,omitempty"`

	key    event.Key
	stored *event.Item   // nil: no event is stored there
	wholes []*event.Item // the event as it is stored and as the archive has it
	parts  []*event.Item // only their types and keys matter
	found  []*event.Item // stored parts that were found elsewhere
	all    bool          // the whole table was read for them
	err    error
}

type Part struct {
	Type  string `json:"type"`
	PK    string `json:"pk"`
	SK    string `json:"sk"`
	Claim bool   `json:"claim,omitempty"`
	State bool   `json:"state,omitempty"`
}

// Look finds what belongs to the events, before anything is changed: afterwards nothing leads to
// it.
func (e *Eraser) Look(ctx context.Context) error {
	for _, ev := range e.list {
		var err error
		if ev.stored, _, _, err = query.Of(e.Store).Find(ctx, ev.key); err != nil {
			return err
		}
	}
	if e.Options.Archive && e.Target.ArchiveBucket != "" {
		if err := e.readFiles(ctx); err != nil {
			return err
		}
	}
	for _, ev := range e.list {
		if err := e.lookAt(ctx, ev); err != nil {
			return err
		}
	}
	if e.Options.Scan {
		if err := e.scan(ctx); err != nil {
			return err
		}
	}
	for _, ev := range e.list {
		whole, parts, err := repair.Of(e.Store).PartsToErase(ctx, ev.key, ev.found, ev.all)
		switch {
		case err != nil && ctx.Err() != nil, err != nil && len(e.list) == 1 && !e.Options.Dry:
			return err
		case err != nil:
			ev.err = err
			continue
		}
		for _, part := range parts {
			if !ev.add(part) || whole == nil || whole.ExpiresAt == 0 || time.Unix(whole.ExpiresAt, 0).After(e.Clock.Now()) {
				continue // no part of it has expired
			}
			e.archiveOf(ctx, ev, part.Key)
		}
	}
	// A pattern may find a whole and its parts. They are one, but not with the state of another.
	all := map[event.Key][]string{}
	for _, ev := range e.list {
		for _, part := range ev.parts {
			all[part.Key] = append(all[part.Key], part.Ties)
		}
	}
	e.list = slices.DeleteFunc(e.list, func(ev *Event) bool {
		ties, is := all[ev.key]
		return is && (ev.stored == nil || slices.Contains(ties, ev.stored.Ties))
	})
	return nil
}

// Add notes a part, and reports whether it is a new one.
func (ev *Event) add(part *event.Item) bool {
	if slices.ContainsFunc(ev.parts, func(p *event.Item) bool { return p.Key == part.Key }) {
		return false
	}
	ev.parts = append(ev.parts, part)
	return true
}

// lookAt reads an event, and what the archive has of it and of its parts.
func (e *Eraser) lookAt(ctx context.Context, ev *Event) error {
	if ev.stored != nil {
		ev.Type, ev.wholes = ev.stored.Type, append(ev.wholes, ev.stored)
	}
	for _, part := range ev.parts { // those that the file of keys names
		e.archiveOf(ctx, ev, part.Key)
		stored, _, _, err := query.Of(e.Store).Find(ctx, part.Key)
		if err != nil {
			return err
		}
		e.storedPart(ctx, ev, stored, nil)
	}
	e.archiveOf(ctx, ev, ev.key)
	read, all := map[string]bool{}, true
	for _, item := range e.files[ev.key] {
		read[item.Name] = true
		known, err := e.archivedParts(ctx, ev, item.Event)
		if err != nil {
			return err
		}
		all = all && known
	}
	for _, one := range ev.Archive {
		if one.Marker || read[one.Name] || !one.of(ev.key) {
			continue
		}
		read[one.Name] = true // its versions are the same event
		whole, err := e.archivedEvent(ctx, one)
		if err != nil {
			e.note(err)
			all = false
			continue
		}
		known, err := e.archivedParts(ctx, ev, whole)
		if err != nil {
			return err
		}
		all = all && known
	}
	ev.all = ev.stored == nil && len(read) > 0 && all
	return nil
}

// readFiles reads the files of the archive for the events and their parts, and once more for the
// parts that events in them had.
func (e *Eraser) readFiles(ctx context.Context) error {
	e.files = map[event.Key][]archive.Item{}
	wanted := map[event.Key]bool{}
	for _, ev := range e.list {
		wanted[ev.key] = true
		for _, part := range ev.parts {
			wanted[part.Key] = true
		}
		if ev.stored != nil {
			e.wantParts(wanted, ev.stored)
		}
		// The event may be an object, and its parts lines of files. lookAt notes what is broken.
		objects, _ := versionsOf(ctx, e.Target.S3(), e.Target.ArchiveBucket, tablearchive.Prefix(ev.key))
		for _, one := range objects {
			if whole, err := e.archivedEvent(ctx, one); err == nil {
				e.wantParts(wanted, whole)
			}
		}
	}
	for len(wanted) > 0 {
		list, _, err := e.bucket().Find(ctx, wanted, archive.Days{Files: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.note(err)
		more := map[event.Key]bool{}
		for _, item := range list {
			e.files[item.Event.Key] = append(e.files[item.Event.Key], item)
			e.wantParts(more, item.Event)
		}
		maps.DeleteFunc(more, func(key event.Key, _ bool) bool { return wanted[key] })
		wanted = more
	}
	return nil
}

// wantParts adds the keys of the parts of an event. archivedParts says why there are none.
func (e *Eraser) wantParts(wanted map[event.Key]bool, whole *event.Item) {
	made, _ := e.Plan.Parts(whole)
	for _, part := range made {
		wanted[part.Key] = true
	}
}

func (e *Eraser) bucket() archive.Bucket {
	return archive.Bucket{S3: e.Target.S3(), Name: e.Target.ArchiveBucket}
}

// archiveOf lists what the archive has under a key, and returns how many objects and lines that
// are.
func (e *Eraser) archiveOf(ctx context.Context, ev *Event, key event.Key) int {
	if e.Target.ArchiveBucket == "" {
		return 0
	}
	list, err := versionsOf(ctx, e.Target.S3(), e.Target.ArchiveBucket, tablearchive.Prefix(key))
	for _, item := range e.files[key] {
		list = append(list, Archive{Bucket: e.Target.ArchiveBucket, Name: item.Name})
	}
	ev.Archive = append(ev.Archive, list...)
	e.note(err)
	return len(list)
}

// archivedEvent reads an event from the archive. Its object is the old image of a stream record.
func (e *Eraser) archivedEvent(ctx context.Context, one Archive) (whole *event.Item, err error) {
	image, _, err := e.bucket().Object(ctx, one.Name, one.Version)
	if err == nil {
		whole, err = archive.Decode(image)
	}
	if err != nil {
		return nil, fmt.Errorf("s3://%s/%s, so it is not known which parts the event had: %w", one.Bucket, one.Name, err)
	}
	return whole, nil
}

// archivedParts finds the parts of an event as the archive has it: their own objects there, and
// those that are still stored. It returns false if it does not find all of them.
func (e *Eraser) archivedParts(ctx context.Context, ev *Event, whole *event.Item) (all bool, err error) {
	ev.wholes = append(ev.wholes, whole)
	made, why := e.Plan.Parts(whole)
	known := 0
	for _, part := range made {
		objects := 0
		if ev.add(part) {
			objects = e.archiveOf(ctx, ev, part.Key)
		} else if len(e.files[part.Key]) > 0 || slices.ContainsFunc(ev.Archive, func(one Archive) bool { return one.of(part.Key) }) {
			objects = 1
		}
		stored, there, _, err := query.Of(e.Store).Find(ctx, part.Key)
		if err != nil {
			return false, err
		}
		if part.Revision == nil && (there || objects > 0) { // the states of others may have replaced its own
			known++
		}
		e.storedPart(ctx, ev, stored, whole)
	}
	if whole.Parts == nil || known >= whole.Parts.Count {
		return whole.Parts != nil, nil
	}
	text := ""
	if why != nil {
		text = ": " + show.Refusal(why)
	}
	if !e.Options.Archive {
		text += ". They may be in the files of the archive: run this command with --archive"
	}
	e.note(fmt.Errorf("the archived event had %d parts (i:parts), and %d of them are found where this pipeline.yaml puts them%s. "+
		"If it has changed since, run this command with --dry-run, and with --pipeline and the file under which the event was stored",
		whole.Parts.Count, known, text))
	return false, nil
}

// storedPart notes a part that is stored, to be erased with an event that is not stored any more. A
// claim or a state may be that of another event by now. whole is the event as the archive has it,
// or nil.
func (e *Eraser) storedPart(ctx context.Context, ev *Event, part, whole *event.Item) {
	if part == nil || ev.stored != nil && (whole == nil || ev.stored.Digest == whole.Digest) {
		return
	}
	_, claim := e.Plan.ClaimOf(part.Type)
	shared := claim || part.Revision != nil
	is := !shared
	if of := e.Plan.WholeOf(part); of != nil {
		is = of.Key == ev.key
	} else if shared && whole != nil {
		var err error
		is, err = e.isPart(ctx, part, whole)
		e.note(err)
	}
	if is {
		ev.addFound(part)
	}
}

// foldersOf returns the types under which erasing an event, or a part, deletes payloads.
func foldersOf(p *pipeline.Pipeline, eventType string, stored bool) []string {
	folders := p.OffloadTypes()
	switch {
	case !stored:
		return slices.Sorted(maps.Keys(p.Describe().Spec.Events))
	case !slices.Contains(folders, eventType):
		folders = append(folders, eventType)
	}
	return folders
}

// payloadsOf lists what the payload bucket has of an event and its parts.
func (e *Eraser) payloadsOf(ctx context.Context, ev *Event) {
	if e.Target.PayloadBucket == "" {
		return
	}
	look := func(folders []string, key event.Key) {
		for _, folder := range folders {
			list, err := versionsOf(ctx, e.Target.S3(), e.Target.PayloadBucket, payloads.Prefix(folder, key))
			if payloads.NoBucket(err) && !e.Plan.UsesOffload() {
				return
			}
			ev.Payloads = append(ev.Payloads, list...)
			e.note(err)
		}
	}
	look(foldersOf(e.Plan, ev.Type, ev.stored != nil), ev.key)
	for _, part := range ev.parts {
		look(foldersOf(e.Plan, part.Type, true), part.Key)
	}
}
