package crash

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/integration/endpoint"
	"github.com/ingot-events/ingot/internal/esm"
)

// fetchTime is how long the emulator may take to come from the package registry.
const fetchTime = 40 * time.Second

// open finds a DynamoDB, or skips.
func open(t *testing.T) *endpoint.Endpoint {
	t.Helper()
	required := os.Getenv(endpoint.RequiredVariable) == "1"
	if testing.Short() && !required {
		t.Skip("short: no processes are killed; run without -short")
	}
	getenv, why := os.Getenv, ""
	if getenv(endpoint.URLVariable) == "" {
		var url string
		if url, why = startDynoxide(t); url != "" {
			getenv = func(name string) string { return map[string]string{endpoint.URLVariable: url}[name] }
		}
	}
	e, err := endpoint.Open(t.Context(), getenv)
	var missing *endpoint.Missing
	switch {
	case errors.As(err, &missing) && !required:
		t.Skipf("%s; %v", why, missing)
	case err != nil:
		t.Fatal(strings.TrimPrefix(why+"; ", "; "), err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return e
}

// startDynoxide runs the emulator until the test ends; or it says why it cannot.
func startDynoxide(t *testing.T) (url, why string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fetchTime)
	defer cancel()
	fetch := exec.CommandContext(ctx, "../../scripts/dynoxide.sh")
	fetch.WaitDelay = time.Second
	var said strings.Builder
	fetch.Stderr = &said
	path, err := fetch.Output()
	if err != nil {
		return "", strings.TrimSpace(said.String() + " (" + err.Error() + ")")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // asked for port 0 it takes one and does not say which
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	emulator := exec.Command(strings.TrimSpace(string(path)), "--host", "127.0.0.1", "--port", port)
	if err := emulator.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- emulator.Wait() }()
	t.Cleanup(func() {
		_ = emulator.Process.Kill() // fails only if it has ended
		<-ended
	})
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			c.Close()
			return "http://" + address, ""
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the emulator ended at once: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("the emulator takes no connection: %v", err)
		}
	}
}

// createTable makes a table; an events table has a stream, whose ARN is returned.
func createTable(t *testing.T, db *dynamodb.Client, name string, events bool) (streamARN string) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS}}}
	if events {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	}
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the endpoint may not be ours
		_, _ = db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	})
	wait := dynamodb.NewTableExistsWaiter(db, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second })
	out, err := wait.WaitForOutput(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.Table.LatestStreamArn)
}

// numbered gives sequence numbers the 21 digits that the service's have at least: Dynoxide counts from 1. The
// order is the emulator's own.
type numbered struct{ esm.StreamClient }

const digits = 21

func (n numbered) GetRecords(ctx context.Context, in *dynamodbstreams.GetRecordsInput, options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := n.StreamClient.GetRecords(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	for i := range out.Records {
		if number := out.Records[i].Dynamodb.SequenceNumber; len(aws.ToString(number)) < digits {
			*number = "1" + strings.Repeat("0", digits-1-len(*number)) + *number
		}
	}
	return out, nil
}

func (n numbered) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, options ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	if number := aws.ToString(in.SequenceNumber); len(number) == digits && number[0] == '1' {
		if short, err := strconv.ParseInt(number[1:], 10, 64); err == nil {
			copied := *in
			copied.SequenceNumber = aws.String(strconv.FormatInt(short, 10))
			in = &copied
		}
	}
	return n.StreamClient.GetShardIterator(ctx, in, options...)
}
