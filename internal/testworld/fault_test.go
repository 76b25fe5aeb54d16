package testworld

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var errTest = errors.New("the test's")

// TestBefall tells the kinds of fault apart by whether the request is carried out and by what its
// sender sees.
func TestBefall(t *testing.T) {
	var late []func() (any, error)
	for name, c := range map[string]struct {
		fault   Fault
		carried bool
		want    string
	}{
		"nothing": {Fault{}, true, "answer <nil>"},
		"refused": {Fault{Before: errTest}, false, "<nil> the test's"},
		"lost":    {Fault{After: errTest}, true, "<nil> the test's"},
		"edited":  {Fault{Edit: func(out any) { *out.(*text) = "edited" }}, true, "edited <nil>"},
		"killed":  {Fault{Kill: true}, true, "killed"},
		"late":    {Fault{Late: &late, Before: errTest}, false, "<nil> the test's"},
	} {
		t.Run(name, func(t *testing.T) {
			carried, ran := false, false
			c.fault.Run = func() { ran = !carried }
			got := func() (got string) {
				defer func() {
					if recover() != nil {
						got = "killed"
					}
				}()
				out, err := c.fault.Befall(func() (any, error) {
					carried = true
					answer := text("answer")
					return &answer, nil
				})
				return fmt.Sprint(out, " ", err)
			}()
			if got != c.want || carried != c.carried || !ran {
				t.Errorf("%s, carried out %v, told before %v; want %s and %v", got, carried, ran, c.want, c.carried)
			}
		})
	}
	if len(late) != 1 {
		t.Fatalf("%d requests are late", len(late))
	}
	if out, err := late[0](); err != nil || fmt.Sprint(out) != "answer" {
		t.Errorf("the late request: %v, %v", out, err)
	}
}

type text string

func (s *text) String() string { return string(*s) }

// TestTake shows that a fault happens to the first request that it waits for. It happens once
// unless it stays.
func TestTake(t *testing.T) {
	all := Faults{{API: "a", Applies: func(in any) bool { return in == 2 }, Before: errTest}, {API: "b", Always: true, After: errTest}}
	for i, c := range []struct {
		api    string
		in     int
		fault  bool
		remain int
	}{{"c", 2, false, 2}, {"a", 1, false, 2}, {"b", 1, true, 2}, {"a", 2, true, 1}, {"a", 2, false, 1}, {"b", 2, true, 1}} {
		f := all.Take(c.api, c.in)
		if (f.Before != nil || f.After != nil) != c.fault || len(all) != c.remain {
			t.Errorf("request %d: %v, and %d wait", i, f, len(all))
		}
	}
}

// TestRefuseStatements shows that the statements that are not refused are carried out, and that
// each answer is in its own place.
func TestRefuseStatements(t *testing.T) {
	in := &dynamodb.BatchExecuteStatementInput{}
	for i := range 3 {
		name := fmt.Sprint(i)
		in.Statements = append(in.Statements, types.BatchStatementRequest{Statement: &name})
	}
	out, err := RefuseStatements(in, []bool{false, true, false}, Throttled("no capacity"), func() (any, error) {
		answer := &dynamodb.BatchExecuteStatementOutput{}
		for _, s := range in.Statements {
			answer.Responses = append(answer.Responses, types.BatchStatementResponse{TableName: s.Statement})
		}
		return answer, nil
	})
	if err != nil || len(in.Statements) != 3 {
		t.Fatalf("%v, and %d statements are left", err, len(in.Statements))
	}
	got := out.(*dynamodb.BatchExecuteStatementOutput).Responses
	if len(got) != 3 || *got[0].TableName != "0" || *got[2].TableName != "2" || got[1].Error == nil ||
		*got[1].Error.Message != "no capacity" {
		t.Errorf("answered %+v", got)
	}
	if _, err := RefuseStatements(in, make([]bool, 3), nil, func() (any, error) { return nil, errTest }); !errors.Is(err, errTest) {
		t.Errorf("the error of the request became %v", err)
	}
}
