package main

import (
	"context"
	"flag"
	"unicode/utf8"

	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/org"
)

func inquiryCommands() []command {
	return []command{
		{
			name: "inquiry list", help: "Lists support tickets and other inquiries of one organisation, or of all " +
				"organisations in both modes, newest first", declare: listInquiries,
			flags: "[-status STATUS] [-kind KIND] [-limit N]\n" + ofTenant +
				" [-status STATUS] [-kind KIND] [-after POSITION] [-limit N]",
		},
		{
			name: "inquiry show", flags: ofTenant + " -id ID",
			help:  "Shows an inquiry's text, which is personal data, and the replies",
			needs: []string{"org", "id"}, declare: showInquiry,
		},
		{
			name: "inquiry answer", confirms: true, flags: ofTenant + " -id ID -text-file FILE [-as-operator]",
			needs: []string{"org", "id", "text-file"}, declare: answerInquiry,
			help: "Replies to an inquiry by email, for an organisation or as the operator; safe to repeat",
		},
		{
			name: "inquiry status", flags: ofTenant + " -id ID -status STATUS", needs: []string{"org", "id", "status"},
			declare: moveInquiry,
			help:    "Sets an inquiry's status",
		},
	}
}

const (
	inquiryIDHelp = "inquiry `id`"
	statusHelp    = "`open`, answered or closed"
)

func listInquiries(flags *flag.FlagSet) action {
	var q operator.InquiryQuery
	flags.StringVar((*string)(&q.Status), "status", "", "only inquiries with this status: "+statusHelp)
	flags.StringVar((*string)(&q.Kind), "kind", "", "only `support` or health_system inquiries")
	paging := pagingFlags(flags)
	ofOne := forTenant(flags, seekInquiry(new("")), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		page, err := s.Inquiries.List(ctx, tenant, q)
		return map[string]any{"inquiries": inquiriesListed(page.Inquiries), "next": page.Next}, err
	})
	return func(ctx context.Context, s session) (any, error) {
		var err error
		if q.Paging, err = paging(); err != nil {
			return nil, err
		}
		if flags.Lookup("org").Value.String() != "" {
			return ofOne(ctx, s)
		}
		queue, err := s.Inquiries.Queue(ctx, q)
		more := make([]map[string]any, 0, len(queue.Cut))
		for _, tenant := range queue.Cut {
			more = append(more, map[string]any{"org_id": tenant.OrgID, "mode": tenant.Mode})
		}
		return map[string]any{"inquiries": inquiriesListed(queue.Inquiries), "more": more}, err
	}
}

func inquiriesListed(all []inquiry.Inquiry) []map[string]any {
	rows := make([]map[string]any, 0, len(all))
	for _, i := range all {
		rows = append(rows, inquiryListed(i))
	}
	return rows
}

func showInquiry(flags *flag.FlagSet) action {
	id := flags.String("id", "", inquiryIDHelp)
	return forTenant(flags, seekInquiry(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		i, err := s.Inquiries.Show(ctx, tenant, *id)
		if err != nil {
			return nil, err
		}
		shown := inquiryListed(i)
		shown["email_verified"] = i.EmailVerified
		for name, text := range map[string]string{
			"email": i.Email, "name": i.Name, "subject": i.Subject, "body": i.Body, "health_system": i.HealthSystem,
			"website":        i.Website,
			"street_address": i.StreetAddress,
		} {
			if text != "" {
				shown[name] = text
			}
		}
		shown["answers"] = append([]inquiry.Answer{}, i.Answers...)
		return shown, nil
	})
}

func answerInquiry(flags *flag.FlagSet) action {
	id := flags.String("id", "", inquiryIDHelp)
	file := flags.String("text-file", "", "`file` with the reply, - for standard input")
	asOperator := flags.Bool("as-operator", false,
		"reply as the operator of the stack; the patient's reply goes to SupportMail")
	return forTenant(flags, seekInquiry(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		text, err := readSecret(s.input, "text-file", *file)
		if err != nil {
			return nil, err
		}
		if err = s.confirm("This emails %d characters to the patient of inquiry %s of %s in %s mode.",
			utf8.RuneCountInString(text.Reveal()), *id, tenant.OrgID, tenant.Mode); err != nil {
			return nil, err
		}
		answer := s.Inquiries.Answer
		if *asOperator {
			answer = s.Inquiries.AnswerAsOperator
		}
		i, err := answer(ctx, tenant, *id, text.Reveal())
		if err != nil {
			return nil, err
		}
		return inquiryListed(i), nil
	})
}

func moveInquiry(flags *flag.FlagSet) action {
	id, status := flags.String("id", "", inquiryIDHelp), flags.String("status", "", statusHelp)
	return forTenant(flags, seekInquiry(id), func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		i, err := s.Inquiries.Move(ctx, tenant, *id, *status)
		if err != nil {
			return nil, err
		}
		return inquiryListed(i), nil
	})
}

// inquiryListed returns an inquiry as printed in a list, without the patient's text.
func inquiryListed(i inquiry.Inquiry) map[string]any {
	return map[string]any{
		"org_id": i.Tenant.OrgID, "mode": i.Tenant.Mode, "inquiry_id": i.ID, "kind": i.Kind(),
		"status": i.Status, "created_at": i.CreatedAt, "answered": len(i.Answers),
	}
}
