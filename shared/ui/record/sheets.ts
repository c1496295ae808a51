/** The element's style sheets. */
import charts from "./charts.css";
import page from "./page.css";
import rows from "./rows.css";

/** Returns constructed sheets, which don't require style-src. Later sheets override earlier sheets. */
export function sheets(): CSSStyleSheet[] {
  return [rows, charts, page].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}
