package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
)

// sandbox runs one built function and kills it. Only one goroutine may use it.
type sandbox struct {
	t      *testing.T
	config runtimeapi.Config
	die    *rand.Rand
	spared bool // no more kills

	process *runtimeapi.Process
	spans   [2]time.Duration // about how long an invocation takes: warm, and cold
	kills   struct{ starting, working, idle int }
	answers int
	said    metrics
}

// chanceKilled is the chance that an invocation is killed.
const chanceKilled = 0.5

func newSandbox(t *testing.T, die *rand.Rand, binary string, env map[string]string) *sandbox {
	s := &sandbox{t: t, die: die, spans: [2]time.Duration{5 * time.Millisecond, 50 * time.Millisecond},
		said: metrics{sums: map[string]float64{}}}
	s.config = runtimeapi.Config{Binary: binary, Env: env, Stdout: &s.said, Stderr: &s.said}
	t.Cleanup(func() {
		if s.process != nil {
			s.process.Close()
		}
	})
	return s
}

// invoke passes a payload to the function, and perhaps kills the function in the meantime. If the
// function is dead, invoke starts it first.
func (s *sandbox) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	began, span := time.Now(), &s.spans[0]
	if s.process == nil {
		span = &s.spans[1]
		s.said.cut()
		p, err := runtimeapi.Start(s.t.Context(), s.config)
		if err != nil {
			return nil, err
		}
		s.process = p
	}
	p := s.process
	var timer *time.Timer
	if !s.spared && s.die.Float64() < chanceKilled {
		timer = time.AfterFunc(time.Duration(s.die.Float64()*float64(*span)), p.Kill)
	}
	answer, err := p.Invoke(ctx, payload, 0)
	if err == nil {
		s.answers++
		*span = (7**span + time.Since(began)) / 8
	}
	if timer != nil && timer.Stop() && err == nil {
		p.Kill() // the function was faster than the kill, and dies before its next invocation
	}
	if p.Exit() != nil {
		s.died(p, err)
	}
	return answer, err
}

// total returns how many processes were killed.
// killed reports whether so many processes were killed, and one of them in the middle of its work.
func (s *sandbox) killed(n int) bool { return s.total() >= n && s.kills.working > 0 }

func (s *sandbox) total() int { return s.kills.starting + s.kills.working + s.kills.idle }

func (s *sandbox) String() string {
	return fmt.Sprintf("%d answers, %d processes killed (%d starting, %d working, %d idle)", s.answers, s.total(), s.kills.starting,
		s.kills.working, s.kills.idle)
}

// died counts how a process died. It is an error if a process ends in any way other than being
// killed here.
func (s *sandbox) died(p *runtimeapi.Process, err error) {
	p.Close()
	s.process = nil
	var exit *runtimeapi.ExitError
	switch {
	case p.Exit().Cause != runtimeapi.Killed:
		s.t.Errorf("a function ended by itself: %v\n%s", p.Exit(), s.said.last())
	case err == nil:
		s.kills.idle++
	case p.Init() == 0:
		s.kills.starting++
	case errors.As(err, &exit):
		s.kills.working++
	}
}

// metrics reads what a function prints. It adds up the metrics, and keeps the last lines.
type metrics struct {
	mu   sync.Mutex
	line []byte
	sums map[string]float64
	tail [][]byte
}

func (m *metrics) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range p {
		if b != '\n' {
			m.line = append(m.line, b)
			continue
		}
		var values map[string]any
		if json.Unmarshal(m.line, &values) == nil {
			for name, v := range values {
				if n, ok := v.(float64); ok {
					m.sums[name] += n
				}
			}
		}
		m.tail = append(m.tail[max(0, len(m.tail)-4):], m.line)
		m.line = nil
	}
	return len(p), nil
}

// cut removes a line that was not finished because its process is dead.
func (m *metrics) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.line = nil
}

func (m *metrics) sum(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.sums[name])
}

func (m *metrics) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(bytes.Join(append(m.tail, m.line), []byte("\n")))
}
