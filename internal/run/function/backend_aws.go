//go:build !ingotlocal

package function

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/awsclient"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// These limit one request. A function has a minute for a batch, so a request that hangs must end
// early enough to be repeated. Ingot's requests are answered within tens of milliseconds. The
// largest one, 1 MiB to quarantine, is answered within a second.
const (
	requestTime = 5 * time.Second
	dialTime    = 2 * time.Second
)

// backend makes the clients of one process.
type backend struct{ config aws.Config }

// connect uses the given AWS configuration. If that is nil, it uses Lambda's environment. It sends
// no request.
func connect(_ context.Context, _ *slog.Logger, given *aws.Config, s settings, _ *pipeline.Pipeline) (*backend, error) {
	var c aws.Config
	if given != nil {
		c = given.Copy()
		c.HTTPClient = bounded(c.HTTPClient)
	} else {
		var err error
		if c, err = lambdaConfig(); err != nil {
			return nil, fmt.Errorf("AWS configuration: %w", err)
		}
	}
	if c.Region == "" {
		return nil, errors.New("AWS configuration: no Region is known; set AWS_REGION")
	}
	if s.endpoint != "" {
		c.BaseEndpoint = &s.endpoint
	}
	return &backend{c}, nil
}

// bounded returns the client with the limits of one request. A client that is not of the SDK's own
// type gets no limits, because only its author can limit it.
func bounded(given aws.HTTPClient) aws.HTTPClient {
	if given == nil {
		given = awshttp.NewBuildableClient()
	}
	own, ok := given.(*awshttp.BuildableClient)
	if !ok {
		return awsclient.Client{HTTPClient: given}
	}
	return awsclient.Client{HTTPClient: own.WithTimeout(requestTime).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTime }).
		WithTransportOptions(func(t *http.Transport) { t.TLSHandshakeTimeout = dialTime })}
}

// once makes the SDK send each request only once. The store and quarantine repeat requests
// themselves, until the deadline and under the same condition. The archive repeats a request a few
// times in its half of the invocation. Retries of the SDK would hide throttles from their metrics
// and from the store's concurrency, and would wait up to a second where they wait 25 ms.
const once = 1

// env returns the real world.
func (b *backend) env() env.Env { return env.Env{} }

func (b *backend) region() string { return b.config.Region }

func (b *backend) aws() aws.Config { return b.config }

func (b *backend) tables() tables.Client {
	return dynamodb.NewFromConfig(b.config, func(o *dynamodb.Options) {
		o.RetryMaxAttempts = once
		o.Protocol = statementBodies{o.Protocol}
	})
}

func (b *backend) quarantine(url string) quarantine.Queue {
	return quarantine.New(lateSender{sync.OnceValue(func() *sqs.Client {
		return sqs.NewFromConfig(b.config, func(o *sqs.Options) { o.RetryMaxAttempts = once })
	})}, url)
}

func (b *backend) archive(bucket string) handler.Archive {
	return handler.NewArchive(b.late(), bucket)
}

func (b *backend) payloads(buckets []string) *handler.Payloads {
	return handler.NewPayloads(b.late(), buckets...)
}

// objects returns the client for the payload bucket.
func (b *backend) objects() tables.Objects { return b.late() }

func (b *backend) late() lateObjects { return lateObjects{sync.OnceValue(b.s3)} }

func (b *backend) s3() *s3.Client {
	return s3.NewFromConfig(b.config, func(o *s3.Options) {
		o.RetryMaxAttempts = once
		// An emulator's host name does not resolve with a bucket in front of it.
		o.UsePathStyle = b.config.BaseEndpoint != nil
		o.DisableLogOutputChecksumValidationSkipped = true // otherwise it logs a line for each object that an older client has put
	})
}

// lateSender makes its client when the first message is sent to quarantine, because most processes
// send none.
type lateSender struct{ client func() *sqs.Client }

func (l lateSender) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput,
	options ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	return l.client().SendMessageBatch(ctx, in, options...)
}

// lateObjects makes its client at the first request to S3, because most processes send none.
type lateObjects struct{ client func() *s3.Client }

func (l lateObjects) GetObject(ctx context.Context, in *s3.GetObjectInput, options ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return l.client().GetObject(ctx, in, options...)
}

func (l lateObjects) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return l.client().PutObject(ctx, in, options...)
}

func (l lateObjects) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, options ...func(*s3.Options)) (*s3.DeleteObjectOutput,
	error) {
	return l.client().DeleteObject(ctx, in, options...)
}

func (l lateObjects) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput, options ...func(*s3.Options)) (*s3.DeleteObjectsOutput,
	error) {
	return l.client().DeleteObjects(ctx, in, options...)
}

func (l lateObjects) ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, options ...func(*s3.Options)) (*s3.ListObjectsV2Output,
	error) {
	return l.client().ListObjectsV2(ctx, in, options...)
}
