// Package template reads a SAM or CloudFormation template with the position of every value. [Open]
// reads a template, and [Template.Get], [Template.Property] and [Template.Resolve] evaluate its
// intrinsic functions as far as the file alone can say: parameters by their defaults or by the
// given values, conditions, and references between resources.
//
// What only a deployment could say is [Unknown], with the reason. The package never guesses.
package template
