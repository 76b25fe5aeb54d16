package try

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/status"
)

// account looks at what no event shows: what the account allows, whether the mappings call the
// functions, who reads the stream, and whether an alarm is on.
func (t *trial) account(ctx context.Context) error {
	if t.Stack == nil {
		return nil
	}
	r := status.ReadAround(ctx, *t.Stack)
	if err := ctx.Err(); err != nil {
		return err
	}
	if what := "the account lets the functions run"; r.Account == nil {
		t.found(what, NotShown, "%s", unknown(r, "what the account"))
	} else {
		t.found(what, rightIf(!r.Account.Short()), "%s calls at a time, and the stack needs %s at its busiest",
			show.Comma(r.Account.Allowed), show.Comma(r.Account.Needed))
	}
	var states []string
	well := true
	for _, m := range r.Mappings {
		states = append(states, strings.TrimSpace(m.Function+" is "+m.State+" "+m.Last))
		well = well && m.State == "Enabled" && !strings.HasPrefix(m.Last, "PROBLEM")
	}
	if what := "Lambda calls the functions"; len(r.Mappings) == 0 { // an emulator may have none
		t.found(what, NotShown, "%s", strings.Join(r.Unknown, "; "))
	} else {
		t.found(what, rightIf(well), "%s", strings.Join(states, "; "))
	}
	if err := t.readers(ctx); err != nil {
		return err
	}
	var on []string
	for _, a := range r.Alarms {
		if a.State == "ALARM" {
			on = append(on, a.Name)
		}
	}
	switch why := unknown(r, "alarms"); {
	case len(on) > 0:
		t.found("no alarm is on", Wrong, "%s", strings.Join(on, ", "))
	case t.Stack.Watch == nil, why != "":
		t.found("no alarm is on", NotShown, "%s", why)
	default:
		t.found("no alarm is on", Right, "")
	}
	return nil
}

// unknown returns why a part of a report is not known, or nothing.
func unknown(r *status.Report, part string) string {
	if i := slices.IndexFunc(r.Unknown, func(u string) bool { return strings.HasPrefix(u, part) }); i >= 0 {
		return r.Unknown[i]
	}
	return ""
}

func rightIf(ok bool) Result {
	if ok {
		return Right
	}
	return Wrong
}

// readers counts the mappings that read the stream. A shard has room for two readers, and for one
// if the table has replicas, which read it too; others are throttled (DynamoDB Developer Guide,
// "Change data capture for DynamoDB Streams", on simultaneous readers).
func (t *trial) readers(ctx context.Context) error {
	table, err := t.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Store.Config().Events)})
	if err != nil {
		return err
	}
	room := 2
	if len(table.Table.Replicas) > 0 {
		room = 1
	}
	in := &lambda.ListEventSourceMappingsInput{EventSourceArn: table.Table.LatestStreamArn}
	var readers []string
	for {
		out, err := t.Stack.Lambda.ListEventSourceMappings(ctx, in)
		if err != nil {
			t.found("the stream has room for its readers", NotShown, "%s", show.Error(err))
			return nil
		}
		for _, m := range out.EventSourceMappings {
			arn := aws.ToString(m.FunctionArn)
			readers = append(readers, arn[strings.LastIndexByte(arn, ':')+1:])
		}
		if in.Marker = out.NextMarker; aws.ToString(in.Marker) == "" {
			break
		}
	}
	if slices.Sort(readers); len(readers) == 0 {
		t.found("the stream has room for its readers", NotShown, "no function reads it")
		return nil
	}
	t.found("the stream has room for its readers", rightIf(len(readers) <= room),
		"%s, of %d; a trial is one more for as long as it looks", strings.Join(readers, ", "), room)
	return nil
}
