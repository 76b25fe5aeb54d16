package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/tables"
)

// usesOffload reports whether there must be a payload bucket.
func (c *Checker) usesOffload() bool { return c.p != nil && c.p.UsesOffload() }

// lateTTL is how long after its expiry an item, or its last change in the stream, may still exist.
// Payloads are needed until the item is archived.
const lateTTL = 30 * lifetime.Day

// payloads checks the bucket of large payloads, if the pipeline has one.
func (c *Checker) payloads() {
	if !c.usesOffload() {
		return
	}
	const name = "INGOT_PAYLOAD_BUCKET"
	var known *template.Node
	for _, f := range c.both() {
		n := c.variable(f, name)
		switch {
		case n == nil:
			c.Mistake("payloads", f.Position, fmt.Sprintf("%s has event types with offload, and %s has no variable %s: it would not start",
				c.declared.File, f.Name, name), c.payloadsRemedy(name))
		case known != nil && nameOf(n) != nameOf(known):
			c.Mistake("payloads", n.Position,
				fmt.Sprintf("the two functions have different payload buckets, %s and %s: what one puts, the other would not find",
					nameOf(known), nameOf(n)), "the same "+name)
			return
		default:
			known = n
		}
	}
	if bucket := c.referred(known); bucket != nil && bucket.Type == "AWS::S3::Bucket" {
		c.lifecycle(bucket)
	}
}

// payloadsRemedy says what to write if a function has no payload bucket: the parameter of our own
// template, if it is there, or the variable.
func (c *Checker) payloadsRemedy(variable string) string {
	const parameter = "Payloads"
	for _, p := range c.t.Parameters() {
		if p.Name == parameter && c.t.Accepts(parameter, "keep") == nil {
			return parameter + "=keep among the parameter_overrides of samconfig.toml"
		}
	}
	return variable + ": !Ref " + c.named("PayloadBucket", "BUCKET") + variablesOf
}

// lifecycle checks that no rule of the payload bucket removes a payload that an item or the archive
// still needs, and that payloads do not stay for ever when their events expire.
func (c *Checker) lifecycle(bucket *template.Resource) {
	rules := c.t.Property(bucket, "LifecycleConfiguration", "Rules")
	if rules != nil && rules.Kind != template.List {
		c.cannotTell("lifecycle", rules, "no payload is removed too early")
		return
	}
	spec := c.p.Describe().Spec
	for _, typ := range slices.Sorted(maps.Keys(spec.Events)) {
		e := spec.Events[typ]
		if e.Offload.Over == 0 {
			continue
		}
		least, ends := 0, false
		if e.Retain != 0 { // earlier events may live shorter (was), but never longer
			least = int((e.Retain + tables.MaxAhead + lateTTL + lifetime.Day - 1) / lifetime.Day)
		}
		for _, rule := range c.t.Items(rules) {
			ends = c.rule(rule, bucket, typ, least) || ends
		}
		if least != 0 && !ends {
			c.Warn("lifecycle", where(rules, bucket.Position), fmt.Sprintf("%s keeps the payloads of %s for ever, and the events expire",
				bucket.Name, typ),
				fmt.Sprintf("{Status: Enabled, Prefix: %s, ExpirationInDays: %d} among its LifecycleConfiguration's Rules",
					payloads.Folder(typ), least))
		}
	}
}

// rule checks one rule against the payloads of a type, which must stay for at least so many days; 0
// means for ever. It reports whether the rule ends all of them.
func (c *Checker) rule(rule *template.Node, bucket *template.Resource, typ string, least int) (ends bool) {
	if status := c.t.Get(rule, "Status"); status == nil || status.Text != "Enabled" {
		return false
	}
	prefix, folder := "", payloads.Folder(typ)
	if p := c.t.Get(rule, "Prefix"); p != nil {
		if p.Kind != template.Scalar {
			c.cannotTell("lifecycle", p, "the rule is for the payloads of "+typ)
			return true
		}
		prefix = p.Text
	}
	if !strings.HasPrefix(folder, prefix) && !strings.HasPrefix(prefix, folder) {
		return false
	}
	c.transitions(rule, bucket, typ)
	days := c.t.Get(rule, "ExpirationInDays")
	if date := c.t.Get(rule, "ExpirationDate"); date != nil {
		instead := "no rule for " + folder
		if least > 0 {
			instead = fmt.Sprintf("ExpirationInDays: %d", least)
		}
		c.Mistake("lifecycle", date.Position, fmt.Sprintf("%s removes payloads of %s on a certain day, whatever their events are",
			bucket.Name, typ), instead)
		return true
	}
	if days == nil {
		return false
	}
	n, ok := c.number("lifecycle", days, 0, bucket.Name+" keeps the payloads of "+typ+" long enough")
	switch {
	case !ok:
	case least == 0:
		c.Mistake("lifecycle", days.Position, fmt.Sprintf("%s removes the payloads of %s after %d days, and its events never expire",
			bucket.Name, typ, n), "no rule for "+folder)
	case n < least:
		c.Mistake("lifecycle", days.Position, fmt.Sprintf("%s removes the payloads of %s after %d days: its events expire %s after their "+
			"time, which may be 30 days ahead, and may be there for 30 days more", bucket.Name, typ, n,
			lifetime.Format(c.p.Describe().Spec.Events[typ].Retain)),
			strconv.Itoa(least)+" or more")
	}
	return strings.HasPrefix(folder, prefix)
}

// transitions refuses a rule that moves payloads to a storage class from which S3 reads nothing
// until a person has restored it. A function would ask again and again meanwhile, as if the bucket
// were down.
func (c *Checker) transitions(rule *template.Node, bucket *template.Resource, typ string) {
	for _, to := range append(c.t.Items(c.t.Get(rule, "Transitions")), c.t.Get(rule, "Transition")) {
		class := c.t.Get(to, "StorageClass")
		if class == nil || class.Text != "GLACIER" && class.Text != "DEEP_ARCHIVE" {
			continue
		}
		c.Mistake("lifecycle", class.Position, fmt.Sprintf("%s moves the payloads of %s to the storage class %s, and S3 refuses to read "+
			"them there: a shard of the stream would wait for one until it is restored", bucket.Name, typ, class.Text), "GLACIER_IR")
	}
}
