/**
 * Declares both elements for the JSX of React 19, for pages that don't use the components of react.js: import type {}
 * from "svc-widget/jsx".
 */
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { Callback, Payload, SvcWidget, SvcWidgetElement } from "./svc-widget.d.ts";

type Kebab<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `-${Lowercase<Head>}`}${Kebab<Tail>}`
  : S;

/** The attributes and properties of an element. React 19 sets either kind. */
type Given<E extends HTMLElement> = {
  [K in Exclude<keyof E, keyof HTMLElement | "show" | "hide"> as K | Kebab<K & string>]?: E[K] | undefined;
};

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "svc-widget-element": DetailedHTMLProps<HTMLAttributes<SvcWidgetElement>, SvcWidgetElement> &
        Given<SvcWidgetElement> & { oneventBus?: ((event: CustomEvent<Payload>) => void) | undefined };
      "svc-widget": DetailedHTMLProps<HTMLAttributes<SvcWidget>, SvcWidget> &
        Given<SvcWidget> & { onorgConnectionCallback?: ((event: CustomEvent<Callback>) => void) | undefined };
    }
  }
}
