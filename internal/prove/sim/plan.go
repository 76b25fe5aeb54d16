package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

// Plan is everything about a world that its seed decides before the world begins. Shrinking makes
// it smaller.
type Plan struct {
	Seed     uint64
	Counting aggregate.Counting
	FIFO     bool // the ingest queue keeps groups in order
	Spread   int  // write shards of the hot aggregate

	Phases   int           // bursts of the producers, with hours between them
	Messages int           // events in each burst
	Gap      time.Duration // between bursts, at most

	Ingests     int // how many queue mappings work side by side
	Receives    int // how often a message is received before it is a dead letter
	IngestBatch int
	StreamBatch int
	Window      time.Duration

	Duplicates, Conflicts, Poison, Late float64 // shares of messages
	Parcels                             float64 // share of events with revisions
	Crowded                             float64 // share of messages with ten attributes, so that no letter about them fits into quarantine
	Copies                              int     // how many messages of earlier bursts are sent again in a burst, at most

	RollAfter time.Duration // the age at which shards roll by themselves; 0 means the engine's default; negative means never
	Weekend   int           // the phase after which nobody sends anything for some days; 0 means none
	Still     bool          // one event at a time, one shard, nothing expires: see [StillPlan]

	Faults  Faults
	Upgrade int  // the phase in which a newer pipeline is deployed; 0 means never
	Canary  bool // old and new code take turns for a while
	Back    bool // a function is rolled back for a while when there are newer stamps already
	NewForm bool // the newer code stores payloads in a form that the older code cannot read
	// Secret gives every event an index key with a keyed hash. Sometimes a function has another key
	// for it.
	Secret bool
	// Values adds an aggregate with windows of months and with values that are not numbers. Events
	// then come at full hours, so that some have equal times.
	Values bool
	// Patterns adds two indexes, and a reader who asks questions by patterns. Half-way, the key of
	// an index changes.
	Patterns bool
	// Parts is the epoch from which on the lines of orders are parts of them; 0 means never.
	Parts int64
	// Atomic puts an order and its lines in one transaction, from the epoch Parts on.
	Atomic bool
	// States lets orders with lines be versions of shelves.
	States bool
	// Claims lets atomic orders want coupons, each of which only one order can have.
	Claims bool
	// Packed is the epoch from which on the payloads of orders are compressed; 0 means never.
	Packed int64
	// Put is the epoch from which on orders move totals with their put, one of them with a floor; 0
	// means never.
	Put int64
	// Ceiling gives these totals a ceiling in place of a floor: what orders add is taken from a sum
	// that may not rise above 0.
	Ceiling bool
	// Offload is the epoch from which on large payloads go to the payload bucket; 0 means never.
	Offload int64
	// Transfers lets the lines of orders move accounts with the put, each with a floor.
	Transfers bool
	// Requires lets payments require orders.
	Requires bool
	// Ends lets payments say when they expire.
	Ends bool
	// Arrays lets a message be an array of events.
	Arrays bool
	// Pointers lets a message say that its text is in an object.
	Pointers bool
	// Withdrawn is the phase in which both functions are rolled back; 0 means never.
	Withdrawn int
	// Longer is the phase in which a pipeline is deployed that keeps events longer, by a day; 0
	// means never.
	Longer  int
	Retain  time.Duration // how long events live before that; 0 means two days
	People  bool          // a person removes an item now and then
	Redrive bool          // dead letters are moved back
	Small   bool          // the account runs few calls at a time

	Bisect      bool // the stream mapping splits failed batches
	Skew        bool // the streams functions have clocks of their own
	ReturnsItem bool // a refused statement answers with what is stored
	OneByOne    int  // how many totals of a batch are written one by one; more go as statements; 0 means the store's default
}

// Faults holds chances: for each request, each invocation and each round of a mapping.
type Faults struct {
	Refuse, Lose, Late, Never, Twice, Slow, Statements, Conflict, Crash float64 // of a request
	Codes, Unread, Cancel, Letters                                      float64 // inside the answer to a request
	DropAnswer, Duplicate, Forget                                       float64 // of an invocation
	Stale, Second, Roll, Split, Replay, Sweep, Outage                   float64 // of a round
	Hot                                                                 float64 // of a write of a head: that it is throttled
	Odd, Damage, Stamp                                                  float64 // of a round: what a person does
	HotKey                                                              float64 // of a round: that a key becomes hot
	Hang                                                                float64 // of a write that comes late: that its sender waits first
	Behind                                                              float64 // of a read
}

// NewPlan draws the plan of a seed.
func NewPlan(seed uint64) Plan {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	among := func(low, high int) int { return low + rng.IntN(high-low+1) }
	chance := func(p float64) bool { return rng.Float64() < p }
	rate := func(most float64) float64 {
		if chance(0.2) {
			return 0
		}
		return most * rng.Float64()
	}
	p := Plan{Seed: seed, Phases: among(5, 8), Messages: among(20, 34), Gap: time.Duration(among(5, 11)) * time.Hour,
		Spread: among(1, 3), Ingests: among(1, 3), IngestBatch: among(1, 40), StreamBatch: among(1, 30),
		Window:     time.Duration(among(1, 900)) * time.Second,
		Duplicates: 0.05 + rate(0.2), Conflicts: 0.02 + rate(0.05), Poison: 0.01 + rate(0.03), Late: 0.02 + rate(0.05), Parcels: 0.25,
		Canary: chance(0.5), People: chance(0.5), Redrive: chance(0.3)}
	if chance(0.3) {
		p.Counting = aggregate.Receipts
	}
	if chance(0.15) {
		p.FIFO, p.IngestBatch = true, among(1, 10)
	}
	if chance(0.6) {
		p.Upgrade = among(2, p.Phases-1)
	}
	p.Faults = Faults{
		Refuse: rate(0.08), Lose: rate(0.08), Late: rate(0.05), Never: rate(0.03), Twice: rate(0.06), Slow: rate(0.01),
		Statements: rate(0.1), Conflict: rate(0.05), Crash: rate(0.02),
		DropAnswer: rate(0.08), Duplicate: rate(0.08), Forget: rate(0.06),
		Stale: rate(0.015), Second: rate(0.012), Roll: rate(0.02), Split: rate(0.01), Replay: rate(0.03), Sweep: rate(0.08),
	}
	p.Bisect, p.Skew, p.ReturnsItem = chance(0.4), chance(0.2), chance(0.5)
	p.Copies, p.Receives = among(0, 4), 1000
	if p.Redrive && !p.FIFO { // a dead letter leaves its FIFO group behind
		p.Receives = among(2, 4)
		if chance(0.5) {
			p.Crowded = 0.02 + rate(0.08)
		}
	}
	p.Faults.Outage = rate(0.01)
	if p.FIFO { // only an invocation that fails with time left lets a group be overtaken
		p.Faults.Outage += 0.03
	}
	p.Back = chance(0.4)
	if chance(0.15) {
		p.Weekend, p.RollAfter = among(2, p.Phases-1), -1
	}
	if p.Upgrade > 0 && p.Upgrade+2 <= p.Phases && chance(0.4) {
		p.Withdrawn = among(p.Upgrade+2, p.Phases)
	}
	p.Faults.Codes, p.Faults.Unread, p.Faults.Cancel, p.Faults.Letters = rate(0.1), rate(0.2), rate(0.1), rate(0.2)
	if chance(0.3) {
		p.Faults.Odd = rate(0.02)
	}
	// A full total is large and slows its world down, so it is rare. Receipts have their own ways
	// to go on, and fewer worlds count by them, so these worlds are damaged more often.
	if chance(0.12) || p.Counting == aggregate.Receipts && chance(0.25) {
		p.Faults.Damage = 0.002 + rate(0.02)
	}
	if chance(0.3) {
		p.Longer = among(2, p.Phases)
	}
	p.Faults.Behind = rate(0.6)
	if p.Upgrade > 0 && chance(0.4) {
		p.Faults.Hot = 0.3 + rate(0.6)
	}
	if chance(0.7) { // both ways of writing are used side by side
		p.OneByOne = among(1, 5)
	}
	if chance(0.3) {
		p.Faults.HotKey = 0.01 + rate(0.03)
	}
	if p.Upgrade > 0 && chance(0.35) {
		p.NewForm = true
	}
	p.Secret = chance(0.15)
	if chance(0.15) {
		p.Faults.Stamp = 0.002 + rate(0.02)
	}
	p.Values = chance(0.4)
	p.Patterns = chance(0.4) && p.Faults.Odd == 0 && !p.NewForm
	if chance(0.35) && !p.Patterns && p.Faults.Odd == 0 {
		if p.Parts = 1; p.Upgrade > 0 && chance(0.6) {
			p.Parts = 2
		}
	}
	p.Atomic = p.Parts > 0 && rand.New(rand.NewPCG(seed, 6)).IntN(2) == 0 // a draw of its own, so that the other worlds stay as they are
	if p.Atomic && rand.New(rand.NewPCG(seed, 7)).IntN(4) > 0 {
		p.Claims, p.People = true, true
	}
	p.planPacking()
	p.planPut()
	p.planTransfers()
	p.Ceiling = p.Put > 0 && rand.New(rand.NewPCG(seed, 26)).IntN(2) == 0
	p.planArrays()
	p.planPointers()
	p.planOffload()
	p.planRetain()
	p.planAccount()
	p.planRequires()
	p.planEnds()
	p.planStates()
	return p
}

// StillPlan returns a world without trouble. It carries one event at a time to its end before the
// next is sent, over one shard. Nothing is repeated, corrected, late or broken, and nothing
// expires. Even wrong designs are right in such a world.
func StillPlan(seed uint64) Plan {
	p := NewPlan(seed)
	return Plan{Seed: seed, Counting: p.Counting, FIFO: p.FIFO, Spread: p.Spread, Phases: 2, Messages: 15, Receives: 1000, Gap: p.Gap,
		Ingests: 1, IngestBatch: p.IngestBatch, StreamBatch: p.StreamBatch, Window: p.Window, RollAfter: -1, Still: true, Values: p.Values,
		Parts: min(p.Parts, 1), Atomic: p.Atomic, Claims: p.Claims, Packed: min(p.Packed, 1), Put: min(p.Put, 1), Ceiling: p.Ceiling,
		Transfers: p.Transfers,
		Offload:   min(p.Offload, 1), Requires: p.Requires, Ends: p.Ends, States: p.States,
		OneByOne: min(p.OneByOne, 1)}
}
