package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/pipeline"
)

// tables checks the keys and the TTL of both tables. It also checks the stream and the indexes of
// the events table, and that the aggregates table has no stream.
func (c *checker) tables() {
	events := c.table(c.ingest, "INGOT_TABLE")
	totals := c.table(c.streams, "INGOT_AGGREGATES_TABLE")
	if events != nil && events == totals {
		n := c.variable(c.streams.Resource, "INGOT_AGGREGATES_TABLE")
		c.mistake("two-tables", n.Position, "events and totals share table "+events.Name+": totals would feed their own stream", "a table of their own")
		totals = nil
	}
	if c.isTable(events) {
		c.keys(events)
		c.timeToLive(events)
		c.images(events)
		c.indexes(events)
		c.attributes(events)
		c.provisioned(events)
		c.indexAlarms(events)
	}
	if c.isTable(totals) {
		c.keys(totals)
		c.timeToLive(totals)
		c.attributes(totals)
		c.provisioned(totals)
		c.rankIndex(totals)
		if m := c.t.Property(totals, "StreamSpecification"); m != nil {
			c.mistake("totals-stream", m.Position, totals.Name+" has a stream: totals must never feed themselves, and nothing reads it; take StreamSpecification out", "")
		}
	}
}

// rankIndex checks the index that keeps totals in order, if an aggregate is ranked.
func (c *checker) rankIndex(totals *template.Resource) {
	if c.p == nil {
		return
	}
	i := slices.IndexFunc(c.p.Definitions(), func(d *aggregate.Definition) bool { return d.Rank.Value != "" })
	if i < 0 {
		return
	}
	const schema = `KeySchema: [{AttributeName: "` + lanes.RankAttribute + `", KeyType: HASH}, {AttributeName: "` + lanes.ScoreAttribute + `", KeyType: RANGE}]`
	list := c.t.Property(totals, "GlobalSecondaryIndexes")
	if list != nil && list.Kind != template.List {
		c.cannotTell("rank-index", list, totals.Name+" has the index "+lanes.RankIndex)
		return
	}
	for _, item := range items(list) {
		if item = c.t.Resolve(item); item == nil {
			continue
		}
		name := c.t.Get(item, "IndexName")
		if name == nil || name.Kind != template.Scalar {
			c.cannotTell("rank-index", item, totals.Name+" has the index "+lanes.RankIndex)
			return
		}
		if name.Text != lanes.RankIndex {
			continue
		}
		keys := c.t.Get(item, "KeySchema")
		switch hash, sort, ok := c.schema(keys); {
		case !ok:
			c.cannotTell("rank-index", keys, "the key of index "+lanes.RankIndex+" is "+lanes.RankAttribute+" and "+lanes.ScoreAttribute)
		case hash != lanes.RankAttribute || sort != lanes.ScoreAttribute:
			c.mistake("rank-index", where(keys, name.Position), fmt.Sprintf("the key of index %s is %s, and totals have %s and %s", lanes.RankIndex, pair(hash, sort), lanes.RankAttribute, lanes.ScoreAttribute), schema)
		default:
			c.scoreIsNumber(totals)
		}
		return
	}
	c.mistake("rank-index", where(list, totals.Position), fmt.Sprintf("%s has no index %s, which keeps the totals of %s in order", totals.Name, lanes.RankIndex, c.p.Definitions()[i].Name),
		"{IndexName: "+lanes.RankIndex+", "+schema+`, Projection: {ProjectionType: KEYS_ONLY}} into GlobalSecondaryIndexes, and {AttributeName: "`+lanes.RankAttribute+`", AttributeType: S} and {AttributeName: "`+lanes.ScoreAttribute+`", AttributeType: N} into AttributeDefinitions`)
}

// scoreIsNumber checks the type of the attribute that totals are ordered by.
func (c *checker) scoreIsNumber(totals *template.Resource) {
	for _, item := range items(c.t.Property(totals, "AttributeDefinitions")) {
		name, kind := c.t.Get(item, "AttributeName"), c.t.Get(item, "AttributeType")
		if name != nil && kind != nil && name.Text == lanes.ScoreAttribute && kind.Kind == template.Scalar && kind.Text != "N" {
			c.mistake("rank-index", kind.Position, fmt.Sprintf("attribute %s is of type %s, and totals are ordered by a number", lanes.ScoreAttribute, kind.Text), "AttributeType: N")
		}
	}
}

// isTable reports whether r has the properties that the rules read.
func (c *checker) isTable(r *template.Resource) bool {
	switch {
	case r == nil:
		return false
	case r.Type != "AWS::DynamoDB::Table" && r.Type != "AWS::DynamoDB::GlobalTable":
		c.mistake("table", r.Position, r.Name+" is "+r.Type, "Type: AWS::DynamoDB::Table")
		return false
	}
	c.replicas(r)
	return true
}

// replicas warns of a table that is in more than one Region, because each Region judges conditions
// by itself.
func (c *checker) replicas(table *template.Resource) {
	n := c.t.Property(table, "Replicas")
	switch {
	case n == nil:
	case n.Kind != template.List:
		c.cannotTell("replicas", n, table.Name+" is in one Region only")
	case len(n.Items) > 1:
		c.warn("replicas", n.Position, fmt.Sprintf("%s is in %d Regions: run both functions in one of them only, since a condition is "+
			"judged in each Region alone; %s says what holds then", table.Name, len(n.Items), excerpt.Page("deploy.md#tables-in-several-regions")), "")
	}
}

func (c *checker) keys(table *template.Resource) {
	schema := c.t.Property(table, "KeySchema")
	const instead = "KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, KeyType: RANGE}]"
	switch hash, sort, ok := c.schema(schema); {
	case !ok:
		c.cannotTell("table-key", schema, "the table's key is PK and SK")
	case hash != "PK" || sort != "SK":
		c.mistake("table-key", where(schema, table.Position), fmt.Sprintf("the key of %s is %s, not PK and SK", table.Name, pair(hash, sort)), instead)
	default:
		c.text(table, "table-key", "PK", "SK")
	}
}

func pair(hash, sort string) string {
	if sort == "" {
		return hash + " alone"
	}
	return hash + " and " + sort
}

// schema returns the two attribute names of a KeySchema. ok is false if they cannot be determined.
func (c *checker) schema(n *template.Node) (hash, sort string, ok bool) {
	if n == nil {
		return "nothing", "", true
	}
	if n.Kind != template.List {
		return "", "", false
	}
	hash = "nothing"
	for _, item := range n.Items {
		name, kind := c.t.Get(item, "AttributeName"), c.t.Get(item, "KeyType")
		if name == nil || kind == nil || name.Kind != template.Scalar || kind.Kind != template.Scalar {
			return "", "", false
		}
		if kind.Text == "HASH" {
			hash = name.Text
		} else {
			sort = name.Text
		}
	}
	return hash, sort, true
}

// provisioned checks that a table is paid by the request, or that the table and each of its indexes
// say how much they provide.
func (c *checker) provisioned(table *template.Resource) {
	const instead = "BillingMode: PAY_PER_REQUEST"
	if table.Type != "AWS::DynamoDB::Table" {
		return
	}
	mode := c.t.Property(table, "BillingMode")
	switch {
	case mode != nil && mode.Kind != template.Scalar:
		c.cannotTell("capacity", mode, table.Name+" has the capacity that its BillingMode needs")
		return
	case mode != nil && mode.Text != "PROVISIONED":
		return
	}
	at, what := where(mode, table.Position), table.Name+" has BillingMode PROVISIONED"
	if mode == nil {
		what = table.Name + " has no BillingMode, which means PROVISIONED,"
	}
	if c.t.Property(table, "ProvisionedThroughput") == nil {
		c.mistake("capacity", at, what+" and no ProvisionedThroughput: CloudFormation refuses the table", instead)
		return
	}
	c.someCapacity(table.Name, c.t.Property(table, "ProvisionedThroughput"))
	for _, item := range items(c.t.Property(table, "GlobalSecondaryIndexes")) {
		item = c.t.Resolve(item)
		if name := c.t.Get(item, "IndexName"); name != nil && c.t.Get(item, "ProvisionedThroughput") == nil {
			c.mistake("capacity", name.Position, what+" and index "+nameOf(name)+" no ProvisionedThroughput: CloudFormation refuses the table", "ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5} beside it")
		} else if name != nil {
			c.someCapacity("index "+nameOf(name), c.t.Get(item, "ProvisionedThroughput"))
		}
	}
}

// someCapacity refuses a capacity of 0, which DynamoDB does not take.
func (c *checker) someCapacity(of string, throughput *template.Node) {
	for _, name := range []string{"ReadCapacityUnits", "WriteCapacityUnits"} {
		if n := c.t.Get(throughput, name); n != nil && n.Kind == template.Scalar && n.Text == "0" {
			c.mistake("capacity", n.Position, of+" has "+name+" 0: CloudFormation refuses the table", name+": 1, or more")
		}
	}
}

// text checks that every key attribute is declared, and that it is text.
func (c *checker) text(table *template.Resource, rule string, names ...string) {
	list := c.t.Property(table, "AttributeDefinitions")
	if list == nil || list.Kind != template.List {
		return // the rule about attributes reports it
	}
	for _, item := range list.Items {
		name, kind := c.t.Get(item, "AttributeName"), c.t.Get(item, "AttributeType")
		if name != nil && kind != nil && slices.Contains(names, name.Text) && kind.Kind == template.Scalar && kind.Text != "S" {
			c.mistake(rule, kind.Position, fmt.Sprintf("attribute %s is of type %s: all keys are text", name.Text, kind.Text), "AttributeType: S")
		}
	}
}

func (c *checker) timeToLive(table *template.Resource) {
	const instead = "TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}"
	n := c.t.Property(table, "TimeToLiveSpecification")
	if n == nil {
		c.mistake("ttl", table.Position, table.Name+" has no time to live: nothing in it would ever expire", instead)
		return
	}
	name, enabled := c.t.Get(n, "AttributeName"), c.t.Get(n, "Enabled")
	for _, part := range []*template.Node{n, name, enabled} {
		if part != nil && part.Kind != template.Scalar && part.Kind != template.Map {
			c.cannotTell("ttl", part, "items of "+table.Name+" expire by attribute expiresAt")
			return
		}
	}
	if name == nil || name.Text != "expiresAt" {
		c.mistake("ttl", where(name, n.Position), table.Name+" expires by another attribute than expiresAt", instead)
	} else if enabled == nil || enabled.Text != "true" {
		c.mistake("ttl", where(enabled, n.Position), "time to live of "+table.Name+" is off: nothing in it would ever expire", instead)
	}
}

// images checks that both images are in the stream, because a change counts new minus old.
func (c *checker) images(table *template.Resource) {
	const instead = "StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}"
	n := c.t.Property(table, "StreamSpecification", "StreamViewType")
	switch {
	case n == nil:
		c.mistake("stream-images", table.Position, table.Name+" has no stream: nothing would be counted", instead)
	case n.Kind != template.Scalar:
		c.cannotTell("stream-images", n, "the stream carries new and old images")
	case n.Text != "NEW_AND_OLD_IMAGES":
		c.mistake("stream-images", n.Position, "the stream carries "+n.Text+": a change counts new minus old, so both are needed", instead)
	}
}

// indexes compares the table's indexes with those that the pipeline writes keys for.
func (c *checker) indexes(table *template.Resource) {
	if c.p == nil {
		return
	}
	list := c.t.Property(table, "GlobalSecondaryIndexes")
	var there []string
	doubt := list != nil && list.Kind != template.List
	if doubt {
		c.cannotTell("index", list, table.Name+" has the indexes of "+c.declared.file)
	} else if list != nil {
		for _, item := range list.Items {
			if item = c.t.Resolve(item); item == nil {
				continue // AWS::NoValue: it is not created
			}
			name := c.t.Get(item, "IndexName")
			if name == nil || name.Kind != template.Scalar {
				doubt = true
				c.warn("index", item.Position, "cannot tell the name of this index", "")
				continue
			}
			there = append(there, name.Text)
			c.index(table, name, c.t.Get(item, "KeySchema"))
			c.projection(name, c.t.Get(item, "Projection"))
		}
	}
	missing := slices.DeleteFunc(slices.Clone(c.p.Indexes()), func(name string) bool { return slices.Contains(there, name) })
	if !doubt && len(missing) > 0 {
		c.lacks(table, list, missing)
	}
}

// index checks one index of the table.
func (c *checker) index(table *template.Resource, name, schema *template.Node) {
	if !slices.Contains(c.p.Indexes(), name.Text) {
		c.warn("index-unused", name.Position, fmt.Sprintf("no event type of %s is in index %s: nothing would ever be in it; take out the index, its attributes %[2]sPK and %[2]sSK and its alarm, or give an event type indexes: {%[2]s: {pk: …, sk: …}}", c.declared.file, name.Text), "")
		return
	}
	hash, sort, ok := c.schema(schema)
	switch {
	case !ok:
		c.cannotTell("index", schema, "the key of index "+name.Text+" is "+name.Text+"PK and "+name.Text+"SK")
	case hash != name.Text+"PK" || sort != name.Text+"SK":
		c.mistake("index", where(schema, name.Position), fmt.Sprintf("the key of index %s is %s, and items have %sPK and %sSK", name.Text, pair(hash, sort), name.Text, name.Text), indexSchema(name.Text))
	default:
		c.text(table, "index", name.Text+"PK", name.Text+"SK")
	}
}

// projection refuses an index that holds only a part of each item, if a pattern reads it. Otherwise
// it only warns, because a reader of its own may want just that part.
func (c *checker) projection(name, projection *template.Node) {
	if !slices.Contains(c.p.Indexes(), name.Text) {
		return
	}
	kind := c.t.Get(projection, "ProjectionType")
	switch read := slices.ContainsFunc(c.p.Patterns(), func(p *pipeline.Pattern) bool { return p.Index() == name.Text }); {
	case kind != nil && kind.Kind == template.Scalar && kind.Text == "ALL":
	case projection != nil && (kind == nil || kind.Kind != template.Scalar):
		c.cannotTell("projection", projection, "index "+name.Text+" holds whole items")
	case read:
		c.mistake("projection", where(projection, name.Position), "index "+name.Text+" holds only a part of each item, and a pattern reads whole ones from it", "Projection: {ProjectionType: ALL}")
	default:
		c.warn("projection", where(projection, name.Position), "index "+name.Text+" holds only a part of each item, so no pattern can read it", "Projection: {ProjectionType: ALL}")
	}
}

// lacks reports the indexes that are missing. To write them takes three places for each, so a
// command does it.
func (c *checker) lacks(table *template.Resource, list *template.Node, names []string) {
	var all []string
	for _, name := range names {
		if at, ok := c.declared.index(name); ok {
			name = fmt.Sprintf("%s (%s:%d:%d)", name, c.declared.file, at.Line, at.Column)
		}
		all = append(all, name)
	}
	what := "no index " + all[0]
	if n := len(all); n > 1 {
		what = "no indexes " + strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	c.mistake("index", where(list, table.Position), fmt.Sprintf("%s has %s; run ingot init --indexes, which adds each with its attributes and its alarm", table.Name, what), "")
}

func indexSchema(name string) string {
	return strings.ReplaceAll("KeySchema: [{AttributeName: XPK, KeyType: HASH}, {AttributeName: XSK, KeyType: RANGE}]", "X", name)
}
