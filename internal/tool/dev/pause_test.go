package dev

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
)

// A mapping that is off calls nothing, however long it is off, and goes on once it is on again.
func TestAMappingThatIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Dev{switches: mappings.New(mappings.Mapping{UUID: "1", Function: "ingest"}), base: context.Background()}
		enable := func(on bool) {
			answer := httptest.NewRecorder()
			d.switches.ServeHTTP(answer, httptest.NewRequest(http.MethodPut, mappings.Prefixes[0]+"/1",
				strings.NewReader(fmt.Sprintf(`{"Enabled": %t}`, on))))
			if answer.Code != http.StatusAccepted {
				t.Fatal(answer.Body)
			}
		}
		enable(false)
		var rounds []time.Duration
		began, stop, ended := time.Now(), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			d.poll("ingest", stop, func(context.Context) (time.Duration, error) {
				rounds = append(rounds, time.Since(began))
				return time.Hour, nil
			})
		}()
		time.Sleep(10 * time.Minute)
		enable(true)
		time.Sleep(time.Minute)
		close(stop)
		<-ended
		if len(rounds) != 1 || rounds[0] < 10*time.Minute || rounds[0] > 10*time.Minute+pause {
			t.Errorf("off for 10 minutes, and called after %v", rounds)
		}
	})
}
