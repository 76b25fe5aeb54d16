package main

import "github.com/ingot-events/ingot/internal/sim"

// letters are other ideas of what goes to quarantine, and how.
func letters() []Mutant {
	undeserved := []sim.Check{sim.Undeserved}
	return []Mutant{
		{
			Name: "letters-share-reason", What: "the letters of a batch have the first one's reason", Checks: undeserved,
			Patches: []Patch{{"handler/ingest.go", `letters, places = append(letters, l), append(places, i)`, `letters, places = append(letters, l), append(places, i)
		if len(letters) > 1 {
			letters[len(letters)-1].Attributes[Attribute] = letters[0].Attributes[Attribute]
		}`}},
		},
		{
			Name: "letter-without-key", What: "a letter about a conflict does not name its key", Checks: undeserved,
			Patches: []Patch{{"store/judge.go", `Detail: fmt.Sprintf(format, args...), Key: item.Key}`, `Detail: fmt.Sprintf(format, args...)}`}},
		},
		{
			Name: "letter-without-attributes", What: "a letter leaves the message's attributes behind", Checks: undeserved,
			Patches: []Patch{{"handler/message.go", `		if name != Attribute {`, `		if name == Attribute {`}},
		},
		{
			Name: "unfit-letters-dropped", What: "a letter that quarantine can never take counts as kept", Checks: []sim.Check{sim.Lost},
			Patches: []Patch{{"handler/quarantine.go", `		if errs[i] = letters[i].fit(); errs[i] == nil {
`, `		if letters[i].fit() == nil {
`}},
		},
		{
			Name: "denied-letters-acknowledged", What: "letters that may not be sent count as kept", Checks: []sim.Check{sim.Lost},
			Patches: []Patch{{"handler/quarantine.go", `			errs[i] = fmt.Errorf("quarantine queue: %w", awserr.Quiet(err))
`, `			if !awserr.Denied(err) {
				errs[i] = fmt.Errorf("quarantine queue: %w", awserr.Quiet(err))
			} else {
				errs[i] = nil
			}
`}},
		},
		{
			Name: "unsent-letters-acknowledged", What: "letters that there was no time to send count as kept", Checks: []sim.Check{sim.Lost},
			Patches: []Patch{{"handler/quarantine.go", `			errs[i] = context.DeadlineExceeded // until proven
`, ``}},
		},
		{
			Name: "letters-sent-again", What: "a batch of letters is sent again whole when one was refused", Checks: []sim.Check{sim.Cost},
			Patches: []Patch{{"handler/quarantine.go", `			again = append(again, i)
`, `			again = batch
`}},
		},
		{
			Name: "letters-by-position", What: "the answer about letters is read by position, not by id", Checks: []sim.Check{sim.Lost},
			Patches: []Patch{{"handler/quarantine.go", `	for _, sent := range out.Successful {
		if i, convErr := strconv.Atoi(aws.ToString(sent.Id)); convErr == nil && i >= 0 && i < len(errs) {
`, `	for at := range out.Successful {
		if i := batch[at]; i >= 0 {
`}, {"handler/quarantine.go", `			again = append(again, i)
`, `			again = again[:0]
`}},
		},
	}
}
