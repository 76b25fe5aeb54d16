// Package written loads the pipelines that tests write as texts. It is for tests alone.
package written

import (
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// Pipeline returns the pipeline that a text declares.
func Pipeline(t testing.TB, text string, options ...pipeline.Option) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(text)}}, "pipeline.yaml", options...)
	must.Succeed(t, err)
	return p
}
