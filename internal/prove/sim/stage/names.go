package stage

// These are the names of what goes wrong with requests and invocations.
const (
	Crashed   = "crash"          // the process ends before or after a request
	Refused   = "refused"        // a request is throttled whole
	Conflict  = "conflict"       // a transaction is under way on the item
	Lost      = "lost answer"    // applied, and the answer does not come
	Late      = "applied late"   // the sender gives up, and the request arrives later
	Never     = "never arrived"  // the sender gives up, and nothing was applied
	Twice     = "executed twice" // the SDK sent it again
	Slow      = "slow"           // the answer takes seconds to minutes
	TimedOut  = "timed out"      // an invocation reaches its deadline, and may linger
	Dropped   = "answer dropped" // an invocation ran, but its mapping treats it as failed
	Again     = "invoked twice"  // the function gets the same batch again at once
	Forgotten = "forgotten"      // a batch succeeded, but that is not recorded
)
