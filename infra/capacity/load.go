package main

import "flag"

// load is what patients and organisations do. Rates are of a day, the mean of many.
type load struct {
	connections, exports, webhooks, connects, searches float64
	resources                                          float64 // of an export
	statusPolls, signInPolls                           float64 // of an export, of a sign-in on a page of ours
	organisations                                      float64
	largest                                            float64 // share of the largest organisation
	largestEndpoint                                    float64 // share of the connections whose tokens come from one token endpoint
	signed                                             float64 // share of token requests that a signature proves
	failing                                            float64 // share of deliveries whose first attempt fails
	peak                                               float64 // how many times the mean the busiest hour has
	cold                                               float64 // share of invocations that start a process
	answer, receiver                                   float64 // seconds that a health system, or a webhook, takes to answer
}

// bind makes flags of the load. What is 0 afterwards follows from the connections.
func (l *load) bind(flags *flag.FlagSet) {
	flags.Float64Var(&l.connections, "connections", 1_000_000, "connections that are kept alive")
	flags.Float64Var(&l.exports, "exports-per-day", 0, "exports a day; 0 is each connection once in 30 days")
	flags.Float64Var(&l.webhooks, "webhooks", 0, "deliveries a day; 0 is one for each export and each sign-in")
	flags.Float64Var(&l.connects, "connects-per-day", 0, "sign-ins of patients a day; 0 is one for 500 connections")
	flags.Float64Var(&l.searches, "catalog-searches", 0, "searches of the catalogue a day; 0 is 5 for each sign-in")
	flags.Float64Var(&l.resources, "resources", 2000, "resources of an export")
	flags.Float64Var(&l.statusPolls, "status-polls", 3, "how often an organisation asks how an export stands")
	flags.Float64Var(&l.signInPolls, "sign-in-polls", 80, "how often a page of ours asks how a sign-in stands: two minutes, 40 a minute")
	flags.Float64Var(&l.organisations, "organisations", 100, "organisations")
	flags.Float64Var(&l.largest, "largest", 0.2, "share of the largest organisation in everything")
	flags.Float64Var(&l.largestEndpoint, "largest-endpoint", 0.05, "share of the connections at the largest token endpoint")
	flags.Float64Var(&l.signed, "signed", 0.5, "share of token requests that our client proves by a signature")
	flags.Float64Var(&l.failing, "failing", 0.03, "share of deliveries whose first attempt fails")
	flags.Float64Var(&l.peak, "peak", 4, "the busiest hour, in times of the mean")
	flags.Float64Var(&l.cold, "cold", 0.02, "share of invocations that start a process")
	flags.Float64Var(&l.answer, "answer", 0.5, "seconds that a health system takes to answer")
	flags.Float64Var(&l.receiver, "receiver", 0.2, "seconds that a webhook takes to answer")
}

// complete fills in what follows from the connections.
func (l *load) complete() {
	follow := func(to *float64, from float64) {
		if *to == 0 {
			*to = from
		}
	}
	follow(&l.exports, l.connections/30)
	follow(&l.connects, l.connections/500)
	follow(&l.webhooks, l.exports+l.connects)
	follow(&l.searches, 5*l.connects)
}

// The journeys of the load that limits ask about one by one.
const (
	refreshJourney = "refresh"
	idleJourney    = "idle minute"
	expiryJourney  = "expiry"
	deliverJourney = "delivery"
	failedJourney  = "failed delivery"
)

// The two exports that were counted: one of any size is on the line through both.
const (
	smallExport, largeExport       = "export of 75", "export of 2000"
	smallResources, largeResources = 75.0, 2000.0
)

const (
	minutesOfADay = 24 * 60
	secondsOfADay = 60 * minutesOfADay
)

// journeys are how often a day each journey of the table is made.
func (l *load) journeys() map[string]float64 {
	large := (l.resources - smallResources) / (largeResources - smallResources)
	return map[string]float64{
		"attempt": l.connects, "connect": l.connects, "poll": l.connects * l.signInPolls, "organisation": l.connects,
		"verification": l.connects, "widget": l.connects, "widget file": 3 * l.connects, // a script, a sheet and the element, none of which a browser has yet
		"search": l.searches, "institution": l.connects,
		"whole catalogue": l.organisations,
		"export request":  l.exports, smallExport: l.exports * (1 - large), largeExport: l.exports * large,
		"status": l.exports * l.statusPolls, "download": l.exports, expiryJourney: l.exports,
		deliverJourney: l.webhooks * (1 - l.failing), failedJourney: l.webhooks * l.failing, "second attempt": l.webhooks * l.failing, "connection": l.connects, "events": l.organisations * 24,
		refreshJourney: l.connections / 7, "disconnect": l.connects / 4,
		idleJourney: minutesOfADay,
	}
}

// busiest are how often a second each journey is made in the busiest hour. Connections have their own places in the week, and schedules
// their minutes, so that refreshes and idle minutes know none.
func (l *load) busiest() map[string]float64 {
	perSecond := l.journeys()
	for name := range perSecond {
		perSecond[name] /= secondsOfADay
		if name != refreshJourney && name != idleJourney {
			perSecond[name] *= l.peak
		}
	}
	return perSecond
}

// idle is a load of nobody.
func (l *load) idle() load {
	none := *l
	none.connections, none.exports, none.webhooks, none.connects, none.searches, none.organisations = 0, 0, 0, 0, 0, 0
	return none
}
