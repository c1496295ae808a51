/** Customer code that must type-check. build.test.ts checks it against the package; it never runs. */
import { useRef } from "react";
import type { Callback, Payload, SvcWidgetElement as Element } from "svc-widget";
import type {} from "svc-widget/jsx";
import { SvcWidget, SvcWidgetElement } from "svc-widget/react";

const element = document.createElement("svc-widget-element");
element.addEventListener("eventBus", ({ detail }) => {
  if (detail.event_type === "widget.complete")
    detail.data.map((connection) => connection.org_connection_id.toUpperCase());
  // @ts-expect-error a configuration error has no data
  if (detail.event_type === "widget.config_error") detail.data;
});
element.addEventListener("click", (event) => event.clientX);
element.searchOnly = true;
// @ts-expect-error a boolean
element.searchOnly = "true";
element.show();
const older = document.querySelector("svc-widget");
older?.addEventListener("orgConnectionCallback", ({ detail }) =>
  "error" in detail ? detail.error_description : detail.org_connection_id,
);

const told: (Payload | Callback)[] = [];

export function Page() {
  const widget = useRef<Element>(null);
  return (
    <>
      <svc-widget-element
        ref={widget}
        public-id="p"
        search-only
        external-id="e"
        oneventBus={({ detail }) => told.push(detail)}
      />
      <svc-widget public-id="p" popupTimeout="5" onorgConnectionCallback={({ detail }) => told.push(detail)} />
      <SvcWidgetElement
        ref={widget}
        publicId="p"
        searchOnly
        className="mine"
        onEventBus={({ detail }) => told.push(detail)}
      >
        Share
      </SvcWidgetElement>
      <SvcWidget
        publicId="p"
        connectMode="popup"
        onOrgConnectionCallback={({ detail }) => told.push(detail)}
        onClick={() => widget.current?.hide()}
      />
      {/* @ts-expect-error without a public id nothing works */}
      <SvcWidgetElement />
      {/* @ts-expect-error there is no such property */}
      <svc-widget-element public-id="p" searchOlny />
    </>
  );
}
