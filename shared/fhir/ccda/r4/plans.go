package r4

// CarePlan is the FHIR CarePlan resource (careplan.html).
type CarePlan struct {
	Header

	Identifier     []Identifier       `json:"identifier,omitempty" merge:"union"`
	Status         string             `json:"status"`
	Intent         string             `json:"intent"`
	Category       []CodeableConcept  `json:"category,omitempty" merge:"union"`
	Title          string             `json:"title,omitempty"`
	Subject        *Reference         `json:"subject"`
	Encounter      *Reference         `json:"encounter,omitempty" merge:"first"`
	Period         *Period            `json:"period,omitempty"`
	Created        string             `json:"created,omitempty" merge:"first"`
	Author         *Reference         `json:"author,omitempty" merge:"first"`
	CareTeam       []Reference        `json:"careTeam,omitempty" merge:"union"`
	Addresses      []Reference        `json:"addresses,omitempty" merge:"union"`
	SupportingInfo []Reference        `json:"supportingInfo,omitempty" merge:"union"`
	Goal           []Reference        `json:"goal,omitempty" merge:"union"`
	Activity       []CarePlanActivity `json:"activity,omitempty" merge:"union"`
}

// CarePlanActivity is a planned activity or its outcome.
type CarePlanActivity struct {
	Outcome   []Reference `json:"outcomeReference,omitempty"`
	Reference *Reference  `json:"reference,omitempty"`
}

// Goal is the FHIR Goal resource (goal.html).
type Goal struct {
	Header

	Identifier  []Identifier      `json:"identifier,omitempty" merge:"union"`
	Lifecycle   string            `json:"lifecycleStatus"`
	Achievement *CodeableConcept  `json:"achievementStatus,omitempty"`
	Category    []CodeableConcept `json:"category,omitempty" merge:"union"`
	Priority    *CodeableConcept  `json:"priority,omitempty"`
	Description *CodeableConcept  `json:"description"`
	Subject     *Reference        `json:"subject"`
	Start       string            `json:"startDate,omitempty"`
	Target      []GoalTarget      `json:"target,omitempty" merge:"union"`
	StatusDate  string            `json:"statusDate,omitempty" merge:"first"`
	ExpressedBy *Reference        `json:"expressedBy,omitempty" merge:"first"`
	Addresses   []Reference       `json:"addresses,omitempty" merge:"union"`
	Note        []Annotation      `json:"note,omitempty" merge:"union"`
	Outcome     []Reference       `json:"outcomeReference,omitempty" merge:"union"`
}

// GoalTarget is a target with its due date. At most one of the detail fields is set.
type GoalTarget struct {
	Measure  *CodeableConcept `json:"measure,omitempty"`
	Quantity *Quantity        `json:"detailQuantity,omitempty"`
	Range    *Range           `json:"detailRange,omitempty"`
	Concept  *CodeableConcept `json:"detailCodeableConcept,omitempty"`
	Text     string           `json:"detailString,omitempty"`
	Boolean  *bool            `json:"detailBoolean,omitempty"`
	Integer  *int32           `json:"detailInteger,omitempty"`
	Ratio    *Ratio           `json:"detailRatio,omitempty"`
	Due      string           `json:"dueDate,omitempty"`
}

// Communication is the FHIR Communication resource (communication.html).
type Communication struct {
	Header

	Identifier []Identifier      `json:"identifier,omitempty" merge:"union"`
	Status     string            `json:"status"`
	Category   []CodeableConcept `json:"category,omitempty" merge:"union"`
	Subject    *Reference        `json:"subject,omitempty"`
	Encounter  *Reference        `json:"encounter,omitempty" merge:"first"`
	Sent       string            `json:"sent,omitempty"`
	Recipient  []Reference       `json:"recipient,omitempty" merge:"union"`
	Sender     *Reference        `json:"sender,omitempty" merge:"first"`
	Note       []Annotation      `json:"note,omitempty" merge:"union"`
}
