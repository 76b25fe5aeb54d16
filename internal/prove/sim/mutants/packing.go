package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// packing returns wrong ways to store compressed payloads.
func packing() []Mutant {
	return []Mutant{
		{
			Name: "archived-as-stored", What: "a compressed payload is archived as it is stored", Defends: "I5", Checks: []sim.Check{sim.Unarchived},
			Edits: []Edit{{"store.asText", `if item.Packed == nil {`, `if true {`}},
		},
	}
}

// packingBlunders returns wrong ways that are wrong even if nothing goes wrong.
func packingBlunders() []Mutant {
	return []Mutant{
		{
			Name: "compressed-in-digest", What: "the digest of a compressed payload is that of its stored bytes", Defends: "C2", Checks: []sim.Check{sim.Altered}, Plain: true,
			Helpers: []Helper{{"pipeline", `import "crypto/sha256"

func digestOfBytes(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }
`}},
			Edits: []Edit{{"pipeline.Pipeline.plan", `	t.shrink(item)
`, `	t.shrink(item)
	if item.Packed != nil {
		item.Digest = digestOfBytes(item.Packed)
	}
`}},
		},
	}
}
