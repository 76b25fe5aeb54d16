// Package template reads a SAM or CloudFormation template with the position of every value, and works out what
// its intrinsic functions come to as far as the file alone can say: parameters by their defaults or by what is
// given in their place, conditions, references between resources. What only a deployment could say is Unknown,
// with the reason; nothing is guessed.
package template
