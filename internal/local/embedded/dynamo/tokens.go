package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// tokenLife is how long a ClientRequestToken makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// tokens remembers, by client token, the transactions that were done.
type tokens struct {
	done  map[string]tokenEntry
	order []tokenEntry // by time
	log   *api.Log
}

type tokenEntry struct {
	token  string
	digest [32]byte // of the request
	at     time.Time
	out    *dynamodb.TransactWriteItemsOutput
}

func newTokens(log *api.Log) tokens { return tokens{done: map[string]tokenEntry{}, log: log} }

func (t *tokens) forget(now time.Time) {
	n := 0
	for n < len(t.order) && now.Sub(t.order[n].at) >= tokenLife {
		delete(t.done, t.order[n].token)
		t.log.Remove(tokenSpace, t.order[n].token)
		n++
	}
	t.order = t.order[n:]
}

func (t *tokens) remember(e tokenEntry) {
	t.done[e.token] = e
	t.order = append(t.order, e)
	t.keep(e)
}
