// Webhooks arrive after the patient has connected. The page reloads until every expected record is complete.
const expected = location.hash.split("#").filter((id) => id && !document.getElementById(id));
const isPending = expected.length > 0 || document.querySelector(".exporting") !== null;
const timer = isPending ? setTimeout(() => location.reload(), 2000) : undefined;
const widget = document.querySelector("svc-widget-element");
widget.addEventListener("click", () => clearTimeout(timer)); // a reload would close the widget
widget.addEventListener("eventBus", ({ detail }) => {
  if (detail.event_type !== "widget.complete") return;
  location.hash = detail.data.map((connection) => connection.org_connection_id).join("#");
  location.reload();
});
