// Command capacity computes what a load uses of every limit that the stack has, the first one that it reaches, and dollars a month.
// It measures nothing: the calls of each journey are those of package journey, which are counted; prices, quotas and what is assumed
// stand in figures.csv with source and date; functions, tables and limits of our own come from template.yaml.
//
//	go run ./infra/capacity [-connections 1000000] [-exports-per-day …] [-template template.yaml]
//	go run ./infra/capacity -document docs/scaling.md
//
// The second form makes the figures of a document anew: every block of it that begins with this command.
package main
