package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// A worker of a pass looks at the control item before each part of a page, and notes there each
// minute that it works. It sends nothing more than workerLife after it looked. If it was killed,
// the next pass waits until betweenPasses after the last time at which it may have sent something.
// What a pass may have left on its way that has ended, or that has stopped between two parts, does
// no harm: each of its keys holds something.
const (
	workerLife    = time.Minute
	workerNotes   = time.Minute
	betweenPasses = Quiet
	waitStep      = 10 * time.Second // how often a pass that waits reports
)

// Pass is one pass over all rows. [Migration.BeginPass] makes it.
type Pass struct {
	sync   *Migration
	Number int64
	// Remove says that the pass goes on also if it removes more than 1 % of as many copies as there
	// are rows. Otherwise it stops there with a [*StopError], because a mistake in migration.yaml,
	// or rows that are gone by mistake, look like that. 100 copies may always go.
	Remove bool
	first  bool // it inserts rows as the scan read them; later ones compare each row and each copy
	way    Direction
	from   time.Time // nothing of an earlier pass is on its way from then on
	noted  time.Time // when the control item was last told that it works
	within bool      // a part has begun, and is not done
}

// BeginPass begins a pass over all rows: the first one inserts what is absent, and later ones mend
// what differs. An earlier pass ends where it is.
func (s *Migration) BeginPass(ctx context.Context) (*Pass, error) {
	c, err := s.Begin(ctx)
	if err != nil {
		return nil, err
	}
	p := &Pass{sync: s, Number: c.Pass + 1, first: c.Filled == 0}
	if p.way, err = s.standing(c); err != nil {
		return nil, err
	}
	begun, err := s.update(ctx, "SET pass = :next, mapping = :mapping "+void, "pass = :last", rows.Image{":next": rows.Integer(p.Number),
		":last": rows.Integer(c.Pass), ":mapping": rows.Text(s.mapping.Digest()), ":one": rows.Integer(1)})
	if err != nil {
		return nil, err
	}
	if !begun {
		// An earlier try of this call, or another process. Nobody can tell, so that pass is left to
		// it.
		return nil, errors.New("another pass has begun at the same time: begin again once it is over")
	}
	if c.Pass > max(c.Filled, c.halted) {
		const most = workerNotes + workerLife + betweenPasses
		if p.from = s.store.Env.Now().Add(most); !c.worked.IsZero() && c.worked.Add(most).Before(p.from) {
			p.from = c.worked.Add(most)
		}
	}
	return p, nil
}

// Progress is what a pass has done so far.
type Progress struct {
	Synced
	Rows     int // that were read
	Inserted int // by the first pass
	// Waits is how long the pass still waits before it begins, because one that was killed may have
	// something on its way.
	Waits time.Duration
}

// add adds what a call has done, and returns why it is not finished.
func (p *Synced) add(s Synced) error {
	p.Written += s.Written
	p.Tombstones += s.Tombstones
	p.Collisions += s.Collisions
	p.Skipped += s.Skipped
	p.Expired += s.Expired
	p.Refused += s.Refused
	return s.Err
}

// ErrOvertaken says that another pass has begun.
var ErrOvertaken = errors.New("another pass has begun, so this one ends")

// Run goes over all rows, and then, unless it is the first pass, over all copies. If an earlier
// pass was killed, it waits before that, for 17 minutes at most. report, if set, is called after
// each part of a page, and every ten seconds while it waits. When ctx ends, the part that has begun
// is done before Run returns.
func (p *Pass) Run(ctx context.Context, report func(Progress)) (done Progress, err error) {
	tell := func() {
		if report != nil {
			report(done)
		}
	}
	e := p.sync.store.Env
	for done.Waits = p.from.Sub(e.Now()); done.Waits > 0; done.Waits = p.from.Sub(e.Now()) {
		tell()
		if err := e.Sleep(ctx, min(done.Waits, waitStep)); err != nil {
			return done, err
		}
	}
	done.Waits = 0
	defer func() {
		if err != nil && !p.within { // the next pass need not wait
			_, _ = p.sync.update(context.WithoutCancel(ctx), "SET halted = :n", "pass = :n", rows.Image{":n": rows.Integer(p.Number)})
		}
	}()
	for page, err := range walk.Pages(ctx, p.sync.source, p.sync.old.Table, walk.Part{}) {
		if err == nil {
			err = p.page(ctx, page.All, &done, tell)
		}
		if err != nil {
			return done, err
		}
	}
	for page, err := range walk.Pages(ctx, p.sync.store, p.sync.store.Events, walk.Part{}) {
		if p.first {
			break
		}
		if err == nil {
			err = p.copies(ctx, page.All, &done)
		}
		if err != nil {
			return done, err
		}
		tell()
	}
	ended, err := p.sync.update(ctx, "SET filled = :n", "pass = :n", rows.Image{":n": rows.Integer(p.Number)})
	if err == nil && !ended {
		err = ErrOvertaken
	}
	return done, err
}

// insertRows is how many rows the first pass inserts after each look at the control item: 16
// requests.
const insertRows = rows.MostPace * rows.MaxStatements

// page copies one page of rows, as many at a time as requests can take side by side.
func (p *Pass) page(ctx context.Context, page []Row, done *Progress, tell func()) error {
	most := rows.MaxKeys
	if p.first {
		most = insertRows
	}
	for part := range slices.Chunk(page, most) {
		done.Rows += len(part)
		err := p.part(ctx, func(ctx context.Context) (err error) {
			if p.first {
				part, err = p.insert(ctx, part, done)
			}
			if err != nil || len(part) == 0 {
				return err
			}
			return p.syncRows(ctx, part, done)
		})
		if err == nil {
			err = p.few(done)
		}
		if err != nil {
			return err
		}
		tell()
	}
	return nil
}

// few returns an error if the pass removes more than somebody may have meant.
func (p *Pass) few(done *Progress) error {
	if p.Remove || done.Tombstones <= max(100, done.Rows/100) {
		return nil
	}
	return stopped("pass %d has removed %d copies after %d rows, which is much: if migration.yaml is right and the rows are gone on purpose, "+
		"run `ingot migrate backfill --yes --remove`", p.Number, done.Tombstones, done.Rows)
}

// part looks whether this pass may go on, and does a part of it within the life of a worker.
func (p *Pass) part(ctx context.Context, do func(context.Context) error) error {
	e := p.sync.store.Env
	looked := e.Now()
	c, err := p.sync.Control(ctx)
	if err != nil {
		return err
	}
	way, err := p.sync.allows(c)
	switch {
	case err != nil:
		return err
	case c.Pass != p.Number || way != p.way:
		return ErrOvertaken
	case looked.Sub(p.noted) >= workerNotes:
		if err := p.noteWork(ctx, c, looked); err != nil {
			return err
		}
	}
	ctx, stop := e.Deadline(context.WithoutCancel(ctx), looked.Add(workerLife))
	defer stop()
	p.within = true
	if err := do(ctx); err != nil {
		return err
	}
	p.within = false
	return nil
}

// noteWork notes that this pass sends from now on. A note that is late changes nothing.
func (p *Pass) noteWork(ctx context.Context, c *Control, now time.Time) error {
	values := rows.Image{":n": rows.Integer(p.Number), ":now": rows.Text(keys.FormatTime(now.UTC()))}
	condition := "pass = :n AND attribute_not_exists(workedAt)"
	if !c.worked.IsZero() {
		condition, values[":was"] = "pass = :n AND workedAt = :was", rows.Text(keys.FormatTime(c.worked.UTC()))
	}
	noted, err := p.sync.update(ctx, "SET workedAt = :now", condition, values)
	if err == nil && !noted { // an earlier try has noted it, or another pass has begun
		if c, err = p.sync.Control(ctx); err == nil && (c.Pass != p.Number || !c.worked.Equal(now)) {
			err = ErrOvertaken
		}
	}
	p.noted = now
	return err
}

func (p *Pass) syncRows(ctx context.Context, list []Row, done *Progress) error {
	changed := make([]Changed, len(list))
	for i, row := range list {
		changed[i] = Changed{Key: rowmap.KeyOf(row, p.sync.old.Keys), Images: []Row{row}}
	}
	if p.way == Backward {
		return done.add(p.sync.bring(ctx, IfDifferent, changed, nil))
	}
	return done.add(p.sync.Do(ctx, IfDifferent, changed))
}

// copies syncs the rows that the copies of a page are of.
func (p *Pass) copies(ctx context.Context, page []rows.Image, done *Progress) error {
	page = slices.DeleteFunc(page, func(img rows.Image) bool { return !p.sync.mapping.Becomes(rows.TextOf(img["type"])) })
	for part := range slices.Chunk(page, rows.MaxKeys) {
		err := p.part(ctx, func(ctx context.Context) error {
			if p.way == Backward {
				return done.add(p.sync.bring(ctx, IfDifferent, nil, changesOf(part)))
			}
			list := make([]event.Key, len(part))
			for i, img := range part {
				list[i] = rows.KeyOf(img)
			}
			return done.add(p.sync.DoKeys(ctx, IfDifferent, list))
		})
		if err == nil {
			err = p.few(done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insertion is an item that the first pass inserts, and its row.
type insertion struct {
	row  Row
	item *event.Item
}

// insert inserts the items of rows as they were read, where the key is absent, 25 to a request. It
// returns the rows that met something under one of their keys: it is right, or another row's.
func (p *Pass) insert(ctx context.Context, page []Row, done *Progress) (left []Row, err error) {
	var list []insertion
	taken := map[event.Key]bool{}
	for _, row := range page {
		m, why := p.sync.itemsOf(row)
		done.note(why)
		for _, item := range m.Items {
			if taken[item.Key] || item.Payload != nil {
				left = append(left, row) // two rows on one key, or an object that is to be put before
				break
			}
		}
		for _, item := range m.Items {
			if !taken[item.Key] && item.Payload == nil {
				taken[item.Key] = true
				list = append(list, insertion{row, item})
			}
		}
	}
	var chunks [][]insertion
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && n < rows.MaxStatements {
			if bytes += list[n].item.Size(); n > 0 && bytes > rows.MaxRequestBytes {
				break
			}
			n++
		}
		chunks, list = append(chunks, list[:n]), list[n:]
	}
	met, errs := make([][]Row, len(chunks)), make([]error, len(chunks))
	p.sync.store.Each(len(chunks), rows.MostPace, func(i int) { met[i], errs[i] = p.insertChunk(ctx, chunks[i]) })
	for i, chunk := range chunks {
		done.Inserted += len(chunk) - len(met[i])
		left = append(left, met[i]...)
	}
	return left, errors.Join(errs...)
}

// insertChunk inserts items with one request, and returns the rows of those that it did not insert.
// An item that was throttled is one of them: its sync asks until it is done.
func (p *Pass) insertChunk(ctx context.Context, chunk []insertion) (met []Row, err error) {
	texts := plain.InsertTexts{Table: p.sync.store.Events}
	statements := make([]types.BatchStatementRequest, len(chunk))
	for i, in := range chunk {
		item := *in.item
		item.Epoch = 0
		statements[i] = texts.Statement(append(rows.AppendAttributes(nil, &item),
			rows.Attribute{Name: itemform.Migrated, Value: p.sync.draw()},
			rows.Attribute{Name: rowAttribute, Value: rows.Text(rowmap.NameOf(in.row, p.sync.old.Keys))}))
	}
	var responses []types.BatchStatementResponse
	err = p.sync.store.Ask(ctx, func() (err error) {
		responses, err = p.sync.store.Execute(ctx, statements)
		return err
	})
	p.sync.store.Pace.Learn(rows.Classify(err))
	if err != nil {
		return nil, fmt.Errorf("inserting copies: %w", err)
	}
	for i, in := range chunk {
		if responses[i].Error != nil {
			met = append(met, in.row)
		}
	}
	return met, nil
}

// note counts a row that has no copy.
func (s *Synced) note(why noCopy) {
	switch why {
	case skipped:
		s.Skipped++
	case expired:
		s.Expired++
	case refused:
		s.Refused++
	}
}
