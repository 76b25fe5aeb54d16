// Package template reads a SAM or CloudFormation template with the position of every value. [Open]
// reads a template, and [Template.Get], [Template.Property] and [Template.Resolve] evaluate its
// intrinsic functions as far as that is possible without a deployment: parameters by their defaults
// or the given values, conditions, and references between resources.
//
// A value that only a deployment knows is [Unknown], with the reason. The package never guesses.
package template
