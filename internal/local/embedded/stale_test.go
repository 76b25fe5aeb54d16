package embedded_test

import (
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

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// replica is a table with stale reads. The test sets how many of the latest writes they lack.
type replica struct {
	*world
	lacks  int
	writes int // what a replica may lack, as the engine last reported it
}

func newReplica(t *testing.T) *replica {
	r := &replica{}
	r.world = newWorld(t, func(c *embedded.Config) {
		c.Behind = func(read embedded.Read) int {
			r.writes = read.Writes
			return r.lacks
		}
	})
	return r
}

// told lists items as text, in order of their keys.
func told(items ...attrs) string {
	var lines []string
	for _, it := range items {
		if it != nil {
			lines = append(lines, fmt.Sprint(text(it["PK"]), "/", text(it["SK"]), "=", text(it["v"]), " ", text(it["GSI1PK"])))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// read reads the whole table in one way.
func (r *replica) read(how string, consistent bool, keys []attrs) string {
	r.Helper()
	table, strong := aws.String("events"), aws.Bool(consistent)
	var items []attrs
	switch how {
	case "GetItem":
		for _, k := range keys {
			out, err := r.db.GetItem(background, &dynamodb.GetItemInput{TableName: table, Key: k, ConsistentRead: strong})
			held(r, err)
			items = append(items, out.Item)
		}
	case "BatchGetItem":
		out, err := r.db.BatchGetItem(background,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"events": {Keys: keys, ConsistentRead: strong}}})
		held(r, err)
		items = out.Responses["events"]
	case "Query":
		for _, pk := range []string{"p0", "p1"} {
			found, _ := r.pages(&dynamodb.QueryInput{TableName: table, ConsistentRead: strong,
				KeyConditionExpression:    aws.String("PK = :pk"),
				ExpressionAttributeValues: attrs{":pk": s(pk)}, Limit: aws.Int32(3)})
			items = append(items, found...)
		}
	case "Query of the index":
		for _, pk := range []string{"g0", "g1"} {
			found, _ := r.pages(&dynamodb.QueryInput{TableName: table, IndexName: aws.String("GSI1"),
				KeyConditionExpression:    aws.String("GSI1PK = :pk"),
				ExpressionAttributeValues: attrs{":pk": s(pk)}})
			items = append(items, found...)
		}
	case "Scan":
		out, err := r.db.Scan(background, &dynamodb.ScanInput{TableName: table, ConsistentRead: strong})
		held(r, err)
		items = out.Items
	}
	return told(items...)
}

var readings = []string{"GetItem", "BatchGetItem", "Query", "Query of the index", "Scan"}

// TestStaleReads shows that a stale answer is the whole table as it was some writes ago, whichever
// way it is read.
func TestStaleReads(t *testing.T) {
	const seed, steps = 5, 400
	rnd := rand.New(rand.NewPCG(seed, 0))
	w := newReplica(t)
	var keys []attrs
	for i := range 12 {
		keys = append(keys, key(fmt.Sprint("p", i%2), fmt.Sprint("s", i/2)))
	}
	now := map[int]attrs{}
	past := []map[int]attrs{{}} // the table after each write
	for step := range steps {
		i := rnd.IntN(len(keys))
		switch it := item(text(keys[i]["PK"]), text(keys[i]["SK"]),
			attrs{"v": s(fmt.Sprint(step)), "GSI1PK": s(fmt.Sprint("g", rnd.IntN(2))), "GSI1SK": s("x")}); rnd.IntN(4) {
		case 0:
			if now[i] == nil {
				continue // there is nothing to remove, so there is no write
			}
			_, err := w.db.DeleteItem(background, &dynamodb.DeleteItemInput{TableName: aws.String("events"), Key: keys[i]})
			held(t, err)
			delete(now, i)
		case 1:
			_, err := w.db.TransactWriteItems(background,
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("events"),
					Item: it}}}})
			held(t, err)
			now[i] = it
		default:
			w.put(it)
			now[i] = it
		}
		past = append(past, maps.Clone(now))
		w.clock.advance(50 * time.Millisecond)

		known := min(64, len(past)-1)
		for _, how := range readings {
			w.lacks = rnd.IntN(known + 1)
			want := told(slices.Collect(maps.Values(past[len(past)-1-w.lacks]))...)
			if got := w.read(how, false, keys); got != want {
				t.Fatalf("seed %d, step %d: %s, %d writes behind, answers\n%s\nand the table was\n%s", seed, step, how, w.lacks, got, want)
			}
			current := told(slices.Collect(maps.Values(now))...)
			if got := w.read(how, true, keys); how != "Query of the index" && got != current {
				t.Fatalf("seed %d, step %d: a consistent %s, %d writes behind, answers\n%s\nand the table is\n%s", seed, step, how, w.lacks,
					got, current)
			}
		}
		if w.writes != known {
			t.Fatalf("seed %d, step %d: a replica may lack %d writes, want %d", seed, step, w.writes, known)
		}
	}
}

func TestReplicasCatchUp(t *testing.T) {
	w := newReplica(t)
	keys := []attrs{key("p0", "s0")}
	w.put(item("p0", "s0", attrs{"v": s("old"), "GSI1PK": s("g0"), "GSI1SK": s("x")}))
	w.clock.advance(time.Second)
	w.put(item("p0", "s0", attrs{"v": s("new"), "GSI1PK": s("g1"), "GSI1SK": s("x")}))
	w.lacks = 1000
	for _, tt := range []struct {
		wait time.Duration
		want string
	}{{0, ""}, {3999 * time.Millisecond, ""}, {time.Millisecond, "p0/s0=old g0"}, {time.Second, "p0/s0=new g1"}} {
		w.clock.advance(tt.wait)
		for _, how := range readings {
			must.Equal(t, w.read(how, false, keys), tt.want, tt.wait, how)
		}
	}
	w.lacks = -1
	w.put(item("p0", "s0", attrs{"v": s("newer"), "GSI1PK": s("g1"), "GSI1SK": s("x")}))
	must.Equal(t, w.read("GetItem", false, keys), "p0/s0=newer g1")
}

// TestStaleReadsLeaveNoTrace shows that the writes that were taken back for a read are done again.
// The read changes nothing in the table, its size, its stream or its capacity.
func TestStaleReadsLeaveNoTrace(t *testing.T) {
	w := newReplica(t)
	w.put(item("p0", "s0", attrs{"v": s("1")}))
	w.put(item("p0", "s1", attrs{"v": s("1")}))
	w.put(item("p0", "s0", attrs{"v": s("22")}))
	describe := func() string {
		out, err := w.db.DescribeTable(background, &dynamodb.DescribeTableInput{TableName: aws.String("events")})
		held(t, err)
		return fmt.Sprint(*out.Table.ItemCount, " items of ", *out.Table.TableSizeBytes, " bytes")
	}
	before, used := describe(), w.e.Usage()
	w.lacks = 3
	for _, how := range readings {
		w.read(how, false, []attrs{key("p0", "s0"), key("p0", "s1")})
	}
	must.Equal(t, describe(), before)
	must.Equal(t, w.e.Usage().Sub(used).WriteUnits(), 0)
	w.lacks = 0
	must.Equal(t, w.read("Scan", false, nil), "p0/s0=22 \np0/s1=1 ")
	if _, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: key("p0", "s1"),
		ConditionExpression: aws.String("attribute_not_exists(PK)")}); err == nil {
		t.Error("a condition is judged on what a stale read saw")
	}
}
