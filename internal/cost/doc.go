// Package cost says what a pipeline will cost: requests and units of each part for a million events and for a month, and
// dollars where prices are given.
//
// [Compute] makes a [Report] from a rate of events and a pipeline. Sizes, types and folding are those of sample events if
// there are some, which a [Sampled] takes from a [sample.Sampler]; else the worst that the pipeline allows is supposed.
// [ReadPrices] reads a file of prices. What a batch takes is estimated by internal/estimate, as `ingot check` does.
//
// The package asks AWS nothing, knows no free tier and no discount, and sees nothing of a deployed stack.
package cost
