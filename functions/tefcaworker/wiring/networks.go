package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/platform/config/awssecret"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/tefca/joint"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/wiring/outbound"
	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// membership holds a network's PEM-encoded credentials: the service's certificate chain and private key, and the
// network's trust anchors.
type membership struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	Anchors     string `json:"anchors"`
}

// networks combines the configured networks of each mode into a single network. If the sandbox is deployed, the
// test-mode network includes the simulated network. The secret is read only if a network is configured. Errors never
// quote the secret.
func networks(ctx context.Context, env Environment, p outbound.Process) (map[org.Mode]tefca.Network, error) {
	members := map[org.Mode][]joint.Member{org.Test: nil, org.Live: nil}
	if env.EnableSandbox {
		members[org.Test] = []joint.Member{{Name: "simulated", Network: sim.Network{Now: p.Now, Wait: sim.Pass}, Places: nil}}
	}
	configured, err := env.Networks()
	if err != nil {
		return nil, err
	}
	held, err := memberships(ctx, env, p, len(configured))
	if err != nil {
		return nil, err
	}
	for _, c := range configured {
		member, err := live(c, held[c.Name], env, p)
		if err != nil {
			return nil, fmt.Errorf("network %s: %w", c.Name, err)
		}
		members[c.Mode] = append(members[c.Mode], member)
	}
	made := map[org.Mode]tefca.Network{org.Test: nil, org.Live: nil}
	for mode, of := range members {
		if len(of) == 0 {
			continue
		}
		made[mode] = joint.Network{Members: of, OnFailure: func(ctx context.Context, member string, err error) {
			logx.Note(ctx, "tefca.network", logx.Failed(), slog.String("network", member),
				slog.String("class", tefca.ClassOf(err)))
		}}
	}
	return made, nil
}

func memberships(ctx context.Context, env Environment, p outbound.Process,
	configured int,
) (map[string]membership, error) {
	if configured == 0 {
		return nil, nil
	}
	if env.TEFCASecret == "" {
		return nil, errors.New("TEFCA_CONFIG names networks, but TEFCA_SECRET no secret")
	}
	text, err := awssecret.Text(ctx, p.AWS, p.Now, env.TEFCASecret)
	if err != nil {
		return nil, err
	}
	var held map[string]membership
	if json.Unmarshal([]byte(text.Reveal()), &held) != nil {
		return nil, fmt.Errorf("secret %s is not of the form of docs/operate/tefca.md", env.TEFCASecret)
	}
	return held, nil
}

func live(c setting.Network, as membership, env Environment, p outbound.Process) (joint.Member, error) {
	if c.Name == setting.IHE {
		return gateways(c, as, env, p)
	}
	return servers(c, as, p)
}

// gateways returns the joint.Member for a network of XCPD and XCA gateways.
func gateways(c setting.Network, as membership, env Environment, p outbound.Process) (joint.Member, error) {
	var config ihe.Config
	if json.Unmarshal(c.Config, &config) != nil {
		return joint.Member{}, errForm
	}
	config.Anchors = as.Anchors
	network, err := ihe.New(config, ihe.Identity{Certificate: as.Certificate, Key: secret.New(as.Key)}, ihe.Deps{
		Allow: env.Allowed(), Now: p.Now, NewID: ids.Random,
		Unanswered: func(ctx context.Context, home string, err error) {
			logx.Note(ctx, "tefca.unanswered", slog.String("directory_id", home), slog.String("class", tefca.ClassOf(err)))
		},
	})
	if err != nil {
		return joint.Member{}, err
	}
	var led []joint.Place
	for _, g := range config.Gateways {
		led = append(led, joint.Place{ID: g.Home, Name: g.Name, City: g.City, State: g.State})
	}
	return joint.Member{Name: c.Name, Network: network, Places: led}, nil
}

// servers returns the joint.Member for a network whose facilities run FHIR servers.
func servers(c setting.Network, as membership, p outbound.Process) (joint.Member, error) {
	var config facilitated.Config
	if json.Unmarshal(c.Config, &config) != nil {
		return joint.Member{}, errForm
	}
	config.Certificates, config.Anchors = as.Certificate, as.Anchors
	network, err := facilitated.New(config, secret.New(as.Key), facilitated.Deps{
		// The Portal does not refresh tokens, so it doesn't need a client.
		Doer: p.HTTP, Portals: smart.NewPortal(p.HTTP, nil, nil, p.Now), Now: p.Now, NewID: ids.Random,
	})
	if err != nil {
		return joint.Member{}, err
	}
	var led []joint.Place
	for _, f := range config.Places {
		led = append(led, joint.Place{ID: f.ID, Name: f.Name, City: f.City, State: f.State})
	}
	return joint.Member{Name: c.Name, Network: network, Places: led}, nil
}

var errForm = errors.New("its part of TEFCA_CONFIG is not of the form of docs/operate/tefca.md")
