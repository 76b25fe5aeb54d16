package sim

import "github.com/ingot-events/ingot/internal/prove/sim/stage"

// These are the names of what goes wrong, as the trace and the survey print them.
const (
	outage = "outage"  // next to nothing gets through for a while
	hotKey = "hot key" // the writes of one key are throttled for minutes

	behind        = "replica behind"   // a read meets a replica that is behind, which answers it if it is not consistent
	indexBehind   = "index behind"     // a question by a pattern is answered by an index that lags
	oddItem       = "odd item"         // a person writes, changes or removes an item that claims to be Ingot's, and cannot be read
	mistyped      = "total mistyped"   // a person turns the value of a total into text
	filled        = "total filled"     // a person fills a total to the largest size of an item
	newerForm     = "newer form"       // newer code stores an item in a form that older code cannot read
	metNewer      = "newer form met"   // older code meets such an item, and its message comes again
	strangeStamp  = "stamped by hand"  // a person gives an item a stamp that no pipeline has, and takes it back
	givenUp       = "record given up"  // a person gives up a record that carries such a stamp
	anotherSecret = "another secret"   // an invocation has a secret of hmac that differs from that of the tables
	misgiven      = "given up wrongly" // a person gives up a record that blocks nothing

	bisected    = "bisected"                // a failed batch is split
	staleMark   = "stale checkpoint"        // a poller fails over to an old checkpoint
	second      = "second poller"           // two pollers read the stream
	unnamed     = "mapping without window"  // a mapping whose events do not name their shard
	rolled      = "shards rolled"           // every open shard is continued by a child
	splitUp     = "shard split"             // a shard is continued by two
	replayed    = "replay"                  // a finished batch is delivered again
	throttled   = "call throttled"          // the account runs no more calls at a time
	redriven    = "redriven"                // dead letters are moved back, under new ids
	unfit       = "letter refused"          // quarantine cannot take the letter
	afterLife   = "delivered after expiry"  // a copy of an event arrives after the event has expired
	canary      = "old code beside new"     // an invocation runs the pipeline that is being replaced
	byPerson    = "removed by a person"     // an item is removed by hand
	byErasure   = "erased by a person"      // an event is replaced by a bar, or its key is barred in advance
	unraised    = "careless change"         // a pipeline changed without a new epoch
	backAgain   = "put back"                // an aggregate is taken out and then put back as it was
	withdrawn   = "both rolled back"        // both functions run the older pipeline for a while
	swept       = "swept"                   // time to live removes items
	hot         = "head throttled"          // a write of a head is throttled; all shards write to it
	elsewhere   = "swept elsewhere"         // time to live removes items in another Region, and the stream does not say who did it
	lasting     = "retain made longer"      // a pipeline is deployed that keeps events longer
	wholeAlone  = "whole alone"             // older code acknowledges a whole without its parts
	healed      = "parts put later"         // a message that comes again puts parts that its first delivery did not
	putAgain    = "parts put by hand"       // a person puts a missing part
	taken       = "coupon taken"            // an order wants a coupon that another order has
	released    = "coupon released"         // the order that has a coupon is erased, so that others can have it
	compressed  = "payload compressed"      // an item is stored with its payload compressed
	goneBefore  = "gone before a condition" // an item is removed or erased just before a transaction names it in a condition
	inArray     = "array of events"         // a message is an array of events
	arrayKept   = "array kept"              // an array is in quarantine for some of its events, and the others are stored
	objectLate  = "object late"             // a message points to an object that comes later
	objectGone  = "object gone"             // the object that a message points to is removed
	metNothing  = "object missing"          // a message goes back because the object that it points to was not there
	beaten      = "state beaten"            // an order is stored, and a newer state stands in the way of its own
	ownerGone   = "gone before its state"   // an order is erased just before a transaction puts its state
	brought     = "state brought back"      // a person puts the state of an older order in the place of one that was erased
	endsEarly   = "ends early"              // a payment says that it expires before its type does
	metNoOrder  = "order missing"           // a payment comes again because the order that it requires is not stored
	unpaid      = "kept for an order"       // a payment goes to quarantine because the order that it requires is not stored
	resent      = "resent"                  // a person sends such a payment again once the order is stored
	metBuilding = "balance being built"     // an order comes again because its balance lacks older orders
	metTooLate  = "too late meanwhile"      // an event comes again: its time is up, and a try of it may still land
	offloaded   = "payload offloaded"       // an item is stored, and its payload is in the payload bucket
	payloadGone = "payload gone"            // somebody deletes a payload from the bucket
	cleaned     = "payloads cleaned up"     // a person deletes the objects of the payload bucket that belong to no event
	asleep      = "operator asleep"         // a rebuild stops before its last request, and goes on after others have written
)

// FaultNames lists every fault that a world may cause.
func FaultNames() []string {
	return []string{stage.Crashed, stage.Refused, stage.Conflict, stage.Lost, stage.Late, stage.Never, stage.Twice, outage, hotKey,
		stage.Slow, stage.Statements, stage.StatementCodes,
		stage.Unread, stage.InParts,
		behind, indexBehind, stage.CancelledFor, stage.LettersFailed, oddItem, mistyped, filled, newerForm, metNewer, strangeStamp,
		givenUp, misgiven,
		anotherSecret,
		stage.TimedOut, stage.Dropped, stage.Again, stage.Forgotten, bisected, staleMark, second, unnamed, rolled, splitUp, stage.Beside,
		replayed, throttled, redriven, unfit,
		afterLife, canary, byPerson, byErasure, unraised, backAgain, withdrawn, swept, elsewhere, hot, asleep, lasting, wholeAlone, healed,
		putAgain, taken, released, goneBefore, compressed, inArray, arrayKept, objectLate, objectGone, metNothing, metBuilding, metTooLate,
		offloaded, payloadGone, cleaned, metNoOrder, unpaid, resent, endsEarly,
		beaten, ownerGone, brought}
}
