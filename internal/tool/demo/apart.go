package demo

import (
	"fmt"
	"iter"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// apart returns the events of messages that have several, each as a message of its own: the demo
// sends each event in its own way. It leaves out what the pipeline drops.
func apart(lines iter.Seq2[Line, error], p *pipeline.Pipeline) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			if err != nil {
				if !yield(line, err) {
					return
				}
				continue
			}
			around, list, _ := p.Open(line.Message) // the plan says what is wrong
			if list == nil && !dropped(p, line.Message) && !yield(line, nil) {
				return
			}
			for _, m := range list {
				if dropped(p, m) {
					continue
				}
				one, err := alone(m, around)
				if !yield(Line{line.Number, one}, err) {
					return
				}
			}
		}
	}
}

func dropped(p *pipeline.Pipeline, m envelope.Message) bool {
	_, _, err := p.PlanMessage(m)
	return err != nil && event.RefusalOf(err).Verdict == event.Dropped
}

// alone returns one of several events as it would be sent by itself.
func alone(m envelope.Message, around envelope.Opened) (envelope.Message, error) {
	opened, err := envelope.Open(m)
	switch {
	case err != nil:
		return m, err
	case around.Kind.Form != envelope.Raw:
		return m, fmt.Errorf("it holds several events in an envelope (%s), and the demo takes only bare JSON apart", around.Kind)
	case opened.Kind.Form != envelope.Raw:
		return envelope.Message{Body: m.Body, Attributes: m.Attributes}, nil
	}
	return envelope.Message{Body: opened.Data.Text(), Attributes: opened.Attributes}, nil
}
