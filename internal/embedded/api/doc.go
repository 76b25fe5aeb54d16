// Package api holds what the services of the in-process engine share: the clock, the seed and the account
// ([Core]), how a call is made and how it is refused ([Call], [Unsupported], [Invalid]), the count of what was
// asked ([Meter]), and ordered lists with their positions ([List]). It knows no service.
package api
