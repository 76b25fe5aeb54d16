package sim

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// faulty returns a world in which one kind of fault always happens.
func faulty(t *testing.T, seed uint64, set func(*Faults)) *World {
	p := StillPlan(seed)
	set(&p.Faults)
	w := newWorld(p, false)
	t.Cleanup(w.KillAll)
	return w
}

func keyed(pk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: "-"}}
}

// TestFailStatements shows that a statement that gets an error is not applied, except that a
// statement with an internal error sometimes is.
func TestFailStatements(t *testing.T) {
	codes, hidden := map[types.BatchStatementErrorCodeEnum]int{}, 0
	for seed := range uint64(60) {
		w := faulty(t, seed, func(f *Faults) { f.Codes = 1 })
		in := &dynamodb.BatchExecuteStatementInput{}
		for i := range 8 {
			in.Statements = append(in.Statements,
				types.BatchStatementRequest{Statement: aws.String(`INSERT INTO "totals" VALUE {'PK': ?, 'SK': ?}`),
					Parameters: []types.AttributeValue{&types.AttributeValueMemberS{Value: fmt.Sprint(i)},
						&types.AttributeValueMemberS{Value: "-"}}})
		}
		out, err := w.FailStatements(in, w.plan.Faults.Statements, w.plan.Faults.Codes, func() (*dynamodb.BatchExecuteStatementOutput,
			error) {
			return w.ingot.Engine.DynamoDB().BatchExecuteStatement(context.Background(), in)
		})
		if err != nil || len(out.Responses) != 8 {
			t.Fatalf("seed %d: %v %v", seed, out, err)
		}
		told := 0
		for i, answer := range out.Responses {
			there := len(w.read(totals, fmt.Sprint(i), "-")) > 0
			switch {
			case answer.Error == nil && !there:
				t.Errorf("seed %d: statement %d is answered as done and is not", seed, i)
			case answer.Error != nil && there && answer.Error.Code != types.BatchStatementErrorCodeEnumInternalServerError:
				t.Errorf("seed %d: statement %d is told of %s and is done", seed, i, answer.Error.Code)
			case answer.Error != nil && there:
				hidden++
			}
			if answer.Error != nil {
				told++
				codes[answer.Error.Code]++
			}
		}
		if told == 0 {
			t.Errorf("seed %d: no statement is told of an error", seed)
		}
	}
	if len(codes) != 4 || hidden == 0 {
		t.Errorf("codes %v, %d applied all the same", codes, hidden)
	}
}

// TestLeaveUnread shows that each key is answered or left unprocessed, and that at least one is
// answered.
func TestLeaveUnread(t *testing.T) {
	for seed := range uint64(20) {
		w := faulty(t, seed, func(f *Faults) { f.Unread = 1 })
		request := types.KeysAndAttributes{}
		for i := range 5 {
			pk := fmt.Sprint(i)
			_, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
				&dynamodb.PutItemInput{TableName: aws.String(totals), Item: keyed(pk)})
			must.Succeed(t, err)
			request.Keys = append(request.Keys, keyed(pk))
		}
		read := func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
			return w.ingot.Engine.DynamoDB().BatchGetItem(context.Background(), in)
		}
		in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{totals: request}}
		out, err := w.LeaveUnread(in, 1, read)
		must.Succeed(t, err)
		answered, left := len(out.Responses[totals]), len(out.UnprocessedKeys[totals].Keys)
		if answered+left != 5 || answered == 0 {
			t.Errorf("seed %d: %d answered, %d left unread", seed, answered, left)
		}
		w.Calm = true
		if out, err := w.LeaveUnread(in, 1, read); err != nil || len(out.Responses[totals]) != 5 {
			t.Errorf("seed %d: calm, and not all are answered: %v", seed, err)
		}
	}
}

// TestCancel shows that a cancelled transaction has a reason for each item. At least one reason is
// not a condition, and nothing is applied.
func TestCancel(t *testing.T) {
	for seed := range uint64(20) {
		w := faulty(t, seed, func(f *Faults) { f.Cancel = 1 })
		in := &dynamodb.TransactWriteItemsInput{}
		for i := range 4 {
			in.TransactItems = append(in.TransactItems,
				types.TransactWriteItem{Put: &types.Put{TableName: aws.String(totals), Item: keyed(fmt.Sprint(i))}})
		}
		_, err := w.Cancel(in, 1, func() (*dynamodb.TransactWriteItemsOutput, error) {
			return w.ingot.Engine.DynamoDB().TransactWriteItems(context.Background(), in)
		})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 4 {
			t.Fatalf("seed %d: %v", seed, err)
		}
		why := 0
		for i, reason := range cancelled.CancellationReasons {
			if *reason.Code != "None" {
				why++
			}
			if len(w.read(totals, fmt.Sprint(i), "-")) > 0 {
				t.Errorf("seed %d: item %d of a cancelled transaction is there", seed, i)
			}
		}
		if why == 0 {
			t.Errorf("seed %d: no reason", seed)
		}
	}
}

// TestFailLetters shows that only the letters under Successful count as kept.
func TestFailLetters(t *testing.T) {
	for seed := range uint64(20) {
		w := faulty(t, seed, func(f *Faults) { f.Letters = 1 })
		in := &sqs.SendMessageBatchInput{QueueUrl: &w.ingot.Quarantine}
		for i := range 5 {
			in.Entries = append(in.Entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)),
				MessageBody: aws.String(fmt.Sprint("letter ", i))})
		}
		out, err := w.FailLetters(in, 1, false, sender{w, 1}.send)
		if err != nil || len(out.Failed) == 0 || len(out.Failed)+len(out.Successful) != 5 {
			t.Fatalf("seed %d: %v %v", seed, out, err)
		}
		for _, failed := range out.Failed {
			if failed.SenderFault || w.quarantined["letter "+*failed.Id] > 0 {
				t.Errorf("seed %d: letter %s failed and counts as kept, or is the sender's fault", seed, *failed.Id)
			}
		}
		if len(w.quarantined) != len(out.Successful) || w.dead.depth(w.ingot.Quarantine) != len(out.Successful) {
			t.Errorf("seed %d: %d letters kept of %d", seed, len(w.quarantined), len(out.Successful))
		}
	}
}

// TestReplayedInAnyOrder shows that worlds count batches again in any order: an earlier batch after
// a later one too. AWS says that records may be out of order when they are processed again (Lambda
// developer guide, "Implementing stateful DynamoDB stream processing in Lambda").
func TestReplayedInAnyOrder(t *testing.T) {
	again := regexp.MustCompile(replayed + ` batch (\d+) of (\d+)`)
	forward, backward := 0, 0
	for seed := range uint64(20) {
		last := 0
		for _, found := range again.FindAllStringSubmatch(Live(NewPlan(seed), true).Trace, -1) {
			n, err := strconv.Atoi(found[1])
			must.Succeed(t, err)
			switch {
			case n > last:
				forward++
			case n < last:
				backward++
			}
			last = n
		}
	}
	if forward < 10 || backward < 10 {
		t.Errorf("of batches that are counted again, %d come after an earlier one, and %d after a later one", forward, backward)
	}
}
