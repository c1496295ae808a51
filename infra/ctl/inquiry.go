package main

import (
	"context"
	"flag"

	"recordbridge/shared/inquiry"
	"recordbridge/shared/operator"
	"recordbridge/shared/org"
)

func inquiryCommands() []command {
	return []command{
		{
			name: "inquiry list", help: "Lists what patients have asked of an organisation, newest first", needs: []string{"org"}, declare: listInquiries,
			flags: ofTenant + " [-status STATUS] [-kind KIND] [-after POSITION] [-limit N]",
		},
		{
			name: "inquiry show", flags: ofTenant + " -id ID", help: "Shows what a patient has written, which is personal, and the answers",
			needs: []string{"org", "id"}, declare: showInquiry,
		},
		{
			name: "inquiry answer", flags: ofTenant + " -id ID -text-file FILE", needs: []string{"org", "id", "text-file"}, declare: answerInquiry,
			help: "Answers a patient by e-mail for an organisation, once however often it is repeated",
		},
		{
			name: "inquiry status", flags: ofTenant + " -id ID -status STATUS", needs: []string{"org", "id", "status"}, declare: moveInquiry,
			help: "Gives an inquiry a status",
		},
	}
}

const (
	inquiryIDHelp = "inquiry `id`"
	statusHelp    = "`open`, answered or closed"
)

func listInquiries(flags *flag.FlagSet) action {
	var q operator.InquiryQuery
	flags.StringVar((*string)(&q.Status), "status", "", "only those that are "+statusHelp)
	flags.StringVar((*string)(&q.Kind), "kind", "", "only `support` or health_system")
	paging := pagingFlags(flags)
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		var err error
		if q.Paging, err = paging(); err != nil {
			return nil, err
		}
		page, err := s.Inquiries.List(ctx, tenant, q)
		rows := make([]map[string]any, 0, len(page.Inquiries))
		for _, i := range page.Inquiries {
			rows = append(rows, inquiryListed(i))
		}
		return map[string]any{"inquiries": rows, "next": page.Next}, err
	})
}

func showInquiry(flags *flag.FlagSet) action {
	id := flags.String("id", "", inquiryIDHelp)
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		i, err := s.Inquiries.Show(ctx, tenant, *id)
		if err != nil {
			return nil, err
		}
		shown := inquiryListed(i)
		shown["email_verified"] = i.EmailVerified
		for name, text := range map[string]string{
			"email": i.Email, "name": i.Name, "subject": i.Subject, "body": i.Body, "health_system": i.HealthSystem, "website": i.Website,
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
	file := flags.String("text-file", "", "the `file` that holds the answer, - for standard input")
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		text, err := readSecret(s.input, "text-file", *file)
		if err != nil {
			return nil, err
		}
		i, err := s.Inquiries.Answer(ctx, tenant, *id, text.Reveal())
		if err != nil {
			return nil, err
		}
		return inquiryListed(i), nil
	})
}

func moveInquiry(flags *flag.FlagSet) action {
	id, status := flags.String("id", "", inquiryIDHelp), flags.String("status", "", statusHelp)
	return forTenant(flags, func(ctx context.Context, s session, tenant org.Tenant) (any, error) {
		i, err := s.Inquiries.Move(ctx, tenant, *id, *status)
		if err != nil {
			return nil, err
		}
		return inquiryListed(i), nil
	})
}

// inquiryListed is what an operator sees of an inquiry among others: nothing that the patient has written.
func inquiryListed(i inquiry.Inquiry) map[string]any {
	return map[string]any{"inquiry_id": i.ID, "kind": i.Kind(), "status": i.Status, "created_at": i.CreatedAt, "answered": len(i.Answers)}
}
