package store

// ErrTooLarge is the error of an answer that is too large to be read.
var ErrTooLarge = errTooLarge
