// Package incomingtest has an incoming.Store in memory, for tests of programs that work
// with mentions: [NewStore] makes an empty one, [Store.Add] fills it, and [Store.Fail]
// lets it fail. It calls each function that changes mentions twice, as a store may.
// [Manifest] makes a site of a few files, and [NewClock] a clock.
package incomingtest
