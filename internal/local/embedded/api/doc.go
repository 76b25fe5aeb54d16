// Package api holds what the services of the in-process engine share:
//
//   - the clock, the seed and the account ([Core]);
//   - how a call is made and how it is refused ([Call], [Unsupported], [Invalid]);
//   - the count of requests and their cost ([Meter]);
//   - ordered lists with positions ([List]).
//
// It does not know any of the services.
package api
