/**
 * Creates an element with its properties, its part (for a customer's CSS) and its children. The function parses no
 * markup, so Trusted Types and CSP allow it.
 */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  properties: Partial<HTMLElementTagNameMap[T]> = {},
  part = "",
  ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const element = Object.assign(document.createElement(tag), properties);
  if (part) element.setAttribute("part", part);
  element.append(...children);
  return element;
}
