// Package cost says what a pipeline will cost: requests and units of each part for a million events
// and for a month, and dollars if prices are given.
//
// [Compute] makes a [Report] from a rate of events and a pipeline. If there are sample events,
// sizes, types and folding are taken from them: a [Sampled] collects these from a [sample.Sampler].
// Otherwise Compute assumes the worst that the pipeline allows. [ReadPrices] reads a file of
// prices. Package internal/tool/estimate estimates what a batch takes, as for `ingot check`.
//
// The package sends no request to AWS, knows no free tier and no discount, and sees nothing of a
// deployed stack.
package cost
