package e2e_test

// A stack is divided into parts by subject so that calls read like sentences, such as s.patient.connect,
// s.org.startExport, s.clock.advance and s.check.nothingPending. Each part of a stack can access the other parts.

// browsing acts as a browser on the service's pages and in the portal.
type browsing struct{ *outside }

// verifying acts as a TEFCA-mode patient who verifies their identity and chooses facilities.
type verifying struct{ *outside }

// organisation acts as the first organisation's backend. Its methods use the organisation's keys and inspect its data.
type organisation struct{ *outside }

// webhooks reads the webhook deliveries in the first organisation's inbox.
type webhooks struct{ *outside }

// queues delivers messages to the workers as Lambda's event source mappings do.
type queues struct{ *stack }

// clock advances virtual time, firing schedules and running workers as time passes.
type clock struct{ *stack }

// state reads rows and objects directly from the stores, without the API.
type state struct{ *stack }

// checks makes assertions about the stack's rows, objects and messages.
type checks struct{ *stack }

// catalogs publishes institutions and reads the catalogue as customers do.
type catalogs struct{ *stack }

// ehr controls how the portals and facilities behave.
type ehr struct{ *stack }

// staff simulates dashboard users and people who verify an email address.
type staff struct{ *stack }

func (o *outside) assemble() *outside {
	o.patient, o.vault, o.org, o.webhooks = browsing{o}, verifying{o}, organisation{o}, webhooks{o}
	return o
}

// assemble initialises the parts that exist only in a full stack.
func (s *stack) assemble() {
	s.queues, s.clock, s.state, s.check = queues{s}, clock{s}, state{s}, checks{s}
	s.catalog, s.ehr, s.staff = catalogs{s}, ehr{s}, staff{s}
}
