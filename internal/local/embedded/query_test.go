package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func text(v types.AttributeValue) string {
	if t, ok := v.(*types.AttributeValueMemberS); ok {
		return t.Value
	}
	return ""
}

// pages runs a query to its end and counts its pages.
func (w *world) pages(in *dynamodb.QueryInput) (items []attrs, pages int) {
	w.Helper()
	for {
		out, err := w.db.Query(background, in)
		held(w, err)
		items = append(items, out.Items...)
		pages++
		if out.LastEvaluatedKey == nil {
			return items, pages
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// TestQueryAgainstList compares queries with a plain list that is filtered and sorted.
func TestQueryAgainstList(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	letters := func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteByte("abcd"[r.IntN(4)])
		}
		return b.String()
	}
	stored := map[[2]string]attrs{}
	for range 600 {
		it := item(letters(1), letters(4), nil)
		if r.IntN(2) == 0 {
			it["GSI1PK"], it["GSI1SK"] = s(letters(1)), s(letters(3))
		}
		stored[[2]string{text(it["PK"]), text(it["SK"])}] = it
		w.put(it)
	}
	conditions := []struct {
		expr  string
		holds func(sk, x, y string) bool
	}{
		{"", func(_, _, _ string) bool { return true }},
		{" AND %s = :x", func(sk, x, _ string) bool { return sk == x }},
		{" AND %s < :x", func(sk, x, _ string) bool { return sk < x }},
		{" AND %s <= :x", func(sk, x, _ string) bool { return sk <= x }},
		{" AND %s > :x", func(sk, x, _ string) bool { return sk > x }},
		{" AND %s >= :x", func(sk, x, _ string) bool { return sk >= x }},
		{" AND %s BETWEEN :x AND :y", func(sk, x, y string) bool { return x <= sk && sk <= y }},
		{" AND begins_with(%s, :x)", func(sk, x, _ string) bool { return strings.HasPrefix(sk, x) }},
	}
	for i := range 1500 {
		c := conditions[r.IntN(len(conditions))]
		pk, x, y := letters(1), letters(3), letters(3)
		if x > y {
			x, y = y, x
		}
		in := &dynamodb.QueryInput{TableName: aws.String("events"), ScanIndexForward: aws.Bool(r.IntN(2) == 0),
			ExpressionAttributeValues: attrs{":p": s(pk)}}
		pkName, skName := "PK", "SK"
		if r.IntN(2) == 0 {
			pkName, skName, in.IndexName = "GSI1PK", "GSI1SK", aws.String("GSI1")
		}
		expr := pkName + " = :p"
		if c.expr != "" {
			expr += fmt.Sprintf(c.expr, skName)
			in.ExpressionAttributeValues[":x"] = s(x)
		}
		if strings.Contains(expr, ":y") {
			in.ExpressionAttributeValues[":y"] = s(y)
		}
		in.KeyConditionExpression = aws.String(expr)
		if r.IntN(2) == 0 {
			in.Limit = aws.Int32(int32(1 + r.IntN(5)))
		}
		order := func(it attrs) string {
			return strings.Join([]string{text(it[skName]), text(it["PK"]), text(it["SK"])}, "\x00")
		}
		var want []string
		for _, it := range stored {
			if text(it[pkName]) == pk && it[skName] != nil && c.holds(text(it[skName]), x, y) {
				want = append(want, order(it))
			}
		}
		slices.Sort(want)
		if !*in.ScanIndexForward {
			slices.Reverse(want)
		}
		items, _ := w.pages(in)
		var got []string
		for _, it := range items {
			got = append(got, order(it))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, query %d: %s (p %s, x %s, y %s, forward %v)\n got %q\nwant %q", seed, i, expr, pk, x, y,
				*in.ScanIndexForward, got, want)
		}
	}
}

func TestQueryPages(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.put(item("a", fmt.Sprintf("%02d", i), attrs{"v": s(strings.Repeat("x", 100_000)), "odd": n(fmt.Sprint(i % 2))}))
	}
	in := &dynamodb.QueryInput{TableName: aws.String("events"), KeyConditionExpression: aws.String("PK = :p"),
		FilterExpression:     aws.String("odd = :one"),
		ProjectionExpression: aws.String("SK"), ExpressionAttributeValues: attrs{":p": s("a"), ":one": n("1")}}
	items, pages := w.pages(in)
	if len(items) != 15 || pages != 3 || len(items[0]) != 1 {
		t.Errorf("%d items on %d pages of 1 MB, want 15 on 3; first %v", len(items), pages, items[0])
	}
	in = &dynamodb.QueryInput{TableName: aws.String("events"), KeyConditionExpression: aws.String("PK = :p"),
		ExpressionAttributeValues: attrs{":p": s("a")}, Limit: aws.Int32(5)}
	out, err := w.db.Query(background, in)
	if err != nil || out.Count != 5 || out.ScannedCount != 5 || text(out.LastEvaluatedKey["SK"]) != "04" {
		t.Errorf("limit: %v, %v", out.LastEvaluatedKey, err)
	}
}

// TestQueryMistakes has what the contract leaves out.
func TestQueryMistakes(t *testing.T) {
	w := newWorld(t)
	for expr, want := range map[string]string{
		"SK = :p":                 "Query condition missed key schema element: PK",
		"PK > :p":                 "Query key condition not supported",
		"PK = :p AND total1 = :x": "Query condition missed key schema element",
		"PK = :p AND SK <> :x":    "Invalid operator used in KeyConditionExpression: <>",
		"PK = :p OR SK = :x":      "Invalid operator used in KeyConditionExpression: OR",
	} {
		in := &dynamodb.QueryInput{TableName: aws.String("events"), KeyConditionExpression: aws.String(expr),
			ExpressionAttributeValues: attrs{}}
		for name, v := range (attrs{":p": s("p"), ":x": s("x")}) {
			if strings.Contains(expr, name) {
				in.ExpressionAttributeValues[name] = v
			}
		}
		_, err := w.db.Query(background, in)
		t.Run(expr, func(t *testing.T) { expectInvalid(t, err, want) })
	}
	base := func() *dynamodb.QueryInput {
		return &dynamodb.QueryInput{TableName: aws.String("events"), KeyConditionExpression: aws.String("PK = :p"),
			ExpressionAttributeValues: attrs{":p": s("p")}}
	}
	in := base()
	in.FilterExpression = aws.String("SK = :p")
	_, err := w.db.Query(background, in)
	expectInvalid(t, err, "Filter Expression can only contain non-primary key attributes: Primary key attribute: SK")
	for range_, key := range map[string]attrs{"PK = :p AND SK > :x": key("p", "x"), "PK = :p AND SK < :x": key("p", "y"),
		"PK = :p AND begins_with(SK, :x)": key("p", "w")} {
		in = base()
		in.KeyConditionExpression, in.ExclusiveStartKey = aws.String(range_), key
		in.ExpressionAttributeValues[":x"] = s("x")
		_, err = w.db.Query(background, in)
		expectInvalid(t, err, "The provided starting key does not match the range key predicate")
	}
	for filter, want := range map[string]string{
		"a1 = a1": "Invalid FilterExpression: The first operand must be distinct",
		"attribute_exists(a1) AND a2 < :l": "Invalid FilterExpression: Incorrect operand type for operator or function; operator " +
			"or function: <, operand type: L",
		"a1 = :p OR a2 BETWEEN :p AND :l":         "Invalid FilterExpression: Incorrect operand type",
		"a1 = :p OR NOT a2 BETWEEN :p AND :n":     "requires same data type for lower and upper bounds",
		"a1 = :p OR (a2 = :p AND a1 IN (:p, a1))": "operator: IN, first operand: [a1]",
	} {
		in = base()
		in.FilterExpression = &filter
		for name, v := range (attrs{":l": list(), ":n": n("1")}) {
			if strings.Contains(filter, name) {
				in.ExpressionAttributeValues[name] = v
			}
		}
		_, err = w.db.Query(background, in) // there are no items to filter
		t.Run(filter, func(t *testing.T) { expectInvalid(t, err, want) })
	}
	for what, names := range map[string]map[string]string{
		"contains invalid value: Empty attribute name for key #a": {"#a": ""},
		"contains a key that is too long; size of key: 256":       {"#a": "a", "#" + strings.Repeat("a", 255): "b"},
	} {
		in = base()
		in.ProjectionExpression, in.ExpressionAttributeNames = aws.String("#a"), names
		_, err = w.db.Query(background, in)
		expectInvalid(t, err, "ExpressionAttributeNames contains invalid")
		expectInvalid(t, err, what)
	}
	in = base()
	in.ExpressionAttributeValues[":"+strings.Repeat("a", 255)] = s("x")
	_, err = w.db.Query(background, in)
	expectInvalid(t, err, "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long")
}

// TestScan shows that segments are disjoint and together complete. Each can be read page by page
// while items come and go.
func TestScan(t *testing.T) {
	w := newWorld(t)
	want := map[string]bool{}
	for i := range 500 {
		pk, sk := fmt.Sprint("p", i%120), fmt.Sprint("s", i)
		want[pk+"/"+sk] = true
		w.put(item(pk, sk, attrs{"even": n(fmt.Sprint(i % 2))}))
	}
	for _, total := range []int32{1, 3, 7} {
		got := map[string]bool{}
		for segment := range total {
			in := &dynamodb.ScanInput{TableName: aws.String("events"), Segment: aws.Int32(segment), TotalSegments: aws.Int32(total),
				Limit: aws.Int32(7)}
			for {
				out, err := w.db.Scan(background, in)
				held(t, err)
				for _, it := range out.Items {
					k := text(it["PK"]) + "/" + text(it["SK"])
					if got[k] {
						t.Fatalf("%s came twice", k)
					}
					got[k] = true
				}
				if out.LastEvaluatedKey == nil {
					break
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
				last := out.LastEvaluatedKey // a page may start after an item that is gone
				_, err = w.db.DeleteItem(background,
					&dynamodb.DeleteItemInput{TableName: aws.String("events"), Key: last})
				held(t, err)
				defer w.put(last)
			}
		}
		for k := range got {
			if !want[k] {
				t.Errorf("%d segments: %s is not in the table", total, k)
			}
		}
		if total == 1 && len(got) != 500 {
			t.Errorf("%d items, want 500", len(got))
		}
		for k := range want {
			if got[k] {
				continue
			}
			if pk, sk, _ := strings.Cut(k, "/"); w.get(pk, sk) != nil {
				t.Errorf("%d segments: %s was not found", total, k)
			}
		}
	}
	out, err := w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), FilterExpression: aws.String("even = :one"),
		ProjectionExpression: aws.String("PK"), ExpressionAttributeValues: attrs{":one": n("1")}})
	if err != nil || out.Count == 0 || out.Count >= out.ScannedCount || len(out.Items[0]) != 1 {
		t.Errorf("filtered: %v, %v", out, err)
	}
	for _, c := range []struct {
		segment, total int32
		want           string
	}{
		{3, 3, "must be less than parameter TotalSegments"},
		{-1, 3, "Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0"},
		{0, 0, "Value '0' at 'totalSegments' failed to satisfy constraint: Member must have value greater than or equal to 1"},
		{0, 1_000_001,
			"Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000"},
	} {
		_, err = w.db.Scan(background, &dynamodb.ScanInput{TableName: aws.String("events"), Segment: &c.segment, TotalSegments: &c.total})
		expectInvalid(t, err, c.want)
	}
}
