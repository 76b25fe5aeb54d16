package rules

import (
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// stays warns of a table or bucket that is deleted with its stack. That is what CloudFormation does
// if nothing says otherwise (CloudFormation template reference, "DeletionPolicy attribute").
func (c *Checker) stays(r *template.Resource) {
	n, instead := c.t.Attribute(r, "DeletionPolicy"), "DeletionPolicy: RetainExceptOnCreate"
	what := r.Name + " has no DeletionPolicy, which means Delete: what is in it goes when the stack does"
	switch {
	case n == nil:
		instead += " into it"
	case n.Is("Delete"):
		what = r.Name + " has DeletionPolicy Delete: what is in it goes when the stack does"
	default:
		return
	}
	c.Warn("deletion", where(n, r.Position), what, instead)
}

// bucketsStay warns of buckets of the functions that are deleted with their stack.
func (c *Checker) bucketsStay() {
	for _, f := range c.both() {
		for _, name := range []string{"INGOT_ARCHIVE_BUCKET", "INGOT_PAYLOAD_BUCKET"} {
			if bucket := c.referred(c.variable(f, name)); bucket != nil && bucket.Type == "AWS::S3::Bucket" {
				c.stays(bucket)
			}
		}
	}
}

// canary warns of an alias that sends a part of the batches of a shard to another version of the
// streams function (Lambda developer guide, "Implement Lambda canary deployments using a weighted
// alias"). The older version stops at items of an epoch that it does not know.
func (c *Checker) canary(f *function) {
	warn := func(at template.Position) {
		c.Warn("canary", at, "two versions of "+f.Name+" would count the batches of one shard in turn, and the older one "+
			"stops at an epoch that it does not know; deploy it all at once", "")
	}
	preference := c.t.Property(f.Resource, "DeploymentPreference")
	if kind := c.t.Get(preference, "Type"); kind != nil && kind.Kind == template.Scalar && !c.t.Get(preference, "Enabled").Is("false") &&
		!strings.HasSuffix(kind.Text, "AllAtOnce") {
		warn(kind.Position)
	}
	for _, r := range c.t.Resources() {
		if r.Type != "AWS::Lambda::Alias" {
			continue
		}
		weights := c.t.Property(r, "RoutingConfig")
		if of := c.referred(c.t.Property(r, "FunctionName")); weights != nil && of != nil && of.Name == f.Name {
			warn(weights.Position)
		}
	}
}
