package sqs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Client has the method signatures of *sqs.Client.
type Client struct{ qs *Queues }

// Client returns the client of the queues.
func (qs *Queues) Client() *Client { return &Client{qs} }

var (
	createQueue        = api.Op("SQS", "CreateQueue", "QueueName Attributes")
	getQueueURL        = api.Op("SQS", "GetQueueUrl", "QueueName QueueOwnerAWSAccountId")
	listQueues         = api.Op("SQS", "ListQueues", "QueueNamePrefix MaxResults NextToken")
	getQueueAttributes = api.Op("SQS", "GetQueueAttributes", "QueueUrl AttributeNames")
)

// CreateQueue makes a standard or FIFO queue. If there is one with these values of the attributes,
// set or by default, it is returned.
func (c *Client) CreateQueue(ctx context.Context, in *sqs.CreateQueueInput, _ ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error) {
	return api.Call(ctx, c.qs.core, createQueue, in, c.qs.create)
}

// GetQueueUrl finds a queue by name.
func (c *Client) GetQueueUrl(ctx context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return api.Call(ctx, c.qs.core, getQueueURL, in, c.qs.getURL)
}

// ListQueues lists the URLs of the queues, by name. With MaxResults it lists as many at a time, and
// says how to go on.
func (c *Client) ListQueues(ctx context.Context, in *sqs.ListQueuesInput, _ ...func(*sqs.Options)) (*sqs.ListQueuesOutput, error) {
	return api.Call(ctx, c.qs.core, listQueues, in, c.qs.list)
}

// GetQueueAttributes returns the attributes that the request asks for. The counts are exact.
func (c *Client) GetQueueAttributes(ctx context.Context, in *sqs.GetQueueAttributesInput,
	_ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return api.Call(ctx, c.qs.core, getQueueAttributes, in, c.qs.getAttributes)
}

func (qs *Queues) create(in *sqs.CreateQueueInput) (*sqs.CreateQueueOutput, error) {
	name := aws.ToString(in.QueueName)
	q, err := newQueue(name, in.Attributes)
	if err != nil {
		return nil, err
	}
	qs.mu.Lock()
	defer qs.unlock()
	if known := qs.byPath[qs.core.Config.Account+"/"+name]; known != nil {
		has := known.allAttributes()
		for attribute, value := range q.attributes {
			if has[attribute] == value {
				continue
			}
			return nil, &types.QueueNameExists{ErrorCodeOverride: aws.String("QueueAlreadyExists"),
				Message: aws.String("A queue already exists with the same name and a different value for its attributes: " + name)}
		}
		return &sqs.CreateQueueOutput{QueueUrl: aws.String(known.url)}, nil
	}
	if err := qs.checkRedrive(q); err != nil {
		return nil, err
	}
	qs.add(q)
	q.keepQueue()
	return &sqs.CreateQueueOutput{QueueUrl: aws.String(q.url)}, nil
}

// checkRedrive checks that the dead-letter queue exists and is of the same kind.
func (qs *Queues) checkRedrive(q *queue) error {
	if q.redrive.target == "" {
		return nil
	}
	dlq := qs.byARN[q.redrive.target]
	if dlq == nil {
		return api.Error("InvalidParameterValue",
			"Value %s for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.", q.redrive.describe)
	}
	if dlq.fifo != q.fifo {
		return api.Error("InvalidParameterValue",
			"Value %s for parameter RedrivePolicy is invalid. Reason: Dead-letter queue must be same type of queue as the source.",
			q.redrive.describe)
	}
	return nil
}

// path returns the account and the name at the end of a queue URL. The service finds a queue by
// them.
func path(url string) string {
	at := strings.LastIndexByte(url, '/')
	return url[strings.LastIndexByte(url[:max(at, 0)], '/')+1:]
}

// queue finds a queue by its URL. It also makes messages visible again whose visibility timeout is
// over. The caller must hold the lock.
func (qs *Queues) queue(url *string) (*queue, error) {
	q := qs.byPath[path(aws.ToString(url))]
	if q == nil {
		return nil, noQueue()
	}
	q.release(qs.core.Now())
	return q, nil
}

func noQueue() error {
	return &types.QueueDoesNotExist{
		Message:           aws.String("The specified queue does not exist."),
		ErrorCodeOverride: queryCode("NonExistentQueue"),
	}
}

func (qs *Queues) getURL(in *sqs.GetQueueUrlInput) (*sqs.GetQueueUrlOutput, error) {
	qs.mu.Lock()
	defer qs.unlock()
	account := cmp.Or(aws.ToString(in.QueueOwnerAWSAccountId), qs.core.Config.Account)
	q := qs.byPath[account+"/"+aws.ToString(in.QueueName)]
	if q == nil {
		return nil, noQueue()
	}
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String(q.url)}, nil
}

// maxListed is how many queues a list has if the request does not ask for pages.
const maxListed = 1000

func (qs *Queues) list(in *sqs.ListQueuesInput) (*sqs.ListQueuesOutput, error) {
	limit := maxListed
	if in.MaxResults != nil {
		if limit = int(*in.MaxResults); limit < 1 || limit > maxListed {
			return nil,
				api.Error("InvalidParameterValue",
					"Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and %d", maxListed)
		}
	} else if in.NextToken != nil {
		return nil,
			api.Error("InvalidParameterValue",
				"Value for parameter NextToken is invalid. Reason: MaxResults must be set when NextToken is.")
	}
	qs.mu.Lock()
	defer qs.unlock()
	byName := map[string]*queue{}
	for _, q := range qs.byARN {
		byName[q.name] = q
	}
	out := &sqs.ListQueuesOutput{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if !strings.HasPrefix(name, aws.ToString(in.QueueNamePrefix)) || name <= aws.ToString(in.NextToken) { // the token is the last name
			continue
		}
		if len(out.QueueUrls) == limit {
			if in.MaxResults != nil {
				last := out.QueueUrls[limit-1]
				out.NextToken = aws.String(last[strings.LastIndexByte(last, '/')+1:])
			}
			break
		}
		out.QueueUrls = append(out.QueueUrls, byName[name].url)
	}
	return out, nil
}

func (qs *Queues) getAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all := q.allAttributes()
	out := map[string]string{}
	for _, name := range in.AttributeNames {
		if name == types.QueueAttributeNameAll {
			out = all
			break
		}
		if v, ok := all[string(name)]; ok {
			out[string(name)] = v
		} else if !known(name) {
			return nil, &types.InvalidAttributeName{Message: aws.String("Unknown Attribute " + string(name) + ".")}
		}
	}
	return &sqs.GetQueueAttributesOutput{Attributes: out}, nil
}

func known(name types.QueueAttributeName) bool {
	for _, n := range name.Values() {
		if n == name {
			return true
		}
	}
	return false
}

func (q *queue) allAttributes() map[string]string {
	out := maps.Clone(q.attributes)
	set := func(name types.QueueAttributeName, v string) { out[string(name)] = v }
	set(types.QueueAttributeNameQueueArn, q.arn)
	set(types.QueueAttributeNameVisibilityTimeout, strconv.Itoa(int(q.visibility.Seconds())))
	set(types.QueueAttributeNameMessageRetentionPeriod, strconv.Itoa(int(q.retention.Seconds())))
	set(types.QueueAttributeNameMaximumMessageSize, strconv.Itoa(maxMessageSize))
	set(types.QueueAttributeNameApproximateNumberOfMessages, strconv.Itoa(len(q.messages)-len(q.inflight)))
	set(types.QueueAttributeNameApproximateNumberOfMessagesNotVisible, strconv.Itoa(len(q.inflight)))
	set(types.QueueAttributeNameApproximateNumberOfMessagesDelayed, "0")
	set(types.QueueAttributeNameDelaySeconds, "0")
	set(types.QueueAttributeNameReceiveMessageWaitTimeSeconds, "0")
	return out
}
