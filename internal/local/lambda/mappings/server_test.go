package mappings_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
)

// An update is refused as Lambda refuses it. What it leaves out is kept.
func TestUpdates(t *testing.T) {
	s := mappings.New(mappings.Mapping{UUID: "u-1", Function: "ingest"})
	ask := func(method, body string) string {
		out := httptest.NewRecorder()
		s.ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), method, mappings.Prefixes[0]+"/u-1", strings.NewReader(body)))
		return out.Body.String()
	}
	const most, least = `"ScalingConfig":{"MaximumConcurrency":7}`, `"ProvisionedPollerConfig":{"MinimumPollers":2}`
	for _, c := range []struct{ body, want string }{
		{`{"ProvisionedPollerConfig":{"MinimumPollers":1}}`, "MinimumPollers must be at least 2"},
		{`{"ScalingConfig":{"MaximumConcurrency":1}}`, "MaximumConcurrency must be at least 2"},
		{"{" + most + "," + least + "}", "cannot be used together"},
		{"{" + most + "}", most},
		{`{"Enabled":false}`, most}, // and it is kept
		{"{" + least + "}", "cannot be used together"},
		{`{"ScalingConfig":{},` + least + "}", least},
		{"{" + most + "}", "cannot be used together"},
		{"{}", "can change only"},
	} {
		must.Say(t, ask(http.MethodPut, c.body), c.want)
	}
	must.Say(t, ask(http.MethodGet, ""), least)
	must.Equal(t, strings.Contains(ask(http.MethodGet, ""), "ScalingConfig"), false)
}
