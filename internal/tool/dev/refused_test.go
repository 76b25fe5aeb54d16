package dev

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// A file of messages that are refused is not refused in silence: the first of each reason is told,
// and the number of them as it grows tenfold.
func TestRefusedAreTold(t *testing.T) {
	for name, hashed := range map[string]bool{"plain": false, "hashed": true} {
		t.Run(name, func(t *testing.T) {
			text, quoted := orders, `"soon"`
			if hashed { // the detail may quote what is personal
				text, quoted = strings.Replace(orders, "ORDER#{order_id}", "ORDER#{order_id | hmac}", 1), `"***"`
			}
			var mu sync.Mutex
			var told []string
			d := start(t, Config{File: folder(t, text), Secret: []byte("a secret for this test alone"), Tell: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, line)
			}})
			for i := range 12 {
				body := fmt.Sprintf(`{"type":"order.placed","placed_at":"soon","n":%d}`, i)
				if i == 11 {
					body = "no JSON"
				}
				send(t, d, body)
			}
			taken := 0
			until(t, d, func(s Step) bool {
				if s.Message != nil {
					taken++
				}
				return taken == 12
			})
			mu.Lock()
			defer mu.Unlock()
			must.Equal(t, len(told), 4)
			all := strings.Join(told, "\n") + "\n"
			for _, want := range []string{
				"a message is in quarantine now: Poison (bad-time): at: field placed_at: " + quoted,
				"a message is in quarantine now: Poison (undecodable)",
				"to look at it: ingot quarantine pull DIR --local, and then: ingot quarantine list DIR\n",
				"10 messages went to quarantine since ingot dev began\n",
			} {
				must.Equal(t, strings.Count(all, want), 1, all)
			}
		})
	}
}

func TestPowerOfTen(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: false, 2: false, 10: true, 11: false, 20: false, 100: true, 110: false, 1000: true,
		1010: false, 100000: true} {
		if powerOfTen(n) != want {
			t.Errorf("powerOfTen(%d) is %v", n, !want)
		}
	}
}
