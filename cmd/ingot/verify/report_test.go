package verify

import (
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
)

func TestJSON(t *testing.T) { commandtest.Documented(t, verifyJSON, Verified{}) }

// What single events have supplied is masked.
func TestReportHidesWhatIsPersonal(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(`ingot: 1
epoch: 1
type: "{type}"
events:
  seen: {id: "{id}", at: "{at}", key: {pk: "SEEN#{id}", sk: "-"}, indexes: {GSI1: {pk: "M#{mail | hmac}", sk: "{@at}"}}}
aggregates:
  mails: {since: 1, by: {mail: "{mail}"}, from: {seen: {values: {seen: count}}}}
`)}}, "p.yaml", pipeline.CheckOnly())
	must.Succeed(t, err)
	got := reportOf(&verify.Report{Unreadable: []string{"item SEEN#ann: odd"},
		Flagged: []string{"mails since 1 by mail=ann: flag", "head of ann: flag"}}, nil, show.PersonalOf(p))
	must.Match(t, append(got.Unreadable, got.Flagged...), []string{"***", "mails since 1: ***", "***"})
}
