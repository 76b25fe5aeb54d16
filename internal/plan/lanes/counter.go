package lanes

// CounterOf returns the part of a *store.Store that package internal/table/inside hands out. The
// store sets it when the program starts: it cannot be a method, because then it would be part of
// the library's public API.
var CounterOf func(store any) any
