package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

var errBreak = errors.New("the scan breaks off")

// scans is DynamoDB with pages of a few items, which breaks off now and then.
type scans struct {
	tables.Client
	*rand.Rand
	breaks bool
	asked  map[string]int // pages by table
}

func (s *scans) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if s.breaks && s.IntN(12) == 0 {
		return nil, errBreak
	}
	short := *in
	short.Limit = aws.Int32(int32(1 + s.IntN(4)))
	s.asked[*in.TableName]++
	return s.Client.Scan(ctx, &short, o...)
}

// inOrder is a group without concurrency, so that a seed always does the same.
type inOrder struct{}

func (inOrder) Go(do func()) { do() }
func (inOrder) Wait()        {}

// TestComparisonInUnits compares random tables, in one process or in many, which break off, go on
// and do the same unit again. A naive twin knows what differs.
func TestComparisonInUnits(t *testing.T) {
	found, seeds := 0, replay.Seeds(t, 1, 30)
	for _, seed := range seeds {
		m := begin(t)
		draw := rand.New(rand.NewPCG(seed, 0))
		short := &scans{Client: m.engine.DynamoDB(), Rand: draw, asked: map[string]int{}}
		m.config.Client, m.old.Client = short, short
		m.config.Env.Group = func() env.Group { return inOrder{} }
		m.sync = m.reopened()
		var changed []migrate.Changed
		for n := range draw.IntN(40) {
			changed = append(changed, m.row(profile(fmt.Sprintf("%d\x00\"é", n), "ann", []string{"+1", "+2", "+3"}[:draw.IntN(4)]...)))
		}
		if done := m.sync.Do(t.Context(), migrate.Always, changed); len(done.Left) > 0 {
			t.Fatalf("%+v", done)
		}
		want := m.spoil(draw)
		got := m.compareIn(draw, short)
		var is []string
		for _, d := range got.Differences {
			is = append(is, d.Key.PK+" "+d.Key.SK+" "+d.What)
		}
		if found += len(is); !slices.Equal(is, want) || got.Rows != len(changed) || got.Refused+got.Skipped+got.Collisions > 0 {
			t.Errorf("%+v\nwant %q\n%s", got, want, replay.Command(t, seed))
		}
	}
	if len(seeds) > 1 && found < 30 {
		t.Errorf("only %d differences in all tables", found)
	}
}

// spoil removes and changes some copies by hand, and returns what a comparison must find.
func (m *moving) spoil(draw *rand.Rand) (want []string) {
	m.t.Helper()
	out, err := m.engine.DynamoDB().Scan(m.t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.Events)})
	m.must(err)
	for _, img := range out.Items {
		if img["type"] == nil || draw.IntN(4) > 0 {
			continue
		}
		key, what := rows.TextOf(img["PK"])+" "+rows.TextOf(img["SK"]), ""
		switch draw.IntN(3) {
		case 0:
			what = "missing"
			m.gone(stack.Events, migrate.Row{"PK": img["PK"], "SK": img["SK"]})
		case 1:
			what = "different"
			changed := maps.Clone(img)
			changed["digest"] = rows.Binary(make([]byte, 32))
			m.put(stack.Events, changed)
		default:
			what = "left over"
			more := maps.Clone(img)
			more["SK"], more["i:row"] = s(key[strings.Index(key, " ")+1:]+"?"), s(`{"pk":{"S":"USER#1000"},"at":{"S":"never"}}`)
			key += "?"
			m.put(stack.Events, more)
		}
		want = append(want, key+" "+what)
	}
	slices.Sort(want)
	return want
}

// compareIn compares in one process, in one that breaks off and goes on, or in many.
func (m *moving) compareIn(draw *rand.Rand, short *scans) *migrate.Compared {
	m.t.Helper()
	of := sums.Config{Segments: 1 + draw.IntN(4), Buckets: 1 + draw.IntN(4), Memory: 1 + draw.IntN(20_000), Every: time.Nanosecond,
		Work: &testworld.Folder{}}
	unit := func() *migrate.Comparison {
		m.now = m.now.Add(time.Minute)
		c, err := m.sync.Comparison(m.t.Context(), of)
		m.must(err)
		return c
	}
	way := draw.IntN(3)
	if way == 0 {
		of = sums.Config{Segments: of.Segments}
		c, err := unit().Run(m.t.Context(), m)
		m.must(err)
		return c
	}
	short.breaks = true
	for way == 1 {
		if c, err := unit().Run(m.t.Context(), m); !errors.Is(err, errBreak) {
			m.must(err)
			return c
		}
	}
	for range 2 * of.Segments {
		_, _ = unit().Segment(m.t.Context(), draw.IntN(of.Segments))
	}
	short.breaks = false
	for segment := range of.Segments {
		_, err := unit().Segment(m.t.Context(), segment)
		m.must(err)
	}
	asked := maps.Clone(short.asked)
	for i := range 2 * of.Buckets { // each of them twice
		m.must(unit().Merge(m.t.Context(), i/2))
	}
	c, err := unit().Finish(m.t.Context(), m)
	m.must(err)
	must.Match(m.t, short.asked, asked)
	if n := of.Work.(*testworld.Folder).Len(); n < 1 && len(c.Differences) > 0 {
		m.t.Error("nothing was in the folder")
	}
	return c
}

// A comparison reads each table once, whatever differs. Keys that differ are read three times, and
// only they.
func TestComparisonReadsOnce(t *testing.T) {
	m := begin(t)
	var changed []migrate.Changed
	for n := range 200 {
		changed = append(changed, m.row(profile(fmt.Sprint(n), "ann")))
	}
	m.sync.Do(t.Context(), migrate.Always, changed)
	m.put("old", profile("7", "bob"))
	before := m.engine.Usage()
	if c, err := m.sync.Compare(t.Context(), m); err != nil || len(c.Differences) != 1 || c.Rows != 200 || c.Copies != 200 {
		t.Fatalf("%+v, %v", c, err)
	}
	after := m.engine.Usage()
	for api, want := range map[string]int64{"Scan": 2, "BatchGetItem": 6, "UpdateItem": 1} {
		must.Equal(t, after.Requests[api]-before.Requests[api], want, api)
	}
}

// restless is a [migrate.Lag] while which the old table goes on changing.
type restless struct{ *moving }

func (r restless) Counted(context.Context) (time.Time, error) {
	r.now = r.now.Add(time.Second)
	r.put("old", profile("1", fmt.Sprint(r.now)))
	return r.now, nil
}

// A key that changes between two looks is in motion, and no difference.
func TestMotionIsNoDifference(t *testing.T) {
	m := begin(t)
	m.put("old", profile("1", "ann"))
	if c, err := m.sync.Compare(t.Context(), restless{m}); err != nil || !c.Clean() || c.InMotion != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A comparison reads what a copy says, and a later pass mends it: nothing is taken from the digest.
func TestCopiesAreRead(t *testing.T) {
	number := rows.Number
	for name, value := range map[string]types.AttributeValue{"data": s(`{"id":"1","level":1}`), "revision": number("77"),
		"epoch": number("1"), "name": s("bob"), "more": s("x"), "digest": rows.Binary(make([]byte, 32)),
		"GSI1SK": s("?"), "i:put": number("1"), "expiresAt": number("1980000000"), "object": nil} {
		m := beginFrom(t, towns, townsFile)
		m.put("old", village("1", 2000))
		m.copied()
		img := m.item("TOWN#1", "TOWN")
		img[name] = value
		want := "different"
		if value == nil {
			delete(img, name)
			bucket := aws.String(stack.Payloads)
			list, err := m.engine.S3().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: bucket})
			m.must(err)
			_, err = m.engine.S3().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: bucket, Key: list.Contents[0].Key})
			m.must(err)
			want = "without its object in the payload bucket"
		}
		m.put(stack.Events, img)
		c, err := m.sync.Compare(t.Context(), m)
		if err != nil || len(c.Differences) != 1 || c.Differences[0].What != want || c.Untaken != 1 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		m.copied()
		if c, err := m.sync.Compare(t.Context(), m); err != nil || !c.Clean() || c.Copies != 1 {
			t.Errorf("%s is not mended: %+v, %v", name, c, err)
		}
	}
}

// What a work folder holds does not count after the source, or what rows become, has changed.
func TestComparisonOfBefore(t *testing.T) {
	m := begin(t)
	m.row(profile("1", "ann"))
	m.copied()
	of := sums.Config{Segments: 2, Buckets: 1, Work: &testworld.Folder{}}
	c, err := m.sync.Comparison(t.Context(), of)
	m.must(err)
	_, err = c.Segment(t.Context(), 0)
	m.must(err)
	_, err = m.sync.BeginPass(t.Context()) // it may write what the segment has read
	m.must(err)
	c, err = m.sync.Comparison(t.Context(), of)
	m.must(err)
	_, err = c.Segment(t.Context(), 0)
	must.Fail(t, err, "use an empty folder")
}
