// Package sample plans every event of a file and says what would become of them together: their verdicts, the fields
// that are missing or of another type, the hottest keys and totals, sizes and units.
//
// [Sampler.Read] takes the events, one JSON document a line, in bounded memory whatever the file's size: what it counts
// by key it counts with bounds, and says both. It sends no request, so it supposes that nothing is stored but the lines
// before. Keys that are hidden by hmac are never printed, nor are the details of such events.
package sample
