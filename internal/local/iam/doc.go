// Package iam judges requests to the engine as IAM judges requests to AWS: by the role of the
// function that sends them, which allows actions on resources, and of some only items with certain
// partition keys. What no statement allows is denied.
//
// The identity of a caller is in the context of its calls ([As]). A call without one is the world's
// own, and everything is allowed to it. The package knows the roles of Ingot's own templates. It
// must not import what reads templates: a test compares its roles with them.
package iam
