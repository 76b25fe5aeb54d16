package payloads

import "runtime"

// many is how many bytes of payloads, or of parts, make so much garbage that the next ones need its
// room.
const many = 2 << 20

// Tidy collects the garbage of payloads or parts of so many bytes, if it is much. Parsing or
// sending a payload takes several times its size, in a few large pieces. The collector would begin
// only when the memory is almost full, and the next such piece would not fit.
func Tidy(bytes int64) {
	if bytes >= many {
		runtime.GC()
	}
}
