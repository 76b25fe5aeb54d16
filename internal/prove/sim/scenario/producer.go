package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// letter is one message as its producer wrote it.
type letter struct {
	raw        string // malformed; else:
	fields     [][2]string
	group      string
	attributes int // how many message attributes it carries
}

// send sends one message for each line. A value that looks like a number is a number. at is a time
// relative to now.
func (w *world) send(a *arguments, out *report) error {
	if len(a.body) == 0 {
		return errors.New("needs lines that say what to send")
	}
	for _, line := range a.body {
		l, err := w.write(line)
		if err == nil {
			err = w.post(l)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		out.row(fmt.Sprint("message ", len(w.outbox)), l.body())
	}
	return nil
}

// write reads one line.
func (w *world) write(line string) (*letter, error) {
	if raw, ok := strings.CutPrefix(line, "raw "); ok {
		return &letter{raw: raw, group: "raw"}, nil
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return nil, errors.New("begins with type and id")
	}
	l := &letter{fields: [][2]string{{"type", words[0]}, {"id", words[1]}}, group: words[1]}
	if words[0] == "copy" {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 || n > len(w.outbox) {
			return nil, errors.New("copy of which message?")
		}
		c := *w.outbox[n-1]
		c.fields = append([][2]string{}, c.fields...)
		l = &c
	} else {
		l.put("at", w.Clock.Now().Format(time.RFC3339))
	}
	for _, word := range words[2:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not name=value", word)
		}
		switch name {
		case "group":
			l.group = value
		case "attributes":
			l.attributes, _ = strconv.Atoi(value)
		case "at":
			ago, err := span(value)
			if err != nil {
				return nil, err
			}
			l.put("at", w.Clock.Now().Add(ago).Format(time.RFC3339))
		default:
			l.put(name, value)
		}
	}
	return l, nil
}

func (l *letter) put(name, value string) {
	for i := range l.fields {
		if l.fields[i][0] == name {
			l.fields[i][1] = value
			return
		}
	}
	l.fields = append(l.fields, [2]string{name, value})
}

func (l *letter) body() string {
	if l.raw != "" {
		return l.raw
	}
	members := make([]string, len(l.fields))
	for i, f := range l.fields {
		value, _ := json.Marshal(f[1])
		if _, err := strconv.ParseFloat(f[1], 64); err == nil && f[0] != "id" {
			value = []byte(f[1])
		}
		members[i] = fmt.Sprintf("%q:%s", f[0], value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// post puts a message into the queue.
func (w *world) post(l *letter) error {
	in := &sqs.SendMessageInput{QueueUrl: &w.Queue, MessageBody: aws.String(l.body())}
	for i := range l.attributes {
		if in.MessageAttributes == nil {
			in.MessageAttributes = map[string]types.MessageAttributeValue{}
		}
		in.MessageAttributes[fmt.Sprint("tag", i)] = types.MessageAttributeValue{DataType: aws.String("String"),
			StringValue: aws.String("x")}
	}
	w.outbox = append(w.outbox, l)
	name := fmt.Sprint(len(w.outbox))
	if strings.HasSuffix(w.Queue, ".fifo") {
		in.MessageGroupId, in.MessageDeduplicationId = &l.group, &name
	}
	out, err := w.Engine.SQS().SendMessage(context.Background(), in)
	if err == nil {
		w.names.messages[*out.MessageId] = name
	}
	return err
}

// message returns the number of a message. A message with a new id is recognised by its body, and
// marked.
func (w *world) message(id, body string) string {
	if w.names.messages[id] == "" {
		for i := range w.outbox {
			if w.outbox[i].body() == body {
				w.names.messages[id] = fmt.Sprint(i+1, "'")
			}
		}
	}
	return w.names.messages[id]
}
