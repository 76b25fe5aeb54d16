package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// part is a part of a partition that a pattern reads. In the condition, PK and SK stand for the key
// that is read.
type part struct {
	condition string
	values    attrs
	want      string
}

// parts are all that the store asks for. The partition has the sort keys 1, 2, 22 and 3.
var parts = []part{
	{"PK = :pk", nil, "1 2 22 3"},
	{"PK = :pk AND SK >= :low", attrs{":low": s("2")}, "2 22 3"},
	{"PK = :pk AND SK <= :high", attrs{":high": s("22")}, "1 2 22"},
	{"PK = :pk AND SK BETWEEN :low AND :high", attrs{":low": s("2"), ":high": s("22")}, "2 22"},
	{"PK = :pk AND begins_with(SK, :prefix)", attrs{":prefix": s("2")}, "2 22"},
	{"PK = :pk AND SK = :low", attrs{":low": s("2")}, "2"},
}

// asking returns the request with which the store reads a part of a partition by the key of the
// table, or by that of an index.
func (w *table) asking(p part, index string, backward bool, limit int32) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{TableName: &w.name, ScanIndexForward: aws.Bool(!backward), Limit: &limit,
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		KeyConditionExpression:    aws.String(strings.NewReplacer("PK", index+"PK", "SK", index+"SK").Replace(p.condition)),
		ExpressionAttributeValues: with(attrs{":pk": s(w.pk())}, p.values)}
	if index != "" {
		in.IndexName = &index
	} else {
		in.ConsistentRead = aws.Bool(false)
	}
	return in
}

// answer sends a request and the ones that go on with it. It returns one attribute of each item,
// page by page. An empty page at the end does not count: the service may send one if the page
// before it was full.
func (w *table) answer(in *dynamodb.QueryInput, attribute string) (pages []string) {
	w.Helper()
	for {
		out, err := w.db.Query(ctx, in)
		held(w, err)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) > 0 || len(out.Items) > 0 {
			var page []string
			for _, item := range out.Items {
				page = append(page, textOf(item[attribute]))
			}
			pages = append(pages, strings.Join(page, " "))
		}
		if len(in.ExclusiveStartKey) == 0 {
			return pages
		}
	}
}

func textOf(v types.AttributeValue) string {
	if text, ok := v.(*types.AttributeValueMemberS); ok {
		return text.Value
	}
	return ""
}

// shelve puts items into the partition that the case reads by the key of the table, and items with
// the same keys into that of the index. It waits until reads that are not consistent see them.
func (w *table) shelve(sks ...string) {
	w.Helper()
	for i, sk := range sks {
		if !slices.Contains(sks[:i], sk) {
			w.put(w.key(sk))
		}
		w.put(with(w.shelved(i), attrs{"GSI1PK": s(w.pk()), "GSI1SK": s(sk)}))
	}
	for _, index := range []string{"", "GSI1"} {
		want := len(sks)
		if index == "" {
			want = len(slices.Compact(slices.Sorted(slices.Values(sks))))
		}
		w.h.Until(w, "all items are seen", func() bool {
			out, err := w.db.Query(ctx, w.asking(parts[0], index, false, 1000))
			held(w, err)
			return len(out.Items) == want
		})
	}
}

// shelved returns the table's own key of an item that is in the index.
func (w *table) shelved(i int) attrs { return key(fmt.Sprint(w.pk(), "/", i), "-") }

// start returns the key behind which a reading goes on.
func (w *table) start(index, sk string, i int) attrs {
	if index == "" {
		return w.key(sk)
	}
	return with(w.shelved(i), attrs{index + "PK": s(w.pk()), index + "SK": s(sk)})
}

// patterns checks how the store reads partitions of the table and of an index.
func patterns(t *testing.T, h *Harness) {
	both := func(do func(index string, backward bool)) {
		for _, index := range []string{"", "GSI1"} {
			for _, backward := range []bool{false, true} {
				do(index, backward)
			}
		}
	}
	newTable(t, h).each(t, map[string]func(*table){
		"every part of a partition, in both orders": func(w *table) {
			w.shelve("3", "1", "22", "2")
			both(func(index string, backward bool) {
				for _, p := range parts {
					want := strings.Fields(p.want)
					if backward {
						slices.Reverse(want)
					}
					for _, limit := range []int{1, 2, 3, 1000} {
						var pages []string
						for page := range slices.Chunk(want, limit) {
							pages = append(pages, strings.Join(page, " "))
						}
						in := w.asking(p, index, backward, int32(limit))
						if got := w.answer(in, index+"SK"); !slices.Equal(got, pages) {
							w.Errorf("%s, backward %t, limit %d: %q, want %q", *in.KeyConditionExpression, backward, limit, got, pages)
						}
						if index != "" {
							continue
						}
						in = w.asking(p, index, backward, int32(limit))
						in.ConsistentRead = aws.Bool(true)
						if got := w.answer(in, "SK"); !slices.Equal(got, pages) {
							w.Errorf("%s, consistent, backward %t, limit %d: %q, want %q", *in.KeyConditionExpression, backward, limit,
								got, pages)
						}
					}
				}
			})
		},
		"a prefix ends at its last byte": func(w *table) {
			w.shelve("ä", "äö", "a", "b", "\u00e5", "\U0001F600", "\U0001F601")
			for prefix, want := range map[string]string{"ä": "ä äö", "a": "a", "\U0001F600": "\U0001F600", "c": ""} {
				for _, index := range []string{"", "GSI1"} {
					in := w.asking(part{"PK = :pk AND begins_with(SK, :prefix)", attrs{":prefix": s(prefix)}, want}, index, false, 1000)
					if got := strings.Join(w.answer(in, index+"SK"), "|"); got != want {
						w.Errorf("%q of %s: %q, want %q", prefix, *in.KeyConditionExpression, got, want)
					}
				}
			}
		},
		"items of an index under one key come once each": func(w *table) {
			w.shelve("1", "1", "1", "1", "1")
			for _, backward := range []bool{false, true} {
				in := w.asking(parts[0], "GSI1", backward, 2)
				seen := map[string]bool{}
				for {
					out, err := w.db.Query(ctx, in)
					held(w, err)
					for _, item := range out.Items {
						if pk := textOf(item["PK"]); seen[pk] {
							w.Errorf("backward %t: %s came twice", backward, pk)
						} else {
							seen[pk] = true
						}
					}
					if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
						break
					}
					if len(out.Items) > 0 { // all keys of the last item, so that the next page can begin behind just it
						w.same("last key", out.LastEvaluatedKey, out.Items[len(out.Items)-1])
					}
				}
				if len(seen) != 5 {
					w.Errorf("backward %t: %d of 5 items", backward, len(seen))
				}
			}
		},
		"a reading goes on behind a key that is not there": func(w *table) {
			w.shelve("1", "2", "22", "3")
			both(func(index string, backward bool) {
				for _, p := range parts[:5] { // the key is inside the range of each
					var want []string
					for _, sk := range strings.Fields(p.want) {
						if backward && sk < "21" || !backward && sk > "21" {
							want = append(want, sk)
						}
					}
					if backward {
						slices.Reverse(want)
					}
					in := w.asking(p, index, backward, 1000)
					in.ExclusiveStartKey = w.start(index, "21", 9)
					if got := strings.Join(w.answer(in, index+"SK"), "|"); got != strings.Join(want, " ") {
						w.Errorf("%s, backward %t: %q, want %q", *in.KeyConditionExpression, backward, got, want)
					}
				}
			})
		},
		"a start outside the question": func(w *table) {
			own, indexed := w.start("", "2", 0), w.start("GSI1", "2", 0)
			elsewhere := pick(w, h, "a start in another partition", "ValidationException", "")
			for _, c := range []struct {
				index string
				start attrs
				want  string
			}{{"", attrs{"PK": s(w.pk())}, "ValidationException"}, {"", indexed, "ValidationException"},
				{"", key(w.pk()+"x", "2"), elsewhere},
				{"GSI1", own, "ValidationException"}, {"GSI1", with(indexed, attrs{"GSI1PK": s(w.pk() + "x")}), elsewhere}} {
				in := w.asking(parts[0], c.index, false, 1)
				in.ExclusiveStartKey = c.start
				_, err := w.db.Query(ctx, in)
				if got := code(err); got != c.want {
					w.Errorf("%s of %q: %q, want %q", show(c.start), c.index, got, c.want)
				}
			}
		},
		"an index has no consistent reads": func(w *table) {
			in := w.asking(parts[0], "GSI1", false, 1)
			in.ConsistentRead = aws.Bool(true)
			_, err := w.db.Query(ctx, in)
			refused(w, err, "ValidationException")
		},
		"an invalid index and limit": func(w *table) {
			in := w.asking(parts[0], "GSI1", false, 1)
			in.IndexName = aws.String("GSI9")
			_, err := w.db.Query(ctx, in)
			refused(w, err, pick(w, h, "an index that is not there", "ValidationException", "ResourceNotFoundException"))
			_, err = w.db.Query(ctx, w.asking(parts[0], "", false, 0))
			refused(w, err, "ValidationException")
		},
	})
	h.run(t, "the segments of a scan together see every item once", func(t *testing.T) {
		w := newTable(t, h)
		body := s(strings.Repeat("x", 300*1024))
		want := map[string]bool{}
		for i := range 16 {
			w.put(with(key(fmt.Sprint("p", i), fmt.Sprint(i)), attrs{"data": body}))
			want[fmt.Sprint(i)] = true
		}
		pages := 0
		for segment := range 2 {
			in := &dynamodb.ScanInput{TableName: &w.name, ConsistentRead: aws.Bool(true), Segment: aws.Int32(int32(segment)),
				TotalSegments:          aws.Int32(2),
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
			pages += w.scanPages(in, want)
		}
		if len(want) > 0 || pages < 4 { // 16 times 300 KB are at least 4 pages in all
			t.Errorf("%d items missing after %d pages", len(want), pages)
		}
		_, err := w.db.Scan(ctx, &dynamodb.ScanInput{TableName: &w.name, Segment: aws.Int32(2), TotalSegments: aws.Int32(2)})
		refused(t, err, "ValidationException")
	})
}
