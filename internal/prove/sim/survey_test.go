package sim

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/prove/sim/survey"
)

func TestSurvey(t *testing.T) {
	full := func() Result {
		r := Result{Stats: survey.Stats{Updates: 100, Statements: 20, Sent: 200, Rolls: 3, Expired: 1, Aggregates: 2, Answers: 10,
			Pages: 30,
			Looks: 1, Altered: 1, Untold: 1, Faults: map[string]int{}, Verdicts: map[string]int{}}}
		for _, name := range FaultNames() {
			r.Stats.Faults[name] = 2
		}
		for _, v := range event.Verdicts {
			r.Stats.Verdicts[v.String()] = 1
		}
		return r
	}
	tests := map[string]struct {
		change func(*survey.Stats)
		worlds int // how many of 600 worlds are changed
		want   string
	}{
		"all is there": {func(*survey.Stats) {}, 600, ""},
		"a fault is rare": {func(s *survey.Stats) {
			delete(s.Faults, rolled)
		}, 595, `the fault "shards rolled" occurred in 5 of 600 worlds`},
		"a fault is seldom": {func(s *survey.Stats) { delete(s.Faults, rolled) }, 594, ""},
		"a verdict never occurs": {func(s *survey.Stats) { delete(s.Verdicts, "Stale") }, 600,
			`the verdict "Stale" occurred in 0 of 600 worlds`},
		"statements are rare":   {func(s *survey.Stats) { s.Statements = 4 }, 200, "updates by a statement: 8800 of 60000: at least 15 %"},
		"statements are enough": {func(s *survey.Stats) { s.Statements = 4 }, 100, ""},
		"statements alone": {func(s *survey.Stats) {
			s.Statements = 100
		}, 400, "updates by an UpdateItem or in a transaction: 16000 of 60000: at least 50 %"},
		"seldom side by side": {func(s *survey.Stats) {
			s.Updates, s.Statements = 5, 0
		}, 421, "worlds with both side by side: 179 of 600: at least 30 %"},
		"nobody asks": {func(s *survey.Stats) {
			s.Answers, s.Pages = 0, 0
		}, 511, "worlds in which somebody asks by patterns: 89 of 600: at least 15 %"},
		"one page is enough": {func(s *survey.Stats) { s.Pages = 10 }, 600, "pages after the first: 0 of 6000: at least 40 %"},
		"nobody looks twice": {func(s *survey.Stats) {
			s.Looks, s.Altered, s.Untold = 0, 0, 0
		}, 421, "worlds that verify twice while events flow: 179 of 600: at least 30 %"},
		"nothing is altered": {func(s *survey.Stats) {
			s.Altered = 0
		}, 481, "of these, with a total altered by hand: 119 of 600: at least 20 %"},
		"all can be told":       {func(s *survey.Stats) { s.Untold = 0 }, 541, "of these, that could not tell: 59 of 600: at least 10 %"},
		"worlds are too small":  {func(s *survey.Stats) { s.Sent = 199 }, 301, "the median world has 199 messages: at least 200"},
		"most are large enough": {func(s *survey.Stats) { s.Sent = 199 }, 299, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewSurvey()
			for i := range 600 {
				r := full()
				if i < test.worlds {
					test.change(&r.Stats)
				}
				s.Add(r.Stats)
			}
			got := strings.Join(s.Shortfalls(), "; ")
			if !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSurveyKnowsEveryFault shows that the list has every fault that a world names. A fault that is
// not in the list would escape the 1 % rule.
func TestSurveyKnowsEveryFault(t *testing.T) {
	s := NewSurvey()
	for seed := range uint64(12) {
		s.Add(lived(seed).Stats)
	}
	if len(s.Faults) != len(FaultNames()) || len(s.Verdicts) != len(event.Verdicts) {
		t.Errorf("faults %v, verdicts %v", sortedKeys(s.Faults), sortedKeys(s.Verdicts))
	}
	if s.Faults[stage.Lost].Times == 0 || s.Verdicts["Inserted"].Worlds != 12 {
		t.Errorf("lost answers %+v, inserted %+v", s.Faults[stage.Lost], s.Verdicts["Inserted"])
	}
	var text strings.Builder
	s.Print(&text)
	for _, want := range append(FaultNames(), "Inserted", "median world", "shard rolls") {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the survey does not tell of %q:\n%s", want, text.String())
		}
	}
}

func TestSurveyJudgesNothingByAFewWorlds(t *testing.T) {
	s := NewSurvey()
	s.Add(survey.Stats{})
	if got := s.Shortfalls(); got != nil {
		t.Errorf("got %q", got)
	}
}
