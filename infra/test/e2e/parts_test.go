package e2e_test

// A stack is divided by what a test acts on or looks at, so that tests read as sentences: s.patient.connect,
// s.org.startExport, s.clock.letPass, s.check.nothingPending. Each part reaches the others.

// browsing acts in a browser: on the pages and in the portal.
type browsing struct{ *outside }

// verifying is a patient in TEFCA mode: an identity provider vouches for them, and they choose facilities.
type verifying struct{ *outside }

// organisation acts as the backend of the first organisation, with its keys, and looks at what it got.
type organisation struct{ *outside }

// webhooks reads what the first organisation's inbox has received.
type webhooks struct{ *outside }

// queues gives the workers their messages, as Lambda's event sources would.
type queues struct{ *stack }

// clock lets virtual time pass, in which schedules fire and workers work.
type clock struct{ *stack }

// state reads rows and objects past the API.
type state struct{ *stack }

// checks fail the test unless the stack's rows, objects and messages are as they say.
type checks struct{ *stack }

// catalogs publishes institutions and reads the catalog as customers do.
type catalogs struct{ *stack }

// ehr makes portals and facilities behave as a test needs them to.
type ehr struct{ *stack }

// staff are people who use the dashboard or verify an email address.
type staff struct{ *stack }

// assemble sets the parts of an outside.
func (o *outside) assemble() *outside {
	o.patient, o.vault, o.org, o.webhooks = browsing{o}, verifying{o}, organisation{o}, webhooks{o}
	return o
}

// assemble sets the parts of a stack, those of its outside excepted.
func (s *stack) assemble() {
	s.queues, s.clock, s.state, s.check = queues{s}, clock{s}, state{s}, checks{s}
	s.catalog, s.ehr, s.staff = catalogs{s}, ehr{s}, staff{s}
}
