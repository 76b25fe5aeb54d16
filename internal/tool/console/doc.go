// Package console is the page on which a person watches a pipeline: what flows, what became of one
// event, the totals, and what is in quarantine.
//
// [New] makes a [Server] over a [Source], and [Server.Serve] serves it on loopback. There are two
// sources. [Live] shows the pipeline of ingot dev, which tells a [Feed] everything that it does.
// [Remote] shows a deployed stack by its tables, queues and one-minute metrics.
//
// The page is embedded and loads nothing from other servers. The package shows what other packages
// store and compute. It never reads the stream of a stack.
package console
