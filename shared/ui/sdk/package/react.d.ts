/** Both elements as components of React 17 and later. */
import type { ForwardRefExoticComponent, HTMLAttributes, RefAttributes } from "react";
import type { Callback, Payload, SvcWidget as Older, SvcWidgetElement as Current } from "./svc-widget.d.ts";

type Properties<E extends HTMLElement> = Omit<HTMLAttributes<E>, keyof Own<E>> & Own<E>;
type Own<E extends HTMLElement> = { [K in Exclude<keyof E, keyof HTMLElement | "show" | "hide">]?: E[K] | undefined };

export declare const SvcWidgetElement: ForwardRefExoticComponent<
  Properties<Current> & {
    publicId: string;
    onEventBus?: ((event: CustomEvent<Payload>) => void) | undefined;
  } & RefAttributes<Current>
>;

export declare const SvcWidget: ForwardRefExoticComponent<
  Properties<Older> & {
    publicId: string;
    onOrgConnectionCallback?: ((event: CustomEvent<Callback>) => void) | undefined;
  } & RefAttributes<Older>
>;
