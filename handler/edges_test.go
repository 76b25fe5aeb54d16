package handler_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// SQS takes 1 MiB in one request. Letters of exactly that size together go in one request. With one
// byte more, one letter goes alone. A single letter may use all of it.
func TestQuarantineFillsARequest(t *testing.T) {
	const most = 1 << 20
	for name, tt := range map[string]struct {
		sizes    []int
		requests int64
	}{
		"exactly":        {[]int{most / 2, most / 2}, 1},
		"one byte more":  {[]int{most / 2, most/2 + 1}, 2},
		"one and only":   {[]int{most}, 1},
		"full, then one": {[]int{most, 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e := embedded.New(embedded.Config{})
			url, err := stack.Queue{Name: "quarantine"}.Create(context.Background(), e.SQS())
			must.Succeed(t, err)
			var letters []quarantine.Letter
			for _, size := range tt.sizes {
				letters = append(letters, quarantine.Letter{Body: strings.Repeat("x", size)})
			}
			for i, err := range quarantine.New(e.SQS(), url).Send(context.Background(), letters) {
				if err != nil {
					t.Errorf("letter %d: %v", i, err)
				}
			}
			must.Equal(t, e.Usage().Requests["SendMessageBatch"], tt.requests)
		})
	}
}
