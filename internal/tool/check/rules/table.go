package rules

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// tables checks the keys and the TTL of both tables. It also checks the stream and the indexes of
// the events table, and that the aggregates table has no stream.
func (c *Checker) tables() {
	events := c.table(c.ingest, "INGOT_TABLE")
	totals := c.table(c.streams, "INGOT_AGGREGATES_TABLE")
	if events != nil && events == totals {
		n := c.variable(c.streams, "INGOT_AGGREGATES_TABLE")
		c.Mistake("two-tables", n.Position, "events and totals share table "+events.Name+": totals would feed their own stream",
			"a table of their own")
		totals = nil
	}
	if c.isTable(events) {
		c.check(c.resource(events), tableSettings...)
		c.check(c.resource(events), imagesSetting)
		c.tableKey(events)
		c.indexes(events)
		c.attributes(events, false)
		c.provisioned(events)
		c.indexAlarms(events)
		c.insights(events)
	}
	if c.isTable(totals) {
		c.check(c.resource(totals), tableSettings...)
		c.check(c.resource(totals), noStreamSetting)
		c.tableKey(totals)
		c.attributes(totals, c.ranks())
		c.provisioned(totals)
		c.rankIndex(totals)
		c.insights(totals)
	}
}

// tableSettings are for both tables.
var tableSettings = []rule{
	{name: "ttl", property: "TimeToLiveSpecification", must: present, wrong: "{of} has no time to live: nothing in it would ever expire",
		instead: expires},
	{name: "ttl", property: "TimeToLiveSpecification.AttributeName", must: is("expiresAt"),
		whether: "items of {of} expire by attribute expiresAt",
		wrong:   "{of} expires by another attribute than expiresAt", instead: expires},
	{name: "ttl", property: "TimeToLiveSpecification.Enabled", must: is("true"), whether: "items of {of} expire by attribute expiresAt",
		wrong: "time to live of {of} is off: nothing in it would ever expire", instead: expires},
}

const expires = "TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}"

// imagesSetting is for the events table. Both images are in its stream, because a change counts new
// minus old.
var imagesSetting = rule{name: "stream-images", property: "StreamSpecification.StreamViewType", must: is("NEW_AND_OLD_IMAGES"),
	whether: "the stream carries new and old images", missing: "{of} has no stream: nothing would be counted",
	wrong:   "the stream carries {is}: a change counts new minus old, so both are needed",
	instead: "StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}"}

// noStreamSetting is for the aggregates table.
var noStreamSetting = rule{name: "totals-stream", property: "StreamSpecification", must: absent,
	wrong: "{of} has a stream: totals must never feed themselves, and nothing reads it; take StreamSpecification out"}

// capacitySettings are for what a table or an index provides. DynamoDB does not take 0.
var capacitySettings = []rule{
	{name: "capacity", property: "ReadCapacityUnits", must: isNot("0"),
		wrong:   "{of} has ReadCapacityUnits 0: CloudFormation refuses the table",
		instead: "ReadCapacityUnits: 1, or more"},
	{name: "capacity", property: "WriteCapacityUnits", must: isNot("0"),
		wrong:   "{of} has WriteCapacityUnits 0: CloudFormation refuses the table",
		instead: "WriteCapacityUnits: 1, or more"},
}

// rankIndex checks the index that keeps totals in order, if an aggregate is ranked.
func (c *Checker) rankIndex(totals *template.Resource) {
	if c.p == nil {
		return
	}
	i := slices.IndexFunc(c.p.Definitions(), func(d *aggregate.Definition) bool { return d.Rank.Value != "" })
	if i < 0 {
		return
	}
	k := key{rule: "rank-index", hash: lanes.RankAttribute, sort: lanes.ScoreAttribute, wrong: "the key of index " + lanes.RankIndex +
		" is %s, and totals have %s and %s"}
	k.whether = "the key of index " + lanes.RankIndex + " is " + pair(k.hash, k.sort)
	there, doubts := c.indexesOf(totals, global)
	for _, index := range there {
		if index.name.Is(lanes.RankIndex) {
			k.of, k.schema, k.at = totals, index.schema, index.name.Position
			if c.keyed(k) {
				c.typed(totals, "rank-index", "N", ", and totals are ordered by a number", k.sort)
			}
			return
		}
	}
	if len(doubts) > 0 {
		c.cannotTell("rank-index", doubts[0], totals.Name+" has the index "+lanes.RankIndex)
		return
	}
	instead := "{IndexName: " + lanes.RankIndex + ", " + schemaOf(k.hash, k.sort) + ", Projection: {ProjectionType: KEYS_ONLY}} into " +
		global
	defined, _, _ := c.defined(totals)
	if missing := lacking([]string{k.hash, k.sort}, defined); len(missing) > 0 {
		instead += ", and " + definitions(missing) + " into AttributeDefinitions"
	}
	c.Mistake("rank-index", where(c.t.Property(totals, global), totals.Position),
		fmt.Sprintf("%s has no index %s, which keeps the totals of %s in order", totals.Name, lanes.RankIndex, c.p.Definitions()[i].Name),
		instead)
}

// ranks reports whether the pipeline keeps totals in order.
func (c *Checker) ranks() bool {
	return c.p != nil && slices.ContainsFunc(c.p.Definitions(), func(d *aggregate.Definition) bool { return d.Rank.Value != "" })
}

// isTable reports whether r has the properties that the rules read.
func (c *Checker) isTable(r *template.Resource) bool {
	switch {
	case r == nil:
		return false
	case r.Type != "AWS::DynamoDB::Table" && r.Type != "AWS::DynamoDB::GlobalTable":
		c.Mistake("table", r.Position, r.Name+" is "+r.Type, "Type: AWS::DynamoDB::Table")
		return false
	}
	c.replicas(r)
	c.stays(r)
	return true
}

// replicas warns of a table that is in more than one Region, because each Region judges conditions
// by itself.
func (c *Checker) replicas(table *template.Resource) {
	n := c.t.Property(table, "Replicas")
	switch {
	case n == nil:
	case n.Kind != template.List:
		c.cannotTell("replicas", n, table.Name+" is in one Region only")
	case len(n.Items) > 1:
		c.Warn("replicas", n.Position, fmt.Sprintf("%s is in %d Regions: run both functions in one of them only, since a condition is "+
			"judged in each Region alone; %s says what holds then", table.Name, len(n.Items),
			excerpt.Page("deploy.md#tables-in-several-regions")), "")
	}
}

// provisioned checks that a table is paid by the request, or that the table and each of its indexes
// say how much they provide.
func (c *Checker) provisioned(table *template.Resource) {
	const units = "ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}"
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
	indexes, _ := c.indexesOf(table, global)
	if c.t.Property(table, "ProvisionedThroughput") == nil {
		instead := added(mode, "BillingMode: PAY_PER_REQUEST")
		if slices.ContainsFunc(indexes, func(i index) bool { return c.t.Get(i.node, "ProvisionedThroughput") != nil }) {
			if instead = units + properties; mode != nil { // which is not paid by the request beside such an index
				instead = units + " beside it"
			}
		}
		c.Mistake("capacity", at, what+" and no ProvisionedThroughput: CloudFormation refuses the table", instead)
		return
	}
	c.check(c.value(table.Name, c.t.Property(table, "ProvisionedThroughput"), table.Position, ""), capacitySettings...)
	for _, index := range indexes {
		if throughput := c.t.Get(index.node, "ProvisionedThroughput"); throughput != nil {
			c.check(c.value("index "+index.name.Text, throughput, index.name.Position, ""), capacitySettings...)
			continue
		}
		c.Mistake("capacity", index.name.Position, what+" and index "+index.name.Text+
			" no ProvisionedThroughput: CloudFormation refuses the table",
			units+" beside it")
	}
}

// indexes compares the table's indexes with those that the pipeline writes keys for.
func (c *Checker) indexes(table *template.Resource) {
	if c.p == nil {
		return
	}
	list := c.t.Property(table, global)
	indexes, doubts := c.indexesOf(table, global)
	for _, n := range doubts {
		if n.Position == list.Position {
			c.cannotTell("index", list, table.Name+" has the indexes of "+c.declared.File)
		} else {
			c.Warn("index", n.Position, "cannot tell the name of this index", "")
		}
	}
	missing := slices.Clone(c.p.Indexes())
	for _, i := range indexes {
		c.index(table, i)
		missing = slices.DeleteFunc(missing, i.name.Is)
	}
	if len(doubts) == 0 && len(missing) > 0 {
		c.lacks(table, list, missing)
	}
}

// index checks one index of the table.
func (c *Checker) index(table *template.Resource, i index) {
	name := i.name.Text
	if !c.uses(name) {
		c.Warn("index-unused", i.name.Position, fmt.Sprintf("no event type of %s is in index %s: nothing would ever be in it; take out "+
			"the index, its attributes %[2]sPK and %[2]sSK and its alarm, or give an event type indexes: {%[2]s: {pk: …, sk: …}}",
			c.declared.File, name), "")
		return
	}
	k := key{of: table, rule: "index", schema: i.schema, at: i.name.Position, hash: name + "PK", sort: name + "SK",
		wrong: "the key of index " + name + " is %s, and items have %s and %s"}
	k.whether = "the key of index " + name + " is " + pair(k.hash, k.sort)
	if c.keyed(k) {
		c.typed(table, "index", "S", allText, k.hash, k.sort)
	}
	c.projection(i)
}

// projection refuses an index that holds only a part of each item, if a pattern reads it. Otherwise
// it only warns, because a reader of its own may want just that part.
func (c *Checker) projection(i index) {
	whole := rule{name: "projection", property: "Projection.ProjectionType", must: is("ALL"), warns: true,
		whether: "index {of} holds whole items",
		wrong:   "index {of} holds only a part of each item, so no pattern can read it", instead: "Projection: {ProjectionType: ALL}"}
	if slices.ContainsFunc(c.p.Patterns(), func(p *pattern.Pattern) bool { return p.Index() == i.name.Text }) {
		whole.warns, whole.wrong = false, "index {of} holds only a part of each item, and a pattern reads whole ones from it"
	}
	c.check(c.value(i.name.Text, i.node, i.name.Position, " beside it"), whole)
}

// lacks reports the indexes that are missing. To write them takes three places for each, so a
// command does it.
func (c *Checker) lacks(table *template.Resource, list *template.Node, names []string) {
	var all []string
	for _, name := range names {
		if at, ok := c.declared.Index(name); ok {
			name = fmt.Sprintf("%s (%s:%d:%d)", name, c.declared.File, at.Line, at.Column)
		}
		all = append(all, name)
	}
	noun := "index"
	if len(all) > 1 {
		noun = "indexes"
	}
	c.Mistake("index", where(list, table.Position),
		fmt.Sprintf("%s has no %s %s; run ingot init --indexes, which adds each with its attributes and its alarm", table.Name, noun,
			show.And(all)), "")
}

// insights checks that no key is shown that is hidden elsewhere: Contributor Insights writes keys
// in plain text ("UpdateContributorInsights", AWS).
func (c *Checker) insights(table *template.Resource) {
	on := c.t.Property(table, "ContributorInsightsSpecification", "Enabled")
	if !on.Is("true") {
		return
	}
	hides := false
	if c.p != nil {
		for _, in := range c.p.Describe().Hashed {
			hides = hides || len(in) > 0
		}
	}
	why := ""
	switch {
	case hides:
		why = "pipeline.yaml hides values in keys (hmac)"
	case c.ownKey(table) != nil:
		why = "the table is encrypted with a key of your own"
	default:
		return
	}
	c.Mistake("insights", on.Position, "Contributor Insights would write the throttled keys of "+table.Name+
		" into CloudWatch in plain text, and "+why, "Enabled: false")
}
