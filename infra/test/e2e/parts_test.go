package e2e_test

// A stack is divided by subject, so that tests read as sentences: s.patient.connect, s.org.startExport,
// s.clock.advance, s.check.nothingPending. Each part can reach the others.

// browsing acts in a browser, on the pages and in the portal.
type browsing struct{ *outside }

// verifying acts as a patient in TEFCA mode, who verifies their identity at a provider and chooses facilities.
type verifying struct{ *outside }

// organisation acts as the backend of the first organisation, with its keys, and inspects its data.
type organisation struct{ *outside }

// webhooks reads the first organisation's inbox.
type webhooks struct{ *outside }

// queues delivers messages to the workers, as Lambda's event sources would.
type queues struct{ *stack }

// clock advances virtual time, in which schedules fire and workers run.
type clock struct{ *stack }

// state reads rows and objects directly, without the API.
type state struct{ *stack }

// checks fails the test unless the stack's rows, objects and messages are as expected.
type checks struct{ *stack }

// catalogs publishes institutions and reads the catalogue as customers do.
type catalogs struct{ *stack }

// ehr configures the behaviour of portals and facilities.
type ehr struct{ *stack }

// staff acts as people who use the dashboard or verify an e-mail address.
type staff struct{ *stack }

// assemble sets the parts of an outside.
func (o *outside) assemble() *outside {
	o.patient, o.vault, o.org, o.webhooks = browsing{o}, verifying{o}, organisation{o}, webhooks{o}
	return o
}

// assemble sets the parts of a stack, except those of its outside.
func (s *stack) assemble() {
	s.queues, s.clock, s.state, s.check = queues{s}, clock{s}, state{s}, checks{s}
	s.catalog, s.ehr, s.staff = catalogs{s}, ehr{s}, staff{s}
}
