// Package quarantine works on the messages that Ingot gave up: those in the quarantine queue and
// those in the dead-letter queue. [Queue.Pull] saves them as files of a [Dir] and keeps them hidden
// from others. [Examiner.Examine] says what a saved message would be today, and [Show] what people
// see of both. [Work.Resend] sends it again, and [Work.Drop] deletes it.
//
// A message leaves its queue only after it is proven sent, or because a person drops it, and in
// both cases its file stays. If a process is killed anywhere in between, the message is still in
// its queue, in its file, or both. A message that is sent twice is a Duplicate.
//
// The package asks nothing. The commands in cmd/ingot do that.
package quarantine
