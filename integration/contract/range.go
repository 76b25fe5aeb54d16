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

// query reads a range as the store does, page by page, and returns the sort keys of each page.
func (w *table) query(condition string, values attrs) (pages [][]string) {
	w.Helper()
	in := &dynamodb.QueryInput{TableName: &w.name, ConsistentRead: aws.Bool(true), KeyConditionExpression: &condition,
		ExpressionAttributeValues: values}
	for {
		out, err := w.db.Query(ctx, in)
		held(w, err)
		if int(out.Count) != len(out.Items) {
			w.Errorf("Count %d of %d items", out.Count, len(out.Items))
		}
		pages = append(pages, sortKeys(out.Items))
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return pages
		}
	}
}

func sortKeys(items []attrs) []string {
	keys := []string{}
	for _, item := range items {
		keys = append(keys, item["SK"].(*types.AttributeValueMemberS).Value)
	}
	return keys
}

func ranges(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"windows of one total": func(w *table) {
			days := []string{"2018-01-31T00:00:00Z", "2018-02-01T00:00:00Z", "2018-02-02T00:00:00Z", "2018-02-03T00:00:00Z",
				"2018-02-04T00:00:00Z"}
			for _, i := range []int{3, 0, 4, 1, 2} {
				w.put(w.item(days[i], attrs{"n": n("1")}))
				w.put(key(w.pk()+"x", days[i]))
			}
			got := w.query("PK = :pk AND SK BETWEEN :from AND :to", attrs{":pk": s(w.pk()), ":from": s(days[1]), ":to": s(days[3])})
			if want := [][]string{days[1:4]}; fmt.Sprint(got) != fmt.Sprint(want) {
				w.Errorf("got %v, want %v", got, want)
			}
			got = w.query("PK = :pk AND SK BETWEEN :from AND :to",
				attrs{":pk": s(w.pk()), ":from": s("2018-02-01T00:00:01Z"), ":to": s("2018-02-01T23:59:59Z")})
			if want := [][]string{{}}; fmt.Sprint(got) != fmt.Sprint(want) {
				w.Errorf("got %v, want %v", got, want)
			}
		},
		"one item, by both keys": func(w *table) {
			w.put(w.key("-"))
			w.put(w.key("--"))
			if got := w.query("PK = :pk AND SK = :sk", attrs{":pk": s(w.pk()), ":sk": s("-")}); fmt.Sprint(got) != "[[-]]" {
				w.Errorf("got %v", got)
			}
			if got := w.query("PK = :pk AND SK = :sk", attrs{":pk": s(w.pk() + "absent"), ":sk": s("-")}); fmt.Sprint(got) != "[[]]" {
				w.Errorf("got %v", got)
			}
		},
		"sort keys are in the order of their bytes": func(w *table) {
			keys := []string{"a", "B", "ä", "10", "9", "\U0001F600", "\uFFFD", "~", "a#"}
			for _, sk := range keys {
				w.put(w.key(sk))
			}
			slices.Sort(keys)
			got := w.query("PK = :pk AND SK BETWEEN :from AND :to", attrs{":pk": s(w.pk()), ":from": s("1"), ":to": s("\U0010FFFF")})
			if want := [][]string{keys}; fmt.Sprint(got) != fmt.Sprint(want) {
				w.Errorf("got %v, want %v", got, want)
			}
		},
		"invalid keys": func(w *table) {
			for _, values := range []attrs{{":pk": s(""), ":sk": s("1")}, {":pk": s(w.pk()), ":sk": s("")}, {":pk": n("1"), ":sk": s("1")},
				{":pk": s(w.pk()), ":sk": n("1")}} {
				_, err := w.db.Query(ctx, &dynamodb.QueryInput{TableName: &w.name, ConsistentRead: aws.Bool(true),
					KeyConditionExpression: aws.String("PK = :pk AND SK = :sk"), ExpressionAttributeValues: values})
				refused(w, err, pick(w, h, "keys of a query", "ValidationException", ""))
			}
		},
		"how many there are": func(w *table) {
			for i := range 3 {
				w.put(w.item(fmt.Sprint(i), attrs{"n": n(fmt.Sprint(i))}))
			}
			values := attrs{":p": s(w.pk()), ":n": n("1")}
			q, err := w.db.Query(ctx, &dynamodb.QueryInput{TableName: &w.name, Select: types.SelectCount,
				KeyConditionExpression: aws.String("PK = :p"), FilterExpression: aws.String("n >= :n"), ExpressionAttributeValues: values})
			if err != nil || q.Count != 2 || q.ScannedCount != 3 || q.Items != nil {
				w.Errorf("%+v, %v", q, err)
			}
			in, found := &dynamodb.ScanInput{TableName: &w.name, Select: types.SelectCount,
				FilterExpression: aws.String("PK = :p AND n >= :n"), ExpressionAttributeValues: values}, int32(0)
			for first := true; first || in.ExclusiveStartKey != nil; first = false {
				out, err := w.db.Scan(ctx, in)
				if err != nil || out.Items != nil {
					w.Fatalf("%+v, %v", out, err)
				}
				found, in.ExclusiveStartKey = found+out.Count, out.LastEvaluatedKey
			}
			if found != 2 {
				w.Errorf("%d found", found)
			}
			in.ProjectionExpression = aws.String("PK")
			_, err = w.db.Scan(ctx, in)
			refused(w, err, "ValidationException")
		},
		"a range that ends before it begins": func(w *table) {
			_, err := w.db.Query(ctx,
				&dynamodb.QueryInput{TableName: &w.name, KeyConditionExpression: aws.String("PK = :pk AND SK BETWEEN :from AND :to"),
					ExpressionAttributeValues: attrs{":pk": s(w.pk()), ":from": s("2"), ":to": s("1")}})
			refused(w, err, "ValidationException")
		},
		"a page ends at 1 MB": func(w *table) {
			body := s(strings.Repeat("x", 390*1024))
			for i := range 5 {
				w.put(w.item(fmt.Sprint(i), attrs{"data": body}))
			}
			got := w.query("PK = :pk AND SK BETWEEN :from AND :to", attrs{":pk": s(w.pk()), ":from": s("0"), ":to": s("9")})
			if all := slices.Concat(got...); fmt.Sprint(all) != "[0 1 2 3 4]" {
				w.Errorf("pages %v", got)
			}
			for _, page := range got { // it is not documented whether the item that passes 1 MB is in this page or in the next
				if len(page) > 3 {
					w.Errorf("a page of %d items of 390 KB", len(page))
				}
			}
		},
		"a table that is not there": func(w *table) {
			_, err := w.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(w.name + "-gone"),
				KeyConditionExpression: aws.String("PK = :pk"), ExpressionAttributeValues: attrs{":pk": s("a")}})
			refused(w, err, "ResourceNotFoundException")
			_, err = w.db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(w.name + "-gone")})
			refused(w, err, "ResourceNotFoundException")
		},
	})
	h.run(t, "a scan of a table without items", func(t *testing.T) {
		w := newTable(t, h)
		out, err := w.db.Scan(ctx, &dynamodb.ScanInput{TableName: &w.name, ConsistentRead: aws.Bool(true)})
		if err != nil || len(out.Items) != 0 || len(out.LastEvaluatedKey) != 0 {
			t.Errorf("%d items, last key %s, %v", len(out.Items), show(out.LastEvaluatedKey), err)
		}
	})
	h.run(t, "a scan sees every item once", func(t *testing.T) {
		w := newTable(t, h)
		body := s(strings.Repeat("x", 300*1024))
		want := map[string]bool{}
		for i := range 9 {
			item := with(key(fmt.Sprint("p", i%4), fmt.Sprint(i)), attrs{"data": body})
			w.put(item)
			want[fmt.Sprint(i)] = true
		}
		in := &dynamodb.ScanInput{TableName: &w.name, ConsistentRead: aws.Bool(true)}
		pages := w.scanPages(in, want)
		if len(want) > 0 || pages < 3 {
			t.Errorf("%d items missing after %d pages", len(want), pages)
		}
	})
}

// scanPages follows a Scan to its end, and counts its pages. It takes what comes out of want, and
// reports what is not in it.
func (w *table) scanPages(in *dynamodb.ScanInput, want map[string]bool) (pages int) {
	w.Helper()
	for {
		out, err := w.db.Scan(ctx, in)
		held(w, err)
		pages++
		for _, sk := range sortKeys(out.Items) {
			if !want[sk] {
				w.Errorf("item %s came twice", sk)
			}
			delete(want, sk)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return pages
		}
	}
}
