package members

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/manage/account"
	"recordbridge/shared/platform/mailtext"
	"recordbridge/shared/words/logx"
)

// NotifyMembers sends an email to every member of an organisation and to other addresses. Each address receives one
// email. A failed email is logged and doesn't affect the others.
func (d Service) NotifyMembers(ctx context.Context, orgID string, others []string, m mailtext.Message) error {
	_, err := d.notifyMembers(ctx, orgID, others, m)
	return err
}

// notifyMembers implements NotifyMembers and returns the number of addresses to which the message was sent.
func (d Service) notifyMembers(ctx context.Context, orgID string, others []string, m mailtext.Message) (int, error) {
	all, err := d.List(ctx, orgID)
	if err != nil || d.Mailer == nil {
		return 0, err
	}
	addresses := slices.Clone(others)
	for _, member := range all {
		addresses = append(addresses, member.Email)
	}
	slices.SortFunc(addresses, func(a, b string) int { return strings.Compare(account.Fold(a), account.Fold(b)) })
	addresses = slices.CompactFunc(addresses, func(a, b string) bool { return account.Fold(a) == account.Fold(b) })
	var failed atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, to := range addresses {
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, mailTime)
			defer cancel()
			if err := d.Mailer.Send(limited, []string{to}, m.Subject, m.Text(), m.HTML()); err != nil {
				failed.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, fmt.Errorf("tell members: %w", err)
	}
	if failed.Load() > 0 {
		logx.Add(ctx, slog.Bool("mail_failed", true))
	}
	return len(addresses) - int(failed.Load()), nil
}
