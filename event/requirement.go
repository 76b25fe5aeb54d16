package event

// Requirement is an event that must be stored before another one is put.
type Requirement struct {
	Type string
	Key  Key
}
