package migrate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/migrate"
)

// writes puts a row at a time of the day, or deletes it, and lets capture do that.
func (m *moving) writes(pk, at string, deletes bool) {
	m.t.Helper()
	key := migrate.Row{"pk": s(pk), "at": s("2031-05-05T" + at + "Z")}
	if deletes {
		m.gone("old", key)
	} else {
		m.put("old", key)
	}
	m.changed("old", fmt.Sprintf(`{"pk":{"S":%q},"at":{"S":"2031-05-05T%sZ"}}`, pk, at))
}

// silent lets the old table be silent for an hour, and tries to turn.
func (m *moving) silent() (state string, err error) {
	m.now = m.now.Add(time.Hour)
	m.noted("one")
	return m.sync.Turn(m.t.Context(), migrate.Quiet)
}

// says fails if an error does not say something, or if nothing is wanted and there is one.
func (m *moving) says(err error, want string) {
	m.t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		m.t.Errorf("%v, want %q", err, want)
	}
}

const standing = "since the last comparison, capture has met rows that are refused, claim the key of another one, or are not copied: mend "

// A row that capture has met stands against a turn for as long as it does, and no longer.
func TestUntidyRows(t *testing.T) {
	for pk, name := range map[string]string{"none": `{"pk":{"S":"none"},"at":{"S":"2031-05-05T07:00:00Z"}}`,
		"CITY#1": `{"pk":{"S":"CITY#1"},"at":{"S":"2031-05-05T06:00:00Z"}}`} {
		t.Run(pk, func(t *testing.T) {
			m := returning(t, there, city("1", "ann"))
			m.writes(pk, "07:00:00", false)
			_, err := m.silent()
			m.says(err, standing+name)
			m.writes(pk, "07:00:00", true)
			state, err := m.silent()
			if m.says(err, ""); state != migrate.New {
				t.Errorf("an application has put a row and deleted it: %s", state)
			}
		})
	}
}

// A comparison is evidence although an application puts and deletes such rows all the while. What
// is left of them stands against the turn, and what is gone is forgotten.
func TestComparisonOfAnUntidyTable(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	meets := 0
	m.on = func(asked string, _ any) error {
		if on := m.on; asked == "Scan" && meets < 2 {
			m.on = nil
			m.writes("CITY#1", fmt.Sprintf("07:00:%02d", meets), false)
			m.writes("CITY#1", fmt.Sprintf("07:00:%02d", meets), meets == 0)
			meets++
			m.on = on
		}
		return nil
	}
	found, err := m.sync.Compare(t.Context(), m)
	if m.must(err); meets != 2 || found.Rows == 0 {
		t.Fatalf("met %d times, %+v", meets, found)
	}
	met := m.item("M#cities", "-")["met"]
	if set, _ := met.(*types.AttributeValueMemberSS); set != nil && strings.Contains(strings.Join(set.Value, " "), "07:00:00") {
		t.Errorf("%v has a row that is gone", set.Value)
	}
	m.writes("CITY#1", "07:00:01", true)
	_, err = m.silent()
	m.says(err, "")
}

// A row that capture meets between the look and the turn stands against it.
func TestUntidyRowBetweenLookAndTurn(t *testing.T) {
	for _, pk := range []string{"none", "CITY#1"} {
		m := returning(t, there, city("1", "ann"))
		m.writes(pk, "07:00:00", false)
		m.writes(pk, "07:00:00", true) // it is noted already, and tidy when it is looked at
		m.before("TransactWriteItems", func() { m.writes(pk, "07:00:00", false) })
		_, err := m.silent()
		m.says(err, "turn again, and it says what is missing")
		_, err = m.silent()
		m.says(err, standing)
	}
}

// The same holds between the look and the time when what is tidy is forgotten.
func TestUntidyRowBetweenLookAndForgetting(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	m.writes("CITY#1", "07:00:00", false)
	m.writes("CITY#1", "07:00:00", true)
	updates := 0 // the second one comes after the look
	m.on = func(asked string, _ any) error {
		if asked != "UpdateItem" {
			return nil
		}
		if updates++; updates == 2 {
			m.on = nil
			m.writes("CITY#1", "07:00:00", false)
		}
		return nil
	}
	m.sync.Compare(t.Context(), m)
	_, err := m.silent()
	m.says(err, standing)
}

// A row whose copy the table refuses stands against a turn, too.
func TestRowThatTheTableRefuses(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	m.config.Client = &picky{Client: m.engine.DynamoDB(), never: "CITY#2", asked: map[string]bool{}}
	m.sync = m.reopened()
	m.writes("CITY#2", "06:00:00", false)
	_, err := m.silent()
	m.says(err, standing)
}

// If more rows are met than the control item has room for, what was compared before no longer
// counts.
func TestUntidyRowsThatAreTooMany(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	for i := range 20 {
		m.writes("none"+strings.Repeat("x", 900), fmt.Sprintf("07:00:%02d", i), false)
	}
	_, err := m.silent()
	m.says(err, "no longer counts")
	_, err = m.sync.Compare(context.Background(), m)
	m.must(err)
	_, err = m.silent()
	m.says(err, "20 refused rows")
}

// Lambda delivers a batch that failed again at once, so a batch that may not write waits before it
// fails.
func TestCaptureWaitsBeforeItFails(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	_, err := m.silent()
	m.must(err)
	began := m.now
	_, err = (&migrate.Capture{Migration: m.sync}).Handle(t.Context(), []byte(`{"Records":[{"eventSourceARN":"arn:aws:dynamodb:r:1:table/old/stream/1",`+
		`"dynamodb":{"SequenceNumber":"1","ApproximateCreationDateTime":1,"Keys":{"pk":{"S":"CITY#1"},"at":{"S":"2031-05-05T06:00:00Z"}}}}]}`))
	if stops(t, err, "city is new: the old table is no longer its source"); m.now.Sub(began) != 5*time.Second {
		t.Errorf("it waits %s", m.now.Sub(began))
	}
}
