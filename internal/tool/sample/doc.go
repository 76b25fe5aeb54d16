// Package sample plans every event of a file and says what would become of them together: their
// verdicts, the fields that are missing or have another type, the hottest keys and totals, sizes
// and units.
//
// [Sampler.Read] takes the events, one JSON document to a line. Its memory is bounded, whatever the
// size of the file: what it counts by key has a lower and an upper bound, and it states both. It
// sends no request. So it assumes that nothing is stored except the lines before. It never prints
// keys that hmac hides, nor the details of such events.
package sample
