package sqs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// This file writes queues to a journal, and reads them again. After that, messages that were in
// flight are visible, and the receipt handles from before remove nothing.
//
//	queues          name      -> keptQueue
//	sequences       name      -> the number of the newest message
//	messages/NAME   number    -> the message
//	dedup/NAME      id        -> keptDedup

const (
	queueSpace    = "queues"
	sequenceSpace = "sequences"
)

type keptQueue struct{ Attributes map[string]string }

type keptDedup struct {
	At                         time.Time
	ID, Body, AttributesDigest string
	Sequence                   uint64
}

func (q *queue) messageSpace() string { return "messages/" + q.name }

func (q *queue) keepQueue() {
	if q.log != nil {
		q.log.Put(queueSpace, q.name, api.JSON(keptQueue{q.attributes}))
	}
}

// keep writes a new or changed message to the journal.
func (q *queue) keep(m *message) {
	if q.log == nil {
		return
	}
	p := make(api.Packer, 0, 128+m.size)
	for _, s := range []string{m.id, m.body, m.bodyMD5, m.attributesMD5, m.group, m.dedupID, m.source} {
		p.Text(s)
	}
	p.Number(uint64(m.size))
	p.Number(uint64(m.receives))
	p.Time(m.sent)
	p.Time(m.firstReceived)
	p.Number(uint64(len(m.attributes)))
	for name, a := range m.attributes {
		p.Text(name)
		p.Text(aws.ToString(a.DataType))
		if a.StringValue != nil {
			p.Text("s")
			p.Text(*a.StringValue)
		} else {
			p.Text("b")
			p.Text(string(a.BinaryValue))
		}
	}
	q.log.Put(q.messageSpace(), api.Ordered(m.sequence), string(p))
	q.log.Put(sequenceSpace, q.name, api.Ordered(q.sequence))
}

// unkeep tells the journal that a message is gone.
func (q *queue) unkeep(m *message) {
	if q.log != nil {
		q.log.Remove(q.messageSpace(), api.Ordered(m.sequence))
	}
}

func (d *dedup) keep(a accepted) {
	if d.log != nil {
		d.log.Put(d.space, a.id, api.JSON(keptDedup{a.at, a.m.id, a.m.bodyMD5, a.m.attributesMD5, a.m.sequence}))
	}
}

// Load reads what the journal holds. It must be called before anything else.
func (qs *Queues) Load(j api.Journal) error {
	err := j.Load(queueSpace, func(k, v []byte) error {
		var kept keptQueue
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		q, err := newQueue(string(k), kept.Attributes)
		if err != nil {
			return err
		}
		qs.add(q)
		return nil
	})
	if err != nil {
		return err
	}
	for _, q := range qs.byARN {
		if err := q.load(j); err != nil {
			return fmt.Errorf("queue %s: %w", q.name, err)
		}
	}
	return j.Load(sequenceSpace, func(k, v []byte) error {
		n, err := api.FromOrdered(v)
		if q := qs.byPath[qs.core.Config.Account+"/"+string(k)]; err == nil && q != nil {
			q.sequence = n
		}
		return err
	})
}

// add adds a queue to the engine, and gives it its URL, its ARN and its journal.
func (qs *Queues) add(q *queue) {
	q.url = qs.core.Config.QueueURL + "/" + qs.core.Config.Account + "/" + q.name
	q.arn = "arn:aws:sqs:" + qs.core.Config.Region + ":" + qs.core.Config.Account + ":" + q.name
	q.log, q.dedup.log, q.dedup.space = qs.log, qs.log, "dedup/"+q.name
	qs.byPath[path(q.url)], qs.byARN[q.arn] = q, q
}

func (q *queue) load(j api.Journal) error {
	if err := j.Load(q.messageSpace(), func(k, v []byte) error {
		m, err := unpackMessage(string(v))
		if err != nil {
			return err
		}
		if m.sequence, err = api.FromOrdered(k); err != nil {
			return err
		}
		m.flight = -1
		q.messages[m.id] = m
		if q.fifo {
			q.group(m.group).add(m)
		} else {
			q.ready.push(m)
		}
		return nil
	}); err != nil {
		return err
	}
	err := j.Load(q.dedup.space, func(k, v []byte) error {
		var kept keptDedup
		if err := json.Unmarshal(v, &kept); err != nil {
			return err
		}
		a := accepted{string(k), kept.At, sentMessage{kept.ID, kept.Body, kept.AttributesDigest, kept.Sequence}}
		q.dedup.seen[a.id] = a
		q.dedup.order = append(q.dedup.order, a)
		return nil
	})
	slices.SortFunc(q.dedup.order, func(a, b accepted) int { return a.at.Compare(b.at) })
	return err
}

func unpackMessage(text string) (*message, error) {
	u := api.Unpack(text)
	m := &message{}
	for _, s := range []*string{&m.id, &m.body, &m.bodyMD5, &m.attributesMD5, &m.group, &m.dedupID, &m.source} {
		*s = u.Text()
	}
	m.size, m.receives = int(u.Number()), int(u.Number())
	m.sent, m.firstReceived = u.Time(), u.Time()
	for n := u.Number(); n > 0 && !u.Failed(); n-- {
		if m.attributes == nil {
			m.attributes = map[string]types.MessageAttributeValue{}
		}
		name, kind, form, text := u.Text(), u.Text(), u.Text(), u.Text()
		a := types.MessageAttributeValue{DataType: &kind}
		if form == "s" {
			a.StringValue = &text
		} else {
			a.BinaryValue = []byte(text)
		}
		m.attributes[name] = a
	}
	if err := u.Err(); err != nil {
		return nil, fmt.Errorf("a message cannot be read: %w", err)
	}
	m.id = strings.Clone(m.id)
	return m, nil
}
