package scenario

// command is one command of the scripts' language.
type command struct {
	input bool // takes input lines
	usage string
	help  string
	run   func(*world, *arguments, *report) error
}

// commands holds all commands. README.md beside the scripts lists them too, and a test compares the
// two.
var commands = map[string]command{
	"world": {usage: "world [pipeline=FILE] [shards=N] [batch=N] [window=5m|0] [counting=receipts] [few=N] [fifo] [receives=N]",
		help: "begins: a queue, both functions, both tables, a stream", run: (*world).create},
	"send": {usage: "send, then lines: TYPE ID NAME=VALUE… | copy N [NAME=VALUE…] | raw TEXT", help: "the producer sends messages",
		input: true, run: (*world).send},
	"ingest":     {usage: "ingest [TROUBLE]", help: "the queue's mapping hands one batch to the ingest function", run: (*world).pollQueue},
	"queue":      {usage: "queue", help: "what the queues hold", run: (*world).queues},
	"quarantine": {usage: "quarantine", help: "the letters in quarantine", run: (*world).letters},
	"redrive":    {usage: "redrive", help: "a person moves dead letters back into the queue", run: (*world).redrive},
	"stream": {usage: "stream [all] [TROUBLE]",
		help: "the stream's mapping hands the next records to the streams function; all: until it has no more", run: (*world).pollStream},
	"replay": {usage: "replay STREAMS-N [without-shard] [TROUBLE]", help: "an earlier batch is delivered once more",
		run: (*world).replay},
	"map": {usage: "map window=5m|0", help: "the stream's mapping is made anew, from the stream's beginning", run: (*world).remap},
	"checkpoint": {usage: "checkpoint save|restore NAME", help: "remembers where the mapping stands, or goes back to it",
		run: (*world).checkpoint},
	"roll":    {usage: "roll", help: "every open shard is closed and continued by a new one", run: (*world).roll},
	"thaw":    {usage: "thaw FUNCTION-N [TROUBLE]", help: "a frozen invocation goes on", run: (*world).thaw},
	"clock":   {usage: "clock DURATION", help: "time passes", run: (*world).pass},
	"sweep":   {usage: "sweep", help: "time to live removes what has expired", run: (*world).sweep},
	"table":   {usage: "table", help: "the items of the events table", run: (*world).table},
	"totals":  {usage: "totals [NAME]", help: "the items of the aggregates table", run: (*world).totals},
	"digits":  {usage: "digits", help: "how long the sequence numbers of the stream's records are", run: (*world).digits},
	"marks":   {usage: "marks [NAME]", help: "how far each total has counted each shard", run: (*world).marks},
	"heads":   {usage: "heads", help: "what the table says of each generation", run: (*world).heads},
	"archive": {usage: "archive", help: "the objects in the archive", run: (*world).archive},
	"deploy": {usage: "deploy FILE [ingest|streams] [secret=TEXT]",
		help: "both functions, or one, get another pipeline, or another secret of hmac", run: (*world).deploy},
	"touch":  {usage: "touch", help: "rebuild's first half: old items get the new stamp", run: (*world).touch},
	"finish": {usage: "finish NAME", help: "rebuild's second half: the generation is declared complete if it is", run: (*world).finish},
	"remove": {usage: "remove PK", help: "a person removes an item", run: (*world).remove},
	"put":    {usage: "put PK SK [NAME=VALUE…]", help: "somebody else writes an item into the events table", run: (*world).put},
	"tamper": {usage: "tamper NAME VALUE=NUMBER", help: "somebody changes the first total of an aggregate by hand", run: (*world).tamper},
	"fill": {usage: "fill NAME KB", help: "the first total of an aggregate grows to that size, as if marks had filled it",
		run: (*world).fill},
	"verify": {usage: "verify", help: "every total is recomputed from the items and compared", run: (*world).verify},
}
