// Package repair changes what is stored, for a person who asks for it. A [Repairer] erases an event
// for good ([Repairer.Erase]). It brings stored events into an aggregate that was added later
// ([Repairer.BeginPass] and [Repairer.Touch], which verify.Finish completes). It puts parts that an
// older function left out ([Repairer.PutParts]).
//
// Every call may be stopped and repeated while events flow. No function uses this package.
package repair
