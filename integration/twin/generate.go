package twin

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type attrs = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func b(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }
func yes(v bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v} }
func with(item, more attrs) attrs     { out := maps.Clone(item); maps.Copy(out, more); return out }
func pick[T any](g *gen, all ...T) T  { return all[g.IntN(len(all))] }
func (g *gen) sometimes(in int) bool  { return g.IntN(in) == 0 }
func (g *gen) few(most int, do func()) {
	for range 1 + g.IntN(most) {
		do()
	}
}

// place is where a stream takes place. Streams share a table, and each uses its own partitions.
type place struct{ table, prefix string }

// spot is one of the few keys of a stream.
type spot struct{ pk, sk string }

func (p place) key(k spot) attrs { return attrs{"PK": s(p.prefix + k.pk), "SK": s(k.sk)} }

// Op is one request, the same wherever it happens.
type Op func(place) any

// Stream returns the requests of one seed.
func Stream(seed uint64, length int) []Op {
	g := &gen{rand.New(rand.NewPCG(seed, 17))}
	kinds := []func() Op{g.put, g.putNew, g.putNew, g.putSeen, g.count, g.count, g.count, g.count, g.head, g.touch, g.remove,
		g.statements, g.statements, g.updates, g.updates, g.transaction, g.transaction, g.transaction, g.transaction, g.get,
		g.batchGet, g.query}
	ops := make([]Op, length)
	for i := range ops {
		ops[i] = pick(g, kinds...)()
	}
	return ops
}

type gen struct{ *rand.Rand }

func (g *gen) spot() spot { return spot{pick(g, "p", "q"), pick(g, "-", "1", "2", "ä", "R#a", "R#b")} }

// spots returns different spots, as the store sends them. Now and then, one spot comes twice.
func (g *gen) spots(most int) []spot {
	var all []spot
	g.few(most, func() {
		if k := g.spot(); !slices.Contains(all, k) {
			all = append(all, k)
		}
	})
	return all
}

// number returns a mostly small number, so that conditions both hold and fail.
func (g *gen) number() types.AttributeValue {
	if g.sometimes(12) {
		return n(pick(g, strings.Repeat("9", 38), "-"+strings.Repeat("9", 38), "0."+strings.Repeat("3", 37), "9e124", "-9e124", "1e-100",
			"12345678901234567890"))
	}
	return n(pick(g, "0", "1", "2", "3", "-1", "-2", "10", "9", "0.5", "2.25", "-0.75", "1e3"))
}

func (g *gen) mark() types.AttributeValue {
	return b(pick(g, "\x00", "\x01", "\x01\x00", "\x02", "\x7f", "\x80", "\xff"))
}

// data returns the attributes of an item besides its key. Now and then an attribute has another
// type than the one that the store writes.
func (g *gen) data() attrs {
	item := attrs{}
	for _, name := range []string{"n", "fp", "revenue", "largest", "least", "revision", "behind", "epoch"} {
		if g.sometimes(3) {
			item[name] = g.number()
		}
	}
	for _, name := range []string{"digest", "m:a", "m:b"} {
		if g.sometimes(3) {
			item[name] = g.mark()
		}
	}
	if g.sometimes(4) {
		item["meta"] = &types.AttributeValueMemberM{Value: attrs{"source": s("it's"), "live": yes(true)}}
	}
	if g.sometimes(12) {
		item[pick(g, "n", "revenue", "largest", "least", "m:a", "digest", "revision")] = pick(g, s("x"), s(""), yes(true), n("7"), b("7"))
	}
	if g.sometimes(40) { // no item is full to the last 200 bytes, because Dynoxide counts updates of such items differently
		item["data"] = s(strings.Repeat("x", pick(g, 1000, 5000, 409_000, 409_000, 410_000)))
	}
	return item
}

func (g *gen) onFailure() types.ReturnValuesOnConditionCheckFailure {
	return pick(g, types.ReturnValuesOnConditionCheckFailureAllOld, types.ReturnValuesOnConditionCheckFailureAllOld,
		types.ReturnValuesOnConditionCheckFailureNone)
}

func (g *gen) put() Op {
	k, data := g.spot(), g.data()
	return func(p place) any { return &dynamodb.PutItemInput{TableName: &p.table, Item: with(data, p.key(k))} }
}

func (g *gen) putNew() Op {
	k, data, failure := g.spot(), g.data(), g.onFailure()
	return func(p place) any {
		return &dynamodb.PutItemInput{TableName: &p.table, Item: with(data, p.key(k)),
			ConditionExpression: aws.String("attribute_not_exists(PK)"), ReturnValuesOnConditionCheckFailure: failure}
	}
}

func (g *gen) putSeen() Op {
	k, data, seen, digest, failure := g.spot(), g.data(), g.number(), g.mark(), g.onFailure()
	return func(p place) any {
		return &dynamodb.PutItemInput{TableName: &p.table, Item: with(data, p.key(k)),
			ConditionExpression:       aws.String("#r = :seen AND #d = :digest"),
			ExpressionAttributeNames:  map[string]string{"#r": "revision", "#d": "digest"},
			ExpressionAttributeValues: attrs{":seen": seen, ":digest": digest}, ReturnValuesOnConditionCheckFailure: failure}
	}
}

// count returns an update of an aggregate item under marks.
func (g *gen) count() Op {
	e, k, failure := g.expression(true), g.spot(), g.onFailure()
	returns := pick(g, types.ReturnValueAllNew, types.ReturnValueAllNew, types.ReturnValueNone)
	return func(p place) any {
		return &dynamodb.UpdateItemInput{TableName: &p.table, Key: p.key(k), UpdateExpression: aws.String(e.update()),
			ConditionExpression:      e.condition(),
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValues: returns,
			ReturnValuesOnConditionCheckFailure: failure}
	}
}

// head returns an update of a head: behind, flagged or complete.
func (g *gen) head() Op {
	k, behind := g.spot(), g.number()
	in := pick(g,
		dynamodb.UpdateItemInput{UpdateExpression: aws.String("ADD #behind :one SET #building = :true"),
			ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building"},
			ExpressionAttributeValues: attrs{":one": n("1"), ":true": yes(true)}},
		dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET #flag = if_not_exists(#flag, :flag)"),
			ExpressionAttributeNames: map[string]string{"#flag": "flag"}, ExpressionAttributeValues: attrs{":flag": s("why")}},
		dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET #building = :false"),
			ConditionExpression:       aws.String("#behind = :behind"),
			ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building"},
			ExpressionAttributeValues: attrs{":false": yes(false), ":behind": behind}})
	return func(p place) any {
		one := in
		one.TableName, one.Key = &p.table, p.key(k)
		return &one
	}
}

func (g *gen) touch() Op {
	k, epoch := g.spot(), g.number()
	return func(p place) any {
		return &dynamodb.UpdateItemInput{TableName: &p.table, Key: p.key(k), UpdateExpression: aws.String("SET #e = :now"),
			ConditionExpression:      aws.String("attribute_exists(PK) AND (attribute_not_exists(#e) OR #e < :now)"),
			ExpressionAttributeNames: map[string]string{"#e": "epoch"}, ExpressionAttributeValues: attrs{":now": epoch}}
	}
}

func (g *gen) remove() Op {
	k := g.spot()
	return func(p place) any { return &dynamodb.DeleteItemInput{TableName: &p.table, Key: p.key(k)} }
}

// statements returns inserts of new items.
func (g *gen) statements() Op {
	spots, items := g.spots(6), []attrs{}
	for range spots {
		item := g.data()
		if text, ok := item["data"].(*types.AttributeValueMemberS); ok && len(text.Value) > 400_000 {
			// It is not documented which error comes first for an item that is too large under a
			// key that is taken.
			delete(item, "data")
		}
		items = append(items, item)
	}
	return func(p place) any {
		in := &dynamodb.BatchExecuteStatementInput{}
		for i, k := range spots {
			item := with(items[i], p.key(k))
			names := slices.Sorted(maps.Keys(item))
			one := types.BatchStatementRequest{Statement: aws.String(fmt.Sprintf(`INSERT INTO "%s" VALUE {'%s': ?}`, p.table,
				strings.Join(names, "': ?, '")))}
			for _, name := range names {
				one.Parameters = append(one.Parameters, item[name])
			}
			in.Statements = append(in.Statements, one)
		}
		return in
	}
}

// updates returns statements that count into totals. Now and then one of them inserts a total.
func (g *gen) updates() Op {
	var all []func(place) types.BatchStatementRequest
	for _, k := range g.spots(6) {
		var sets, conditions []string
		var values, compared []types.AttributeValue
		set := func(assignment string, v types.AttributeValue, condition string, with ...types.AttributeValue) {
			sets, values = append(sets, assignment), append(values, v)
			conditions, compared = append(conditions, condition), append(compared, with...)
		}
		for _, name := range []string{"n", "fp", "revenue"} {
			switch {
			case g.sometimes(3): // Dynoxide treats a missing summand as 0, so no such sum is asked for
				set(`"`+name+`" = `+name+` + ?`, g.number(), `"`+name+`" IS NOT MISSING`)
			case g.sometimes(2):
				set(`"`+name+`" = ?`, g.number(), `"`+name+`" IS MISSING`)
			}
		}
		if g.sometimes(2) {
			v := g.number()
			set(`"largest" = ?`, v, `("largest" IS MISSING OR "largest" < ?)`, v)
		}
		set(`"m:a" = ?`, g.mark(), `("m:a" IS MISSING OR "m:a" < ?)`, g.mark())
		text := strings.Join(sets, ", ")
		if g.sometimes(3) {
			text += ` REMOVE "m:b"`
			conditions, compared = append(conditions, `"m:b" = ?`), append(compared, g.mark())
		}
		insert := g.sometimes(4)
		all = append(all, func(p place) types.BatchStatementRequest {
			key := p.key(k)
			if insert {
				return types.BatchStatementRequest{Statement: aws.String(`INSERT INTO "` + p.table +
					`" VALUE {'PK': ?, 'SK': ?, 'm:a': ?}`), Parameters: []types.AttributeValue{key["PK"], key["SK"],
					values[len(values)-1]}}
			}
			return types.BatchStatementRequest{Statement: aws.String(`UPDATE "` + p.table + `" SET ` + text +
				` WHERE PK = ? AND SK = ? AND ` + strings.Join(conditions, " AND ")),
				Parameters: slices.Concat(values, []types.AttributeValue{key["PK"], key["SK"]}, compared)}
		})
	}
	return func(p place) any {
		in := &dynamodb.BatchExecuteStatementInput{}
		for _, one := range all {
			in.Statements = append(in.Statements, one(p))
		}
		return in
	}
}

// transaction returns receipts and aggregate items, or an epoch and its heads. Now and then it has
// a token.
func (g *gen) transaction() Op {
	var parts []func(place) types.TransactWriteItem
	for _, k := range g.spots(5) {
		if e := g.expression(false); g.sometimes(2) {
			failure := g.onFailure()
			parts = append(parts, func(p place) types.TransactWriteItem {
				return types.TransactWriteItem{Update: &types.Update{TableName: &p.table, Key: p.key(k),
					UpdateExpression: aws.String(e.update()), ConditionExpression: e.condition(),
					ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values, ReturnValuesOnConditionCheckFailure: failure}}
			})
			continue
		}
		put, item := types.Put{ConditionExpression: aws.String("attribute_not_exists(PK)")}, attrs{"expiresAt": n("4102444800")}
		if g.sometimes(4) {
			put = types.Put{ConditionExpression: aws.String("#e = :from"), ExpressionAttributeNames: map[string]string{"#e": "epoch"},
				ExpressionAttributeValues: attrs{":from": g.number()}}
			item = attrs{"epoch": g.number()}
		}
		parts = append(parts, func(p place) types.TransactWriteItem {
			one := put
			one.TableName, one.Item = &p.table, with(item, p.key(k))
			return types.TransactWriteItem{Put: &one}
		})
	}
	if g.sometimes(20) {
		parts = append(parts, parts[0]) // one item twice
	}
	token := ""
	if g.sometimes(8) {
		token = pick(g, "a", "b")
	}
	return func(p place) any {
		in := &dynamodb.TransactWriteItemsInput{}
		if token != "" {
			in.ClientRequestToken = aws.String(p.prefix + token)
		}
		for _, part := range parts {
			in.TransactItems = append(in.TransactItems, part(p))
		}
		return in
	}
}

func (g *gen) get() Op {
	k := g.spot()
	return func(p place) any {
		return &dynamodb.GetItemInput{TableName: &p.table, Key: p.key(k), ConsistentRead: aws.Bool(true)}
	}
}

func (g *gen) batchGet() Op {
	spots, judging := g.spots(6), g.sometimes(2)
	return func(p place) any {
		request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
		if judging {
			request.ProjectionExpression = aws.String("PK, SK, #t, #d, #r, #e, #p")
			request.ExpressionAttributeNames = map[string]string{"#t": "type", "#d": "digest", "#r": "revision", "#e": "expiresAt",
				"#p": "data"}
		}
		for _, k := range spots {
			request.Keys = append(request.Keys, p.key(k))
		}
		return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{p.table: request}}
	}
}

// query reads a range in pages. The store sets no limit. The limit here stands for the pages that 1
// MB would make.
func (g *gen) query() Op {
	k, limit, one := g.spot(), pick(g, 1, 2, 100), g.sometimes(3)
	from, to := g.spot().sk, g.spot().sk
	if from > to {
		from, to = to, from
	}
	return func(p place) any {
		in := &dynamodb.QueryInput{TableName: &p.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit))}
		if one {
			in.KeyConditionExpression, in.ExpressionAttributeValues = aws.String("PK = :pk AND SK = :sk"),
				attrs{":pk": s(p.prefix + k.pk), ":sk": s(k.sk)}
		} else {
			in.KeyConditionExpression = aws.String("PK = :pk AND SK BETWEEN :from AND :to")
			in.ExpressionAttributeValues = attrs{":pk": s(p.prefix + k.pk), ":from": s(from), ":to": s(to)}
		}
		return in
	}
}
