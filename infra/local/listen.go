package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// listeners holds the listeners for the service, its files and the sandbox receiver. The listeners inside,
// objectsInside and receiverInside serve containers.
type listeners struct {
	service, objects, receiver net.Listener
	// These listeners are nil unless containers reach this machine at a separate address.
	inside, objectsInside, receiverInside net.Listener
}

// portTries is the maximum number of attempts to find a free port. A port that is free on the loopback address may be
// taken on the address that containers use.
const portTries = 10

// listenAll listens at address and, if containers use a separate address, also there. On success, the caller must close
// the listeners.
func listenAll(ctx context.Context, address string, where place) (listeners, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return listeners{}, fmt.Errorf("listen: %w", err)
	}
	for try := 1; ; try++ {
		l, err := listenOnce(ctx, address, where)
		if port != "0" || !errors.Is(err, syscall.EADDRINUSE) || try == portTries {
			return l, err
		}
	}
}

func listenOnce(ctx context.Context, address string, where place) (listeners, error) {
	var l listeners
	var err error
	if l.service, err = listen(ctx, address); err != nil {
		return listeners{}, err
	}
	if l.objects, err = listenBeside(ctx, l.service); err != nil {
		return listeners{}, errors.Join(err, l.close())
	}
	if l.receiver, err = listenBeside(ctx, l.objects); err != nil {
		return listeners{}, errors.Join(err, l.close())
	}
	apart, err := where.apart()
	if err != nil || !apart {
		return l, errors.Join(err, l.closeIf(err))
	}
	if l.inside, err = listen(ctx, where.inside(l.service.Addr().String())); err == nil {
		l.objectsInside, err = listen(ctx, where.inside(l.objects.Addr().String()))
	}
	if err == nil {
		l.receiverInside, err = listen(ctx, where.inside(l.receiver.Addr().String()))
	}
	return l, errors.Join(err, l.closeIf(err))
}

func (l listeners) close() error {
	var all []error
	for _, one := range []net.Listener{l.service, l.objects, l.receiver, l.inside, l.objectsInside, l.receiverInside} {
		if one != nil {
			all = append(all, one.Close())
		}
	}
	return errors.Join(all...)
}

func (l listeners) closeIf(err error) error {
	if err == nil {
		return nil
	}
	return l.close()
}

// apart reports whether containers reach this machine through one of its network interfaces. A container engine in a
// virtual machine forwards traffic to the loopback address instead.
func (p place) apart() (bool, error) {
	if p.engine == nil {
		return false, nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false, fmt.Errorf("addresses of this machine: %w", err)
	}
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil && prefix.Addr() == p.engine.Host {
			return true, nil
		}
	}
	return false, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program (another runner?): stop that program, or choose another "+
			"port with -addr 127.0.0.1:4567 (port 0 selects a free port): %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}

// listenBeside listens on the port after another listener's port, or on any free port if that port is taken.
func listenBeside(ctx context.Context, other net.Listener) (net.Listener, error) {
	host, port, err := net.SplitHostPort(other.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(number+1)))
	if err != nil {
		listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("listen beside the service: %w", err)
	}
	return listener, nil
}
