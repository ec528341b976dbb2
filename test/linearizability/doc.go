// Package linearizability holds a test that records what concurrent clients do and see, through a network that loses,
// delays and repeats messages, and checks the history with porcupine against a sequential model: there must be one
// order of all operations, each between its call and its return, in which every result is right. An operation
// whose response was lost stays open: it may happen at any later time, or never.
//
// It is a nested module because of porcupine.
package linearizability
